// The review page: values of labels and the concepts they mean, decided from the keyboard.

import { el, reveal } from "../../annotation/js/dom.js";
import { matcher, typesText } from "../../annotation/js/keys.js";
import { State } from "../../annotation/js/queue.js";
import { askColleague, preview, proposalFields, searchVocabulary, showKeys } from "./review_dialogs.js";
import { afterDrop, keepOrder } from "./review_cards.js";
import { keysFor } from "./review_keys.js";
import { Places } from "./review_places.js";
import { ReviewSaving } from "./review_saving.js";
import { nextUndecided, step } from "./review_state.js";

const PAUSE = 2000;
const SLOWLY = 3; // every how many pauses the portal is asked while nothing is being looked up

class Review extends ReviewSaving {
  constructor(root, data) {
    super(root, data);
    Object.assign(this, { card: 0, ticks: 0 });
    this.panel = this.find("panel");
    this.places = new Places({ panel: this.panel, fetchPart: (url) => this.panels.fetch(url), announce: (...said) => this.announce(...said) });
    this.keys = keysFor(data);
    this.actionOf = matcher(this.keys);
    this.table = {
      search: () => this.search(),
      nil: () => this.decideNone(),
      propose: () => this.propose(),
      undo: () => this.send("undo", this.root.dataset.undo, {}),
      revert: () => this.revert(),
      keep: () => this.mark("keep"),
      drop: () => this.mark("drop"),
      "next-card": () => this.chooseCard(this.card + 1),
      "previous-card": () => this.chooseCard(this.card - 1),
      ask: () => this.ask(),
      skip: () => this.goNext("Skipped."),
      next: () => this.select(step(this.rows, this.current, 1)),
      previous: () => this.select(step(this.rows, this.current, -1)),
      find: () => this.filter.elements.q.select(),
      "only-this": () => this.places.step(1),
      "only-previous": () => this.places.step(-1),
      "all-places": () => this.places.choose(null),
      clear: () => this.clearFilters(),
      retry: () => this.queue.retry(),
      reload: () => this.load(this.current),
      help: () => showKeys(this.keys),
    };
  }

  start() {
    document.addEventListener("keydown", (event) => this.pressed(event));
    this.root.addEventListener("click", (event) => this.clicked(event));
    this.root.addEventListener("submit", (event) => this.submitted(event));
    this.filter.addEventListener("input", () => this.filterSoon());
    this.filter.addEventListener("keydown", (event) => this.inFilter(event));
    globalThis.addEventListener("hashchange", () => this.select(this.wanted()));
    globalThis.addEventListener("online", () => this.queue.retry());
    globalThis.addEventListener("beforeunload", (event) => this.queue.pending && event.preventDefault());
    document.addEventListener("visibilitychange", () => (this.seeAnswers(), this.poll()));
    setInterval(() => this.tick(), PAUSE);
    this.showProgress();
    this.showSaved(State.SAVED, 0);
    const { rows } = this;
    const first = this.wanted() ?? nextUndecided(rows, null) ?? rows[0]?.id ?? null;
    if (first === null) this.panel.replaceChildren();
    else this.select(first);
    if (this.queue.pending) this.queue.run();
    this.root.dataset.ready = "true";
  }

  wanted() {
    const found = /^#f(\d+)$/.exec(location.hash);
    return found ? Number(found[1]) : null;
  }

  // --- the value ----------------------------------------------------------------------------------------------------

  get article() {
    return this.panel.querySelector("[data-shown]");
  }

  get heading() {
    return this.panel.querySelector("[data-heading]");
  }

  get isDecided() {
    return Boolean(this.article?.dataset.revert);
  }

  select(id) {
    if (id === null || (id === this.current && this.article)) return;
    this.current = id;
    history.replaceState(null, "", `#f${id}`);
    this.markRow();
    this.load(id);
  }

  addressOf(id) {
    return this.row(id)?.dataset.url || `${location.pathname}${id}/`;
  }

  async load(id) {
    if (id === null) return;
    try {
      const html = await this.panels.get(id, this.addressOf(id));
      if (id === this.current) this.show(html);
    } catch (error) {
      if (id !== this.current) return;
      const gone = error.status === 404;
      const again = el("button", { type: "button", class: "quiet small", "data-action": "reload" }, "Try again");
      this.panel.replaceChildren(el("div", { class: "empty" }, el("p", { role: "alert" }, gone ? "There is no such value here." : "This value could not be fetched. Is the connection there, and are you still signed in?"), gone ? null : again));
    }
  }

