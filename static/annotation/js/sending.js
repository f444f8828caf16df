// One request of a page to the portal, as JSON.

const PATIENCE = 20000;

/** The token as it is now: signing in again, in another tab, makes a new one. */
export function csrfToken() {
  const cookie = document.cookie.split("; ").find((item) => item.startsWith("csrftoken="));
  return cookie ? decodeURIComponent(cookie.slice(10)) : document.querySelector("[name=csrfmiddlewaretoken]").value;
}

/** POST a body; resolves to {status, body} with the answer's JSON or null, and rejects when nothing answered. */
export async function post(url, body) {
  const answer = await fetch(url, {
    method: "POST",
    credentials: "same-origin",
    redirect: "manual",
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout?.(PATIENCE),
  });
  const json = (answer.headers.get("Content-Type") || "").includes("application/json");
  return { status: answer.status, body: json ? await answer.json() : null };
}
