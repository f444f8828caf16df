// Which key was pressed, as the key table writes it: "s", "Shift+s", "Ctrl+z", "ArrowDown", "?".

// Signs of the table that a layout without Latin letters has none of: there they are taken by their place.
const SIGN_PLACES = { BracketLeft: "[", BracketRight: "]", Comma: ",", Period: ".", Equal: "=", Minus: "-", Semicolon: ";", Quote: "'", Slash: "/" };

/** The keys an event stands for, the likeliest first. Letters of other scripts fall back on their place on the keyboard. */
export function keysOf(event) {
  // AltGr, which some systems report as Ctrl and Alt, is how a sign is reached and no part of it.
  const typed = event.getModifierState?.("AltGraph");
  const modifiers = typed ? "" : (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "");
  const shift = event.shiftKey ? "Shift+" : "";
  const key = event.key;
  if (key.length > 1) return [modifiers + shift + key];
  if (/^[a-z]$/i.test(key)) return [modifiers + shift + key.toLowerCase()];
  const names = [modifiers + key];
  // A sign such as "?" already has its Shift in it; a letter that is not Latin is taken by its place.
  if (/\p{L}/u.test(key)) {
    const place = /^Key([A-Z])$/.exec(event.code || "");
    if (place) names.push(modifiers + shift + place[1].toLowerCase());
    else if (SIGN_PLACES[event.code]) names.push(modifiers + shift + SIGN_PLACES[event.code]);
  }
  return names;
}

/** A function from events to {action, shifted} or null. Slot actions also answer to Shift and their key. */
export function matcher(bindings) {
  const table = new Map();
  for (const binding of bindings) {
    if (binding.fixed) continue;
    for (const key of binding.keys) {
      table.set(key, { action: binding.action, shifted: false });
      if (binding.action.startsWith("slot:")) table.set("Shift+" + key, { action: binding.action, shifted: true });
    }
  }
  return (event) => {
    for (const key of keysOf(event)) if (table.has(key)) return table.get(key);
    return null;
  };
}

const ARROWS = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };

/** The parts of a key as people read them: "Shift+ArrowDown" is ["Shift", "↓"]. */
export function keyNames(key) {
  return key ? key.split(/\+(?=.)/).map((part) => ARROWS[part] || part) : [];
}

/** Whether a key typed now belongs to a text field. */
export function typesText(element) {
  if (!element) return false;
  if (element.isContentEditable || element.tagName === "TEXTAREA" || element.tagName === "SELECT") return true;
  return element.tagName === "INPUT" && !["checkbox", "radio", "button", "submit"].includes(element.type);
}
