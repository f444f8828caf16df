// The candidates of a value as cards: their order stays while somebody works with the value, and digits follow it.

const KEYS = 9;

/** Where each of `names` goes so that those in `before` keep their order; new ones follow in their own. */
export function inOrder(names, before) {
  const place = (name) => (before.includes(name) ? before.indexOf(name) : before.length + names.indexOf(name));
  return [...names].sort((one, other) => place(one) - place(other));
}

/** The card to go to from `at` once that one is dropped: the next one that is not, else the one before, else itself. */
export function afterDrop(verdicts, at) {
  const stays = (verdict) => verdict !== "drop";
  const next = verdicts.findIndex((verdict, index) => index > at && stays(verdict));
  if (next >= 0) return next;
  const before = verdicts.slice(0, at).findLastIndex(stays);
  return before >= 0 ? before : at;
}

/** Put the cards of `list` into the order of the identifiers `before`, and number them anew. */
export function keepOrder(list, before) {
  if (!list || !before.length) return;
  const cards = new Map([...list.children].map((card) => [card.dataset.card, card]));
  inOrder([...cards.keys()], before).forEach((cui, index) => {
    const card = cards.get(cui);
    number(card, index < KEYS ? String(index + 1) : "");
    list.append(card);
  });
}

function number(card, key) {
  const place = card.querySelector(".linking-take");
  card.dataset.key = key;
  if (place.localName === "button") place.toggleAttribute("aria-keyshortcuts", Boolean(key));
  if (place.localName === "button" && key) place.setAttribute("aria-keyshortcuts", key);
  let sign = place.querySelector("kbd");
  if (!key) return void sign?.remove();
  if (!sign) {
    sign = document.createElement("kbd");
    sign.setAttribute("aria-hidden", "true");
    place.prepend(sign, " ");
  }
  sign.textContent = key;
}
