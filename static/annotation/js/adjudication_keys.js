// The keys of the adjudication page: one table for the bindings and for the help.

export const KEYS = [
  ["A", "Take A (accept, where there is one label)", "Decide", ["a"]],
  ["B", "Take B", "Decide", ["b"]],
  ["both", "Take both", "Decide", ["t"]],
  ["edit", "Edit: starts with what is taken, or with A", "Decide", ["e"]],
  ["edit-b", "Edit, starting with B", "Decide", ["Shift+e"]],
  ["new", "Write a new label instead", "Decide", ["n"]],
  ["beside", "Write a label beside what is there", "Decide", ["Shift+n"]],
  ["none", "None of them; on what both agree, do not accept it", "Decide", ["x"]],
  ["undo", "Take the last decision back", "Decide", ["z", "Ctrl+z"]],
  ["reason", "Give a reason; Enter goes back", "Decide", ["r"]],
  ["guideline", "Make the decision a guideline example", "Decide", ["g"]],
  ["next-open", "Next conflict that is open", "Move", ["]"]],
  ["previous-open", "Previous conflict that is open", "Move", ["["]],
  ["back", "Back to what was decided last", "Move", [","]],
  ["next", "Next utterance", "Move", ["ArrowDown", "j"]],
  ["previous", "Previous utterance", "Move", ["ArrowUp", "k"]],
  ["next-item", "Next label of the utterance", "Move", ["ArrowRight"]],
  ["previous-item", "Previous label of the utterance", "Move", ["ArrowLeft"]],
  ["finish", "Mark as done", "Dialogue", ["Ctrl+Enter"]],
  ["help", "All keys", "Dialogue", ["?"]],
].map(([action, title, group, keys]) => ({ action, title, group, keys }));
