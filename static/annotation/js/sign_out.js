// Signing out on a machine that others use too: drafts go, and nobody loses unsaved labels without being asked.

import { el } from "./dom.js";
import { forget, leftovers } from "./storage.js";

/** `data-sign-out="user"` marks the form that signs that person out. */
export function signOuts(root) {
  root.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-sign-out]");
    if (!form) return;
    const left = leftovers(form.dataset.signOut);
    if (left.unsent && !form.dataset.asked) {
      event.preventDefault();
      ask(form, left.unsent);
      return;
    }
    // An open form must not be kept again while its page goes away.
    root.dispatchEvent(new CustomEvent("signing-out"));
    forget(left.drafts);
    if (form.dataset.asked === "delete") forget(left.queues);
  });
}

function ask(form, unsent) {
  const leave = (how) => () => {
    dialog.close();
    form.dataset.asked = how;
    form.requestSubmit();
  };
  const button = (text, look, click) => el("button", { type: "button", class: `button ${look}`, on: { click } }, text);
  const dialog = el(
    "dialog",
    { class: "confirm", "aria-labelledby": "sign-out-title" },
    el(
      "div",
      { class: "stack" },
      el("h2", { id: "sign-out-title" }, unsent === 1 ? "One change is not saved yet" : `${unsent} changes are not saved yet`),
      el("p", {}, "They wait in this browser until the portal can be reached. If you sign out now, they can stay here until you sign in again in this browser, or be deleted."),
      el(
        "div",
        { class: "row" },
        button("Stay signed in", "", () => dialog.close()),
        button("Sign out, keep them here", "quiet", leave("keep")),
        button("Sign out and delete them", "danger", leave("delete")),
      ),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
