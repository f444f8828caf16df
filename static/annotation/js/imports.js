// The upload form: files can be dropped, and what is too large is said before it is sent. Without this the form works too.

const MIB = 2 ** 20;

/** A number of bytes in words. */
export function sizeText(bytes) {
  if (bytes >= MIB) return `${(bytes / MIB).toFixed(bytes % MIB ? 1 : 0)} MiB`;
  return bytes >= 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${bytes} bytes`;
}

/** What is wrong with the chosen files, in one sentence; "" when nothing is. `files` are `{name, size}`. */
export function problemOf(files, maxFile, maxUpload) {
  const large = files.find((file) => file.size > maxFile);
  if (large) return `${large.name} has ${sizeText(large.size)}; one file may have ${sizeText(maxFile)}. Leave it out or split it.`;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  if (total > maxUpload) return `These are ${sizeText(total)}; one upload may have ${sizeText(maxUpload)}. Send them in several uploads.`;
  return "";
}

/** What was chosen, in a few words. */
export function chosenText(files) {
  if (!files.length) return "";
  const total = sizeText(files.reduce((sum, file) => sum + file.size, 0));
  const names = files.slice(0, 3).map((file) => file.name).join(", ");
  const more = files.length > 3 ? ` and ${files.length - 3} more` : "";
  return `${names}${more} (${total})`;
}

function start(form) {
  const input = form.querySelector("input[type=file]");
  const error = form.querySelector("[data-upload-error]");
  const chosen = form.querySelector("[data-chosen]");
  const zone = form.querySelector("[data-drop]");
  const button = form.querySelector("button:not([type=button])");

  const look = () => {
    const files = [...input.files];
    const problem = problemOf(files, Number(form.dataset.maxFileBytes), Number(form.dataset.maxUploadBytes));
    error.textContent = problem;
    error.hidden = !problem;
    zone.classList.toggle("wrong", Boolean(problem));
    if (problem) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", "files-help files-error");
    } else {
      input.removeAttribute("aria-invalid");
    }
    chosen.textContent = chosenText(files);
    chosen.hidden = files.length < 2; // the input itself names a single file
    return !problem;
  };

  input.addEventListener("change", look);
  form.addEventListener("submit", (event) => {
    if (!look()) {
      event.preventDefault();
      input.focus();
      return;
    }
    button.disabled = true;
    button.textContent = "Reading…";
  });
  // Coming back to a page that the browser kept finds the button as it was left.
  window.addEventListener("pageshow", () => {
    button.disabled = false;
    button.textContent = "Read the files";
  });

  form.querySelector("[data-drop-hint]").hidden = false;
  const over = (on) => zone.classList.toggle("over", on);
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  zone.addEventListener("dragleave", () => over(false));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    look();
  });
}

if (typeof document !== "undefined") {
  for (const form of document.querySelectorAll("form[data-upload]")) start(form);
}
