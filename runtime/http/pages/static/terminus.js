// Follows what happens, and tells moments by the reader's own clock. Without it, all works after loading a page again.
"use strict";

const REFRESH_AFTER = 400; // ms: what happens together is shown together
const LIST_RUNNING = 2000, LIST_IDLE = 15000; // ms between two looks at the list of tickets
const MOST_LOSSES = 5; // then the page says that it follows no more
const EVENTS = ["began", "handoff", "refused", "round", "status", "agent-selected", "answered", "answer-checked"];

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
  // Whoever writes in a form, or has marked a text, keeps it.
  const at = document.activeElement;
  const writes = element.contains(at) && at.matches("textarea, select, input:not([type=checkbox])");
  const marked = document.getSelection();
  return writes || (marked && !marked.isCollapsed && element.contains(marked.anchorNode));
}

// Puts the part of the page that is live in the place of what is shown; false where it could not be loaded.
async function refresh() {
  const old = document.querySelector("[data-live]");
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-live]");
  if (!fresh || isBusy(old)) return Boolean(fresh);
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

// A run's progress, as it is told by the server; the page is loaded anew a moment after something happened.
function followTicket(ticket) {
  const source = new EventSource(`/tickets/${encodeURIComponent(ticket)}/events`);
  const drafts = new Map();
  let waiting = 0, losses = 0;

  const later = () => {
    waiting ||= setTimeout(async () => {
      waiting = 0;
      await refresh().catch(() => false);
    }, REFRESH_AFTER);
  };
  const stop = () => {
    source.close();
    later();
  };
  const read = (event) => {
    losses = 0;
    return JSON.parse(event.data);
  };

  for (const name of EVENTS) source.addEventListener(name, later);
  source.addEventListener("worked", (event) => {
    const { step, done, total, item, percent } = read(event);
    const note = document.querySelector("[data-note]");
    const count = total ? `${done}/${total}` : "";
    if (note) note.textContent = [`${percent} %`, step, count, item].filter(Boolean).join(" · ");
  });
  source.addEventListener("answer-text", (event) => {
    const { agent, start, text } = read(event);
    const before = Array.from(drafts.get(agent) ?? "").slice(0, start).join("");
    drafts.set(agent, before + text);
    showDraft([...drafts.values()].join("\n\n"));
  });
  source.addEventListener("answered", () => showDraft(""));
  source.addEventListener("ended", stop);
  source.addEventListener("failed", stop);
  source.addEventListener("open", () => {
    losses = 0;
  });
  source.addEventListener("error", () => {
    losses += 1;
    if (source.readyState !== EventSource.CLOSED && losses < MOST_LOSSES) return;
    source.close();
    announce(document.getElementById("live").dataset.lost);
    document.getElementById("live").classList.remove("hidden");
  });
}

function showDraft(text) {
  const draft = document.querySelector("[data-draft]");
  if (!draft) return;
  draft.hidden = !text;
  draft.querySelector("p").textContent = text;
}

// The list of tickets is looked at now and then, more often while one is worked on; never in a hidden tab.
function followList() {
  let losses = 0;
  const look = async () => {
    if (!document.hidden) {
      const came = await refresh().catch(() => false);
      losses = came ? 0 : losses + 1;
    }
    if (losses >= MOST_LOSSES) announce(document.getElementById("live").dataset.lost);
    else wait();
  };
  const wait = () => setTimeout(look, document.querySelector("[data-live] [data-running]") ? LIST_RUNNING : LIST_IDLE);
  wait();
}

tellMoments(document);
const live = document.querySelector("[data-live]");
if (live?.dataset.ticket) {
  if ("running" in live.dataset) followTicket(live.dataset.ticket);
} else if (live) {
  followList();
}
