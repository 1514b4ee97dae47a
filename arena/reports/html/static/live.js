// The live page: shows the numbers as they come, and takes the page anew when there is another one.
"use strict";

const live = document.getElementById("live");
let version = null;

function minutes(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function show(progress) {
  const share = progress.matches_planned ? progress.matches_finished / progress.matches_planned : 1;
  const words = [`${progress.matches_finished.toLocaleString("en")} of ${progress.matches_planned.toLocaleString("en")} matches`];
  if (progress.matches_a_minute !== null) words.push(`${Math.round(progress.matches_a_minute).toLocaleString("en")} a minute`);
  if (progress.eta_s !== null) words.push(`about ${minutes(progress.eta_s)} to go`);
  if (progress.state !== "running") words.push(progress.state);
  if (progress.lag !== null && progress.lag.p99_ms !== null) words.push(`the arena is ${progress.lag.p99_ms.toFixed(0)} ms late at the 99th percentile`);
  live.querySelector("progress").value = share;
  live.querySelector("p").textContent = words.join(", ");
  for (const name of ["now", "recent"]) {
    const items = progress[name].map((text) => Object.assign(document.createElement("li"), {textContent: text}));
    document.getElementById(name).replaceChildren(...items);
  }
  document.getElementById("now").parentElement.hidden = progress.now.length === 0;
  live.hidden = false;
}

async function renew() {
  const answer = await fetch(location.pathname);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = document.getElementById("main");
  if (main.contains(document.activeElement) && document.activeElement !== document.body) return; // not under the reader's hands
  const places = [...main.querySelectorAll(".wide")].map((box) => box.scrollLeft);
  main.replaceChildren(...page.getElementById("main").childNodes);
  main.querySelectorAll(".wide").forEach((box, index) => { box.scrollLeft = places[index] ?? 0; });
}

const events = new EventSource(`${document.body.dataset.root}events`);
events.onmessage = (event) => {
  const progress = JSON.parse(event.data);
  show(progress);
  if (version !== null && progress.version !== version && !document.querySelector(".replay")) renew();
  version = progress.version;
};
