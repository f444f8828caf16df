// A text field with suggestions (WAI-ARIA combobox with a listbox). The list stands below the field in the page's own
// flow, so that it never covers what comes next.
//
// Leaving the field takes what is highlighted; what is not on any list is kept as it was typed.

import { el, newId, reveal } from "./dom.js";
import { fold } from "./search.js";

const AS_TYPED = -1;

export class Combobox {
  /**
   * options: {label (id of the labelling element), suggest(text, chosen) -> [{value, note, strong, names (folded)}], multiple,
   * describedBy, placeholder, changed(), added(value), doubt(text) -> why a typed text is hardly meant as a value, or "",
   * doubted(why, leftOut), more(text) -> Promise of further [{value, note}]}
   */
  constructor(options) {
    this.options = options;
    this.values = [];
    this.matches = [];
    this.active = AS_TYPED;
    this.moved = false; // whether the arrows chose the suggestion, not the typing
    this.meant = ""; // a doubtful text that is meant all the same
    this.asked = 0; // which of the questions for more is the newest: a late answer to an older one is not looked at
    this.listId = newId("list");
    this.input = el("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      maxlength: "2000",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": this.listId,
      "aria-labelledby": options.label,
      "aria-describedby": options.describedBy,
      placeholder: options.placeholder,
      on: {
        input: () => this.typed(),
        keydown: (event) => this.pressed(event),
        focus: () => this.entered(),
        blur: () => this.left(),
      },
    });
    this.list = el("ul", { role: "listbox", id: this.listId, "aria-labelledby": options.label, tabindex: "-1", hidden: true, class: "suggestions" });
    this.chosen = el("ul", { class: "chosen", hidden: true, "aria-label": "Chosen values" });
    this.element = el("div", { class: "combobox" }, options.multiple ? this.chosen : null, this.input, this.list);
  }

  get open() {
    return !this.list.hidden;
  }

  get text() {
    return this.input.value.trim().replace(/\s+/g, " ");
  }

  /** Why the text that stands here, not yet taken, is hardly meant as a value; "" where it may be taken. */
  get doubt() {
    const { text } = this;
    return (this.active === AS_TYPED && text && text !== this.meant && this.options.doubt?.(text)) || "";
  }

  focus() {
    this.input.focus();
    if (!this.options.multiple) this.input.select();
  }

  /** The values (multiple) or the text (single) as they stand, including what is typed but not yet taken. */
  read() {
    this.take();
    return this.options.multiple ? [...this.values] : this.text;
  }

  /** As `read`, without taking anything: for drafts. */
  peek() {
    const typed = this.doubt ? "" : unquote(this.text);
    if (!this.options.multiple) return this.text;
    return typed && !this.values.includes(typed) ? [...this.values, typed] : [...this.values];
  }

  write(value) {
    if (this.options.multiple) {
      this.values = [...new Set(value || [])];
      this.drawChosen();
    } else {
      this.input.value = value || "";
    }
  }

  /** Take the highlighted suggestion, or the text as it was typed. Returns whether a value was added. */
  take() {
    const { doubt } = this;
    if (doubt) {
      this.close();
      this.options.doubted?.(doubt);
      return false;
    }
    const picked = this.active > AS_TYPED ? this.matches[this.active].value : unquote(this.text);
    const moved = this.active > AS_TYPED;
    this.close();
    if (!this.options.multiple) {
      if (moved) this.set(picked);
      return moved;
    }
    this.input.value = "";
    return picked ? this.add(picked) : false;
  }

  leaveOut(doubt) {
    this.input.value = "";
    this.options.doubted?.(doubt, true);
  }

  set(value) {
    this.input.value = value;
    this.options.changed?.();
  }

  add(value) {
    const clean = value.trim().replace(/\s+/g, " ");
    if (!clean || this.values.includes(clean)) return false;
    this.values.push(clean);
    this.drawChosen();
    this.options.added?.(clean);
    this.options.changed?.();
    return true;
  }

  remove(value) {
    this.values = this.values.filter((item) => item !== value);
    this.drawChosen();
    this.options.changed?.();
    this.input.focus();
  }

  drawChosen() {
    this.chosen.replaceChildren(
      ...this.values.map((value) =>
        el(
          "li",
          {},
          value,
          el("button", { type: "button", class: "remove", tabindex: "-1", "aria-label": `Remove ${value}`, on: { click: () => this.remove(value) } }, "×"),
        ),
      ),
    );
    this.chosen.hidden = this.values.length === 0;
  }

  typed() {
    this.moved = false;
    this.show(this.text);
    this.active = this.matches.length && this.matches[0].strong && !this.quoted() ? 0 : AS_TYPED;
    this.mark();
    this.options.changed?.();
  }

  quoted() {
    return this.input.value.trimStart().startsWith('"');
  }

  show(text, wanted = () => true) {
    this.matches = this.quoted() ? [] : this.options.suggest(text, this.values).filter(wanted);
    this.items = this.matches.map((match, index) => this.item(match, index));
    this.list.replaceChildren(...this.items);
    this.showList();
    this.askForMore(text);
  }

  showList() {
    this.list.hidden = this.matches.length === 0;
    this.input.setAttribute("aria-expanded", String(this.open));
  }

  item(match, index) {
    return el(
      "li",
      {
        role: "option",
        id: `${this.listId}-${index}`,
        "aria-selected": "false",
        on: {
          // The field must not lose the focus to its own list.
          mousedown: (event) => event.preventDefault(),
          click: () => this.choose(index),
        },
      },
      el("span", { class: "option-value" }, match.value),
      match.note ? el("span", { class: "option-note" }, match.note) : null,
    );
  }

  async askForMore(text) {
    const asked = (this.asked += 1);
    if (!text || !this.options.more || this.quoted()) return;
    const found = await this.options.more(text);
    if (asked === this.asked) this.append(found);
  }

  /** Further suggestions below those that are there, but for what is there under another name; what is highlighted stays where it is. */
  append(found) {
    const known = new Set([...this.matches.flatMap(({ value, names = [] }) => [fold(value), ...names]), ...this.values.map(fold)]);
    const fresh = found.filter(({ value, note }) => !known.has(fold(value)) && !(note && known.has(fold(note))));
    if (!fresh.length) return;
    const items = fresh.map((match, index) => this.item(match, this.matches.length + index));
    this.matches.push(...fresh);
    this.items.push(...items);
    this.list.append(el("li", { role: "presentation", class: "suggestions-heading" }, "Vocabulary"), ...items);
    this.showList();
  }

  close() {
    this.asked += 1;
    this.active = AS_TYPED;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  mark() {
    (this.items || []).forEach((item, index) => item.setAttribute("aria-selected", String(index === this.active)));
    if (this.active > AS_TYPED) {
      this.input.setAttribute("aria-activedescendant", `${this.listId}-${this.active}`);
      reveal(this.items[this.active]);
    } else {
      this.input.removeAttribute("aria-activedescendant");
    }
  }

  choose(index) {
    this.active = index;
    this.take();
    this.input.focus();
  }

  pressed(event) {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.moved = true;
      if (!this.open || (this.active === AS_TYPED && !this.text)) {
        // What was offered at once stands first in the whole list, in the same order.
        this.show(this.text);
        this.active = this.matches.length && event.key === "ArrowDown" ? 0 : AS_TYPED;
      } else {
        const step = event.key === "ArrowDown" ? 1 : -1;
        this.active = Math.max(AS_TYPED, Math.min(this.matches.length - 1, this.active + step));
      }
      this.mark();
    } else if (event.key === "Tab") {
      // Before the focus moves: a list that vanishes under it would lose the focus.
      const { doubt } = this;
      this.take();
      if (doubt) this.leaveOut(doubt);
    } else if (event.key === "Escape" && this.open) {
      // The first Escape closes the list and nothing else.
      event.preventDefault();
      event.stopPropagation();
      this.close();
    } else if (event.key === "," && this.options.multiple && !event.ctrlKey && !event.metaKey && !this.insideQuotes()) {
      event.preventDefault();
      this.take();
    } else if (event.key === "Backspace" && this.options.multiple && this.input.value === "" && this.values.length) {
      event.preventDefault();
      this.remove(this.values[this.values.length - 1]);
    }
  }

  insideQuotes() {
    const before = this.input.value.slice(0, this.input.selectionStart ?? undefined);
    return this.quoted() && (before.match(/"/g) || []).length % 2 === 1;
  }

  /** What the utterance and the dialogue offer is seen at once; the whole list only when it is asked for. */
  entered() {
    if (this.text) return;
    this.show("", (match) => match.near);
    this.mark();
  }

  /** The focus has gone. Under a pressed mouse button nothing moves: what is clicked must still be there to be clicked. */
  left() {
    if (pressed) document.addEventListener("pointerup", () => setTimeout(() => this.gone()), { once: true });
    else this.take();
  }

  gone() {
    if (document.activeElement !== this.input) this.take();
  }
}

let pressed = false;
for (const [name, value] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
  document.addEventListener(name, () => (pressed = value), true);
}

/** A value in double quotes may hold commas: the quotes are not part of it. */
export function unquote(text) {
  const match = /^"(.*?)"?$/s.exec(text);
  return (match ? match[1].replaceAll('""', '"') : text).trim();
}
