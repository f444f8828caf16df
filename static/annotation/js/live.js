// Parts of a page that bring themselves up to date. `data-live` marks a part that htmx fetches anew on the event "live";
// nothing is asked while the page is out of sight. What has changed is said in the element `data-live-says` names.

const PAUSE = 3000;

function ask() {
  if (document.visibilityState !== "visible") return;
  for (const part of document.querySelectorAll("[data-live]")) part.dispatchEvent(new CustomEvent("live"));
}

document.addEventListener("visibilitychange", ask);
document.addEventListener("htmx:afterSwap", (event) => {
  const place = document.getElementById(event.target.dataset?.liveSays ?? "");
  const said = event.target.querySelector("[data-said]");
  if (place && said) place.textContent = said.dataset.said;
});
setInterval(ask, PAUSE);