  show(html) {
    const same = this.article?.dataset.shown === String(this.current);
    const before = same ? this.cards.map((card) => card.dataset.card) : [];
    const chosen = same && this.cards[this.card]?.dataset.card;
    // The fragment is the portal's own template, in which every value is escaped.
    this.panel.innerHTML = html;
    keepOrder(this.panel.querySelector(".linking-cards"), before);
    this.places.choose(null);
    this.seeAnswers();
    const at = chosen ? this.cards.findIndex((card) => card.dataset.card === chosen) : 0;
    this.chooseCard(Math.max(0, at), at > 0);
    if (!document.querySelector("dialog[open]") && !typesText(document.activeElement)) this.heading?.focus({ preventScroll: true });
    this.fetchAhead();
  }

  /** What comes next is there before it is asked for. */
  fetchAhead() {
    const next = nextUndecided(this.rows, this.current, this.done);
    if (next !== null) this.panels.get(next, this.addressOf(next)).catch(() => {});
  }

  goNext(said) {
    const next = nextUndecided(this.rows, this.current, this.done);
    if (next === null) {
      this.announce(`${said} Nothing else is open${this.filtered ? " in this list, which is filtered; c shows all values" : ""}.`);
      return this.panels.forget(this.current), this.load(this.current);
    }
    this.announce(`${said} Next: “${this.row(next)?.querySelector(".linking-text").firstChild.textContent ?? ""}”.`);
    return this.select(next);
  }

  get filtered() {
    return [...new FormData(this.filter).values()].some(Boolean);
  }

  get cards() {
    return [...this.panel.querySelectorAll("[data-card]")];
  }

  chooseCard(index, scroll = true) {
    const { cards } = this;
    this.card = Math.max(0, Math.min(cards.length - 1, index));
    cards.forEach((card, at) => card.classList.toggle("at", at === this.card));
    if (scroll && cards[this.card]) reveal(cards[this.card]);
  }

  // --- deciding -----------------------------------------------------------------------------------------------------

  mayDecide() {
    if (!this.article) return false;
    if (this.data.decides) return true;
    this.announce("Only a doctor of this project decides.", true);
    return false;
  }

  digit(number) {
    const at = this.cards.findIndex((card) => card.dataset.key === String(number));
    if (at < 0) return this.announce(`There is no candidate ${number}.`);
    this.chooseCard(at);
    return this.data.decides ? this.take(this.cards[at].dataset.card, this.cards[at].dataset.name) : undefined;
  }

  take(cui, name) {
    const card = this.cards.find((one) => one.dataset.card === cui);
    const types = [...(card?.querySelectorAll(".linking-type") || [])].map((type) => type.textContent.trim().replace(/\s+/g, " "));
    this.confirm(`“${this.article.dataset.text}” means ${name}`, { kind: "concept", cui }, [el("p", {}, el("span", { class: "mono" }, cui), types.length ? ` · ${types.join(" · ")}` : "")]);
  }

  decideNone() {
    this.confirm(`No concept for “${this.article?.dataset.text}”`, { kind: "nil" }, [el("p", {}, "The wording stays as it is, in every file too.")]);
  }

  propose() {
    if (!this.mayDecide()) return;
    if (this.places.only) return void this.announce("A new concept is proposed for the whole value; press Esc first.", true);
    const form = proposalFields({ name: this.article.dataset.text, groups: this.data.types, fitting: this.article.dataset.fitting.split(" "), place: this.article.dataset.place });
    const check = (proposal) => (proposal.name ? "" : "Give the concept a name.");
    this.confirm(`A new concept for “${this.article.dataset.text}”`, { kind: "proposed" }, [], { ...form, check });
  }

  /** The preview, and with its Enter the decision. */
  confirm(title, choice, lines, form = null) {
    if (!this.mayDecide()) return;
    const { article } = this;
    const { only } = this.places;
    const ticks = el("div", {});
    if (only) ticks.append(el("p", {}, "Only for this occurrence: ", el("q", {}, only.said)));
    else ticks.append(article.querySelector("template[data-preview]").content.cloneNode(true));
    preview({
      title,
      lines,
      fields: form?.fields,
      first: form?.first,
      ticks,
      confirm: (excluded, note) => {
        const proposal = form?.read() || {};
        const problem = form?.check(proposal) || "";
        if (!problem) this.decide({ ...choice, ...proposal, note, ...(only ? { label: only.label } : { excluded }), expected: only ? only.expected : Number(article.dataset.expected) || null });
        return problem;
      },
    });
  }

  decide(body) {
    const { article } = this;
    const { only } = this.places;
    this.send("decide", article.dataset.decide, body);
    if (only) return this.places.choose(null);
    this.done.add(this.current);
    this.markRow();
    return this.goNext("Decided.");
  }

  revert() {
    if (!this.mayDecide()) return;
    const { only } = this.places;
    if (only && only.revert) this.send("revert", only.revert, { single: true });
    else if (only) this.announce("Nothing is decided for this occurrence alone; Esc goes back to all of them.", true);
    else if (!this.isDecided) this.announce("Nothing is decided about this value.");
    else this.send("revert", this.article.dataset.revert, {});
  }

