// Small helpers for building elements. Text is always set as text, never as markup.

/** el("li", {class: "label", "data-id": 3, hidden: false, on: {click}}, "text", child, …) */
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** A random UUID, also where the browser offers none because the page is not served over https. */
export function uuid() {
  if (globalThis.crypto.randomUUID) return globalThis.crypto.randomUUID();
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

let numbers = 0;

/** An id that no other element of the page has. */
export function newId(prefix) {
  numbers += 1;
  return `${prefix}-${numbers}`;
}

/** Scroll an element into the middle band of its own scroller only when it is out of sight. */
export function reveal(element) {
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
}
