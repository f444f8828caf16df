// The page of a vocabulary: another concept for a decided value, chosen from a search and sent as the row's form.

import { searchVocabulary } from "./review_dialogs.js";

const part = document.querySelector("[data-search]");

async function find(words, { slot, field }) {
  const answer = await fetch(`${part.dataset.search}?${new URLSearchParams({ q: words, slot, field })}`, { credentials: "same-origin", redirect: "manual" });
  if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
  return (await answer.json()).concepts;
}

part?.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-choose]");
  if (!form || form.elements.cui.value) return;
  event.preventDefault();
  const choose = ({ cui }) => {
    form.elements.cui.value = cui;
    form.requestSubmit();
  };
  searchVocabulary({ value: form.dataset.choose, find: (words) => find(words, form.dataset), choose, verb: "takes it for this value" });
});