  mark(verdict) {
    const card = this.cards[this.card];
    if (!this.data.shortlists || !card) return;
    const now = card.dataset.verdict === verdict ? "" : verdict;
    card.dataset.verdict = now; // what is pressed before the answer is there counts from here
    this.send("shortlist", this.article.dataset.shortlist, { cui: card.dataset.card, verdict: now }, card.dataset.name);
    if (now === "drop") this.chooseCard(afterDrop(this.cards.map((one) => one.dataset.verdict), this.card));
  }

  ask() {
    if (!this.article) return;
    const { text, ask } = this.article.dataset;
    askColleague({ value: text, colleagues: this.data.colleagues, send: (body) => this.send("ask", ask, body) });
  }

  search() {
    if (!this.article) return;
    const { text, slot, field } = this.article.dataset;
    const find = async (q) => JSON.parse(await this.panels.fetch(`${this.root.dataset.search}?${new URLSearchParams({ q, slot, field })}`)).concepts;
    const keep = ({ cui, name }) => this.send("shortlist", this.article.dataset.shortlist, { cui, verdict: "keep" }, name);
    const choose = this.data.decides ? ({ cui, name }) => this.take(cui, name) : this.data.shortlists ? keep : () => {};
    const verb = this.data.decides ? "takes" : this.data.shortlists ? "keeps it on the shortlist" : "closes";
    searchVocabulary({ value: text, find, choose, verb });
  }

  // --- what others do meanwhile ---------------------------------------------------------------------------------------

  tick() {
    this.ticks += 1;
    const busy = !this.known.forms || this.known.waiting || this.known.linked < this.known.forms;
    if (busy || this.ticks % SLOWLY === 0) this.poll();
  }

  /** Whether others, or the background, have brought the shown value into another state. */
  get isOutdated() {
    const now = this.row(this.current)?.dataset.state;
    const busy = document.querySelector("dialog[open]") || this.places.only || typesText(document.activeElement) || this.done.has(this.current);
    return Boolean(now && this.article && now !== this.article.dataset.state && !busy);
  }

  /** Ask how far things are; what others or the background did meanwhile comes into the list. */
  async poll() {
    if (document.visibilityState !== "visible") return;
    try {
      const found = JSON.parse(await this.panels.fetch(this.root.dataset.progressUrl));
      if (JSON.stringify(found) === JSON.stringify(this.known)) return;
      this.known = found;
      this.showProgress();
      await this.loadQueue();
      this.panels.forgetAll();
      const begins = this.current === null && this.rows.length;
      if (begins) this.select(nextUndecided(this.rows, null) ?? this.rows[0].id);
      else if (this.isOutdated) this.load(this.current);
    } catch {
      // The next time will tell.
    }
  }

  // --- what is pressed ----------------------------------------------------------------------------------------------

  pressed(event) {
    if (event.isComposing || document.querySelector("dialog[open]") || typesText(event.target)) return;
    if (event.target.closest?.("button, summary, a") && ["Enter", " "].includes(event.key)) return;
    if (event.target.closest?.("details[data-menu]")) return;
    if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      return this.digit(Number(event.key));
    }
    const found = this.actionOf(event);
    if (!found) return undefined;
    event.preventDefault();
    return this.table[found.action]();
  }

  clicked(event) {
    const at = (selector) => event.target.closest(selector);
    if (at("[data-action]")) return this.table[at("[data-action]").dataset.action]?.();
    if (at("[data-take]")) return this.take(at("[data-take]").dataset.take, at("[data-card]").dataset.name);
    if (at("[data-mark]")) return this.chooseCard(this.cards.indexOf(at("[data-card]")), false), this.mark(at("[data-mark]").dataset.mark);
    if (at("[data-only-this]")) return this.places.choose(at("[data-label]"));
    if (at("[data-unfold]")) return this.unfold(at("[data-unfold]"));
    if (at("[data-more]")) return this.loadQueue(Number(at("[data-more]").dataset.more));
    if (at("[data-more-occurrences]")) return this.places.more(`offset=${at("[data-more-occurrences]").dataset.moreOccurrences}`, true);
    if (at("[data-around]")) return this.places.more(`around=${at("[data-around]").dataset.around}`, false);
    if (at("[data-revert-one]")) return this.send("revert", at("[data-revert-one]").dataset.revertOne, { single: true });
    return undefined;
  }

  unfold(button) {
    button.nextElementSibling.hidden = false;
    button.remove();
  }

  submitted(event) {
    event.preventDefault();
    const form = event.target.closest("[data-answer]");
    if (!form) return event.target.closest("[data-filter]") && this.loadQueue();
    const answer = form.elements.answer.value.trim();
    if (!answer) return form.elements.answer.focus();
    form.querySelector("button").disabled = true;
    return this.send("answer", form.dataset.answer, { answer });
  }
}

const root = document.querySelector("[data-linking]");
new Review(root, JSON.parse(document.getElementById("linking-data").textContent)).start();
