// Open pages stay up to date: when the server says that something has changed, the page asks for itself anew and takes
// over its live parts. Whatever somebody is typing in, or has opened, stays as it is. Without this script everything works.
"use strict";

const busy = (part) =>
  part.contains(document.activeElement) && document.activeElement !== document.body && document.activeElement.matches("input, textarea, select");

const openOnes = (part) => [...part.querySelectorAll("details")].map((one) => one.open);

const chosen = (part) => new Set([...part.querySelectorAll("input[type=checkbox]:checked")].map((one) => one.value));

const say = (words) => { document.getElementById("news").textContent = words; };

async function refresh() {
  const answer = await fetch(location.href, { headers: { accept: "text/html", "x-headgate-refresh": "1" }, redirect: "manual" });
  if (answer.type === "opaqueredirect") say("You are no longer signed in: reload the page.");
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh || fresh.innerHTML === part.innerHTML || busy(part)) continue;
    const open = openOnes(part);
    const marked = chosen(part);
    const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    part.replaceChildren(...fresh.childNodes);
    [...part.querySelectorAll("details")].forEach((one, index) => { one.open = Boolean(open[index]); });
    part.querySelectorAll("input[type=checkbox]").forEach((one) => { one.checked = marked.has(one.value); });
    if (focused) [...part.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused)?.focus();
  }
  const nav = page.querySelector("header nav");
  const before = document.querySelector("header nav");
  if (nav && before && nav.textContent !== before.textContent) {
    say("Something has changed.");
    before.replaceChildren(...nav.childNodes);
  }
}

let asked = false;
async function once() {
  if (asked) return;
  asked = true;
  try { await refresh(); } finally { asked = false; }
}

if (location.pathname !== "/sign-in" && document.querySelector("[data-live]") && !document.querySelector("#shown-code, #shown-token")) {
  const news = new EventSource("/live");
  news.addEventListener("changed", once);
  news.addEventListener("error", () => say("The server does not answer: what is shown may be old."));
  news.addEventListener("open", () => say(""));
  setInterval(once, 30000);
}
