// Tells moments by the reader's own clock.
"use strict";

function tellMoments(root) {
  const language = document.documentElement.lang;
  const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  for (const each of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(each.dateTime);
    if (!Number.isNaN(moment.valueOf())) {
      each.title = each.textContent;
      each.textContent = format.format(moment);
    }
  }
}

tellMoments(document);
