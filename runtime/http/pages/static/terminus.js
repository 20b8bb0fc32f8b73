// Follows what happens, and tells moments by the reader's own clock. Without it, all works after loading a page again.
"use strict";

const REFRESH_AFTER = 400; // ms: what happens together is shown together
const POLL_EVERY = 1000; // ms, while documents are being read
const MOST_LOSSES = 5; // then the page says that it follows no more
const EVENTS = ["began", "handoff", "refused", "round", "status", "agent-selected", "answer-checked"];

function tellMoments(root) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  for (const each of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(each.dateTime);
    if (!Number.isNaN(moment.valueOf())) {
      each.title = each.textContent;
      each.textContent = format.format(moment);
    }
  }
}

function announce(text) {
  const live = document.getElementById("live");
  if (text && live.textContent !== text) live.textContent = text;
}

function isBusy(element) {
  // Whoever writes in a form, has marked a text, or is about to remove something, keeps it.
  const at = document.activeElement;
  const writes = element.contains(at) && at.matches("textarea, select, input:not([type=checkbox])");
  const marked = document.getSelection();
  return writes || element.querySelector(".remove[open]") || (marked && !marked.isCollapsed && element.contains(marked.anchorNode));
}

// Puts the part of the page that is live in the place of what is shown; false while somebody is at what is shown.
async function refresh() {
  if (isBusy(document.querySelector("[data-live]"))) return false;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (!answer.ok) return true;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-live]"), old = document.querySelector("[data-live]");
  if (!fresh || isBusy(old)) return !fresh;
  for (const each of old.querySelectorAll("details[id]")) {
    const same = fresh.querySelector(`#${CSS.escape(each.id)}`);
    if (same) same.open = each.open;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  tellMoments(fresh);
  keepDraft(old, fresh);
  old.replaceWith(fresh);
  if (focused) document.getElementById(focused)?.focus();
  announce(fresh.dataset.state);
  return true;
}

function keepDraft(old, fresh) {
  for (const name of ["[data-note]", "[data-draft]"]) {
    const before = old.querySelector(name), after = fresh.querySelector(name);
    if (before && after) after.replaceWith(before);
  }
}

// Listens to a stream of the server's while the tab is seen: a browser has few connections, and hidden tabs would hold them.
// What is missed meanwhile is seen by loading the live part again when the stream opens.
function listen(address, handlers, later) {
  let source = null, losses = 0, over = false;
  const open = () => {
    source = new EventSource(address);
    source.addEventListener("open", () => {
      losses = 0;
      later();
    });
    source.addEventListener("error", () => {
      losses += 1;
      if (source.readyState === EventSource.CLOSED || losses >= MOST_LOSSES) lose();
    });
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => handle(event, stop));
    }
  };
  const stop = () => {
    over = true;
    source?.close();
  };
  const lose = () => {
    stop();
    const live = document.getElementById("live");
    announce(live.dataset.lost);
    live.classList.remove("hidden");
  };
  document.addEventListener("visibilitychange", () => {
    if (over) return;
    source?.close();
    source = null;
    if (!document.hidden) open();
  });
  if (!document.hidden) open();
}

// What happens within a moment is shown at once; while somebody is at what is shown, it is tried again and again.
function makeLater() {
  let waiting = 0;
  const later = () => {
    waiting ||= setTimeout(async () => {
      waiting = 0;
      if (!(await refresh().catch(() => true))) later();
    }, REFRESH_AFTER);
  };
  return later;
}

function followTicket(ticket) {
  const drafts = new Map(), later = makeLater();
  const clear = () => {
    drafts.clear();
    showDraft("");
    later();
  };
  const end = (_, stop) => {
    stop();
    clear();
  };
  const handlers = Object.fromEntries(EVENTS.map((name) => [name, later]));
  handlers.worked = (event) => {
    const { step, done, total, item, percent } = JSON.parse(event.data);
    const note = document.querySelector("[data-note]");
    const count = total ? `${done}/${total}` : "";
    if (note) note.textContent = [`${percent} %`, step, count, item].filter(Boolean).join(" · ");
  };
  handlers["answer-text"] = (event) => {
    const { agent, start, text } = JSON.parse(event.data);
    const before = Array.from(drafts.get(agent) ?? "").slice(0, start).join("");
    drafts.set(agent, before + text);
    showDraft([...drafts.values()].join("\n\n"));
  };
  handlers.answered = clear;
  handlers.ended = handlers.failed = end;
  listen(`/tickets/${encodeURIComponent(ticket)}/events`, handlers, later);
}

function showDraft(text) {
  const draft = document.querySelector("[data-draft]");
  if (!draft) return;
  draft.hidden = !text;
  draft.querySelector("p").textContent = text;
}

function poll() {
  setTimeout(async () => {
    await refresh().catch(() => true);
    if (document.querySelector("[data-polls]")) poll();
  }, POLL_EVERY);
}

// The code of a shared link stands behind the #, which no server is sent: it goes by the form, and leaves the address.
function openShared(field) {
  if (location.hash.length < 2) return;
  field.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
  field.form.requestSubmit();
}

tellMoments(document);
const code = document.querySelector("[data-code]");
if (code) openShared(code);
const live = document.querySelector("[data-live]");
if (live?.dataset.ticket) {
  if ("running" in live.dataset) followTicket(live.dataset.ticket);
} else if (live?.id === "index") {
  if ("polls" in live.dataset) poll();
} else if (live) {
  const later = makeLater();
  listen("/events", { began: later, ended: later, failed: (_, stop) => stop() }, later);
}
