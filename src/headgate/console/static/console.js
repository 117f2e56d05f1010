// Open pages stay up to date: when the server says that something has changed, the page asks for itself anew and takes
// over its live parts, which hold no fields to type in. What somebody has opened or chosen stays. Without this script
// everything works.
"use strict";

// A live part says at which address it is found, where that is not the page's own: an answer to a form has none.
const address = document.querySelector("main [data-live]")?.dataset.live || location.href;

const typing = (part) =>
  part.contains(document.activeElement) && document.activeElement.matches("input, textarea");

const say = (words) => {
  const news = document.getElementById("news");
  if (news.textContent !== words) news.textContent = words;
};

// What is the same thing before and after, wherever it stands then.
const key = (one) => one.dataset.key ?? one.getAttribute("href") ?? one.value;

function replace(part, fresh) {
  const open = new Set([...part.querySelectorAll("details[open]")].map(key));
  const chosen = new Set([...part.querySelectorAll("input:checked")].map(key));
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const held = focused?.matches("summary") ? focused.parentElement : focused;
  part.replaceChildren(...fresh.childNodes);
  for (const one of part.querySelectorAll("details")) one.open = open.has(key(one));
  for (const one of part.querySelectorAll("input[type=checkbox]")) one.checked = chosen.has(key(one));
  if (!held) return;
  const again = [...part.querySelectorAll(held.localName)].find((one) => key(one) === key(held));
  (again?.querySelector("summary") ?? again)?.focus({ preventScroll: true });
}

// What waits for somebody, or needs them; what only runs is not told aloud.
function waiting(nav) {
  const counted = [...nav.querySelectorAll("a:has(.count:not(.busy))")].map((one) => one.textContent.trim());
  return counted.length ? `${counted.join(", ")}.` : "Nothing waits any more.";
}

async function refresh() {
  const answer = await fetch(address, { headers: { accept: "text/html", "x-headgate-refresh": "1" }, redirect: "manual" });
  if (answer.type === "opaqueredirect") say("You are no longer signed in: reload the page.");
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.title = page.title;
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh || fresh.innerHTML === part.innerHTML) continue;
    if (part.localName === "nav" && waiting(fresh) !== waiting(part)) say(waiting(fresh));
    replace(part, fresh);
  }
  // What can no longer be decided is not offered any more, unless somebody is in the middle of it.
  for (const part of document.querySelectorAll("[data-while]")) {
    if (!page.getElementById(part.id) && !typing(part)) part.hidden = true;
  }
}

let asking = false;
let again = false;
async function ask() {
  again = true;
  if (asking) return;
  asking = true;
  try {
    while (again) {
      again = false;
      await refresh();
    }
  } catch {
    say("The server does not answer: what is shown may be old.");
  } finally {
    asking = false;
  }
}

// Only a page that is looked at listens: browsers allow a handful of connections to one server, whatever is open.
let news = null;
function listen() {
  news?.close();
  news = null;
  if (document.hidden) return;
  news = new EventSource("/live");
  news.addEventListener("changed", ask);
  news.addEventListener("moved", () => { if (document.querySelector("main progress")) ask(); });
  news.addEventListener("open", () => { if (document.getElementById("news").textContent.startsWith("The server")) say(""); });
  news.addEventListener("error", ask);
}

if (document.querySelector("[data-live]")) {
  document.addEventListener("visibilitychange", listen);
  listen();
  setInterval(ask, 30000);
}
