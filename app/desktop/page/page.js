// The window's own page: it says how the core is, stops what runs, and goes to the core's page as
// soon as there is one. Everything that it calls is bound by the window and wants the page's secret.
"use strict";

const meta = document.querySelector('meta[name="carrel-secret"]');
const secret = meta.content;
meta.remove();
const bound = window.go.desktop;
const byID = (id) => document.getElementById(id);

// say shows a failure; what is bound fails with {code, message}.
function say(error) {
  byID("problem").textContent = error?.message ?? String(error ?? "");
}

// act runs something for a button and keeps it from being pressed twice.
function act(button, work) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    say("");
    try {
      await work();
    } catch (error) {
      say(error);
    }
    button.disabled = false;
    await showWork();
  });
}

function row(one) {
  const item = document.createElement("li");
  const name = document.createElement("span");
  name.textContent = one.title || one.name;
  const note = document.createElement("small");
  note.textContent = [one.branch, one.activity.replaceAll("_", " ")].filter(Boolean).join(" · ");
  name.append(note);
  const stop = document.createElement("button");
  stop.textContent = "Stop";
  stop.setAttribute("aria-label", `Stop ${one.title || one.name}`);
  act(stop, () => bound.Conversations.Interrupt(secret, one.id));
  item.append(name, stop);
  return item;
}

let listed = "";

async function showWork() {
  let running = [];
  try {
    running = await bound.Conversations.Running(secret);
  } catch {
    // No core answers, so there is nothing to show.
  }
  const now = JSON.stringify(running);
  if (now === listed) return; // or a button would lose its focus
  listed = now;
  byID("work").hidden = byID("stop").hidden = running.length === 0;
  byID("running").replaceChildren(...running.map(row));
}

async function show(state) {
  if (state.theme === "light" || state.theme === "dark") document.documentElement.dataset.theme = state.theme;
  const failed = state.kind === "failed";
  byID("title").textContent = failed ? "Carrel can't reach its core" : "Starting Carrel…";
  byID("message").textContent = state.message;
  byID("buttons").hidden = !failed && !state.slow;
  byID("retry").hidden = !failed;
  byID("restart").hidden = !state.slow && !state.hung;
  byID("versions").textContent = state.core && state.core !== state.window ? `window ${state.window}, core ${state.core}` : `version ${state.window}`;
  if (!failed && !state.slow) return;
  await showWork();
  const log = await bound.Core.Log(secret);
  byID("log").textContent = log;
  byID("details").hidden = log === "";
}

async function follow() {
  for (let rev = 0; ; ) {
    const state = await bound.Core.State(secret, rev);
    rev = state.rev;
    if (state.kind === "ready") {
      location.replace(state.link);
      return;
    }
    await show(state);
  }
}

act(byID("retry"), () => bound.Core.Retry(secret));
act(byID("stop"), () => bound.Conversations.InterruptAll(secret));
act(byID("restart"), () => bound.Core.Restart(secret));
setInterval(() => byID("buttons").hidden || void showWork(), 2000);
follow().catch(say);
