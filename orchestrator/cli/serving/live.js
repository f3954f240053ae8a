// Keeps the page of `task serve` as the files are: when the server says that there is news, a new page is read, and each
// part that differs takes the old one's place. A form in which somebody types stays. Texts were escaped by the server.
"use strict";
const lost = document.getElementById("lost");
const events = new EventSource("events");
let reading = false, again = false;

function inUse(form) {
  return form.contains(document.activeElement) || [...form.querySelectorAll("textarea")].some(each => each.value);
}

function swapParts(page) {
  const here = new Map([...document.querySelectorAll("[data-part]")].map(each => [each.dataset.part, each]));
  for (const part of page.querySelectorAll("[data-part]")) {
    const old = here.get(part.dataset.part);
    for (const each of old ? old.querySelectorAll("details[open]") : [])
      for (const fresh of part.querySelectorAll("details"))
        if (fresh.dataset.key === each.dataset.key) fresh.open = true;
    if (!old) document.getElementById("each-task").append(part);
    else if (old.outerHTML !== part.outerHTML) old.replaceWith(part);
    here.delete(part.dataset.part);
  }
  for (const gone of here.values()) gone.remove();
}

// What a question says of who waits, and until when, changes while it is open; what is typed below it stays.
function swapText(old, fresh) {
  if (old.outerHTML !== fresh.outerHTML) old.replaceWith(fresh);
}

function swapQuestions(page) {
  const questions = document.getElementById("questions");
  const here = new Map([...questions.querySelectorAll("form")].map(each => [each.dataset.key, each]));
  for (const form of page.querySelectorAll("#questions form")) {
    const old = here.get(form.dataset.key);
    if (!old) questions.append(form);
    else swapText(old.querySelector("[data-key=text]"), form.querySelector("[data-key=text]"));
    here.delete(form.dataset.key);
  }
  for (const gone of here.values()) {
    if (!inUse(gone)) gone.remove();
    else if (!gone.dataset.over) {
      gone.dataset.over = "yes";
      gone.prepend("This question is not open any more: ");
    }
  }
}

async function read() {
  if (reading) { again = true; return; }
  reading = true;
  try {
    const reply = await fetch(location.pathname, { cache: "no-store", redirect: "error" });
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    swapParts(page);
    swapQuestions(page);
    document.title = page.title;
    document.getElementById("as-of").textContent = page.getElementById("as-of").textContent;
    lost.hidden = true;
  } catch {
    lost.hidden = false;
  }
  reading = false;
  if (again) { again = false; read(); }
}

events.onmessage = read;
events.onerror = () => { lost.hidden = false; };
if (location.search) history.replaceState(null, "", location.pathname);
