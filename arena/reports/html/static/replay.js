// The replay: shows the moments that the page holds, and decides nothing about the game.
"use strict";

const match = JSON.parse(document.getElementById("match").textContent);
const root = document.body.dataset.root;
const at = (id) => document.getElementById(id);
const SUITS = {S: "spades", H: "hearts", D: "diamonds", C: "clubs"};
const SYMBOLS = {S: "♠", H: "♥", D: "♦", C: "♣"};
const RANKS = {A: "ace", T: "ten", K: "king", Q: "queen", J: "jack", 9: "nine", 8: "eight", 7: "seven"};
const DELAY_MS = 1300;

const state = {deal: 1, step: 1, eyes: "all", deck: "french", timer: null};

// A moment holds what has changed since the one before.
for (const deal of match.deals) {
  let known = {};
  deal.moments = deal.steps.map((step) => (known = {...known, ...step}));
}

function element(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function card(name, extra = "") {
  const image = element("img", `card ${extra}`);
  image.src = name ? `${root}cards/${state.deck}/${name}.svg` : `${root}cards/back.svg`;
  image.alt = name ? `${RANKS[name[0]]} of ${SUITS[name[1]]}` : "face down";
  image.width = 240;
  image.height = 336;
  return image;
}

function words(text) {
  return text ? text.split(" ") : [];
}

function bySuit(cards) {
  const order = (name) => "SHCD".indexOf(name[1]) * 10 + "ATKQJ987".indexOf(name[0]);
  return [...cards].sort((one, other) => order(one) - order(other));
}

// The hand of a seat as the chosen eyes see it: names, and null for a card face down.
function handOf(moment, seat) {
  const cards = bySuit(words(moment.hands[seat]));
  if (state.eyes === "all" || Number(state.eyes) === seat) return cards;
  const seen = bySuit(words(moment.known[state.eyes][seat]));
  return [...seen, ...Array(cards.length - seen.length).fill(null)];
}

function actionInWords(action) {
  if (/^M[SHDC]$/.test(action)) return `marriage ${SYMBOLS[action[1]]}`;
  if (/^[A-Z0-9][SHDC]$/.test(action)) return `${action[0].replace("T", "10")}${SYMBOLS[action[1]]}`;
  return action.replace("-", " ");
}

function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function drawSeat(moment, seat) {
  const box = element("div", moment.asked === seat ? "seat asked" : "seat");
  const side = match.sides.findIndex((members) => members.includes(seat));
  const name = element("p", "who", element("bdi", "", match.names[seat] || "(no name)"));
  const pending = moment.pending[side] ? ` + ${moment.pending[side]} pending` : "";
  name.append(element("span", "points", `${counted(moment.points[side], "point")}${pending}, ${counted(moment.won[side], "trick")}`));
  if (match.deals[state.deal - 1].dealer === seat) name.append(element("span", "tag", "dealer"));
  if (moment.closer === seat) name.append(element("span", "tag", "closed"));
  const open = state.eyes === "all" || Number(state.eyes) === moment.asked;
  const legal = moment.asked === seat && open ? new Set(moment.legal.map(([action]) => action)) : null;
  const hand = element("div", "hand");
  for (const each of handOf(moment, seat)) {
    const extra = legal && each ? (each === moment.action ? "chosen" : legal.has(each) ? "" : "illegal") : "";
    hand.append(card(each, extra));
  }
  box.append(name, hand);
  return box;
}

function drawTable(moment) {
  const table = at("table");
  const first = state.eyes === "all" ? 0 : Number(state.eyes);
  const seats = match.names.map((_, index) => (first + index) % match.names.length);
  const places = {2: ["south", "north"], 3: ["south", "west", "east"], 4: ["south", "west", "north", "east"]};
  table.className = `seats-${seats.length}`;
  const parts = seats.map((seat, index) => {
    const box = drawSeat(moment, seat);
    box.classList.add(places[seats.length][index]);
    return box;
  });
  const trick = element("div", "trick");
  for (const [seat, name] of moment.table) {
    trick.append(element("figure", "", card(name), element("figcaption", "", element("bdi", "", match.names[seat]))));
  }
  if (!moment.table.length) trick.append(element("p", "empty", "no card on the table"));
  const talon = element("div", "talon");
  const left = words(moment.talon);
  const shown = state.eyes === "all" ? left : left.map((name) => (name === moment.turnup && moment.closer === null ? name : null));
  for (const name of shown) talon.append(card(name, "small"));
  const trump = moment.trump ? `Trump is ${SUITS[moment.trump]}` : "No trump yet";
  const label = left.length ? `${trump}; ${left.length} in the talon` : `${trump}; no talon`;
  parts.push(element("div", "middle", trick, element("div", "stock", element("p", "", label), talon)));
  table.replaceChildren(...parts);
}

function drawChoices(moment) {
  const list = at("choices");
  const open = moment.asked !== null && (state.eyes === "all" || Number(state.eyes) === moment.asked);
  list.replaceChildren();
  at("choices-note").textContent = "";
  if (!open) return;
  const values = moment.legal.some(([, value]) => value !== null) && (state.eyes === "all" || moment.fair);
  for (const [action, value] of moment.legal) {
    const item = element("li", action === moment.action ? "chosen" : "", actionInWords(action));
    if (values && value !== null) item.append(element("span", "value", value > 0 ? `+${value}` : `${value}`));
    if (action === moment.action) item.append(element("span", "tag", "chosen"));
    list.append(item);
  }
  if (!values) return;
  const chosen = moment.legal.find(([action]) => action === moment.action);
  const lost = chosen ? Math.max(...moment.legal.map(([, value]) => value)) - chosen[1] : 0;
  const verdict = lost > 0 ? ` The choice gives away ${counted(lost, "point")}.` : "";
  at("choices-note").textContent = `Game points where both play their best with all cards open.${verdict}`;
}

function drawTricks(moment) {
  at("tricks").replaceChildren(
    ...moment.tricks.map(([winner, cards]) => {
      const item = element("li", "", element("bdi", "", match.names[winner]), " ");
      for (const name of words(cards)) item.append(card(name, "small"));
      return item;
    }),
  );
}

function draw() {
  const deal = match.deals[state.deal - 1];
  const moment = deal.moments[state.step - 1];
  drawTable(moment);
  drawChoices(moment);
  drawTricks(moment);
  at("caption").textContent = moment.caption;
  at("time").textContent = moment.time ?? "";
  at("evidence").textContent = moment.evidence ?? "";
  at("score").textContent = `Deal ${state.deal} of ${match.deals.length}, score ${deal.score.join(" : ")}`;
  at("slider").max = deal.moments.length;
  at("slider").value = state.step;
  at("slider").setAttribute("aria-valuetext", `step ${state.step} of ${deal.moments.length}`);
  at("count").textContent = `${state.step} / ${deal.moments.length}`;
  at("deal").value = state.deal;
  at("play").textContent = state.timer === null ? "Play" : "Pause";
  history.replaceState(null, "", `#deal=${state.deal}&step=${state.step}`);
}

function go(deal, step) {
  const number = Math.min(Math.max(deal, 1), match.deals.length);
  state.deal = number;
  state.step = Math.min(Math.max(step, 1), match.deals[number - 1].moments.length);
  draw();
}

function forward() {
  const last = match.deals[state.deal - 1].moments.length;
  if (state.step < last) go(state.deal, state.step + 1);
  else if (state.deal < match.deals.length) go(state.deal + 1, 1);
  else stop();
}

function back() {
  if (state.step > 1) go(state.deal, state.step - 1);
  else if (state.deal > 1) go(state.deal - 1, Infinity);
}

function stop() {
  clearInterval(state.timer);
  state.timer = null;
  draw();
}

function play() {
  if (state.timer !== null) return stop();
  state.timer = setInterval(forward, DELAY_MS);
  draw();
}

function nextEyes() {
  const choices = [...at("eyes").options].map((option) => option.value);
  state.eyes = choices[(choices.indexOf(state.eyes) + 1) % choices.length];
  at("eyes").value = state.eyes;
  draw();
}

function fromAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  go(Number(wanted.get("deal")) || 1, Number(wanted.get("step")) || 1);
}

for (const [id, does] of Object.entries({
  start: () => go(state.deal, 1),
  back,
  play,
  forward,
  end: () => go(state.deal, Infinity),
})) at(id).addEventListener("click", does);
at("slider").addEventListener("input", (event) => go(state.deal, Number(event.target.value)));
at("deal").addEventListener("change", (event) => go(Number(event.target.value), 1));
at("eyes").addEventListener("change", (event) => { state.eyes = event.target.value; draw(); });
at("deck").addEventListener("change", (event) => { state.deck = event.target.value; draw(); });
addEventListener("hashchange", fromAddress);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
  const keys = {
    ArrowRight: forward,
    ArrowLeft: back,
    ArrowDown: () => go(state.deal + 1, 1),
    ArrowUp: () => go(state.deal - 1, 1),
    Home: () => go(state.deal, 1),
    End: () => go(state.deal, Infinity),
    " ": event.target.tagName === "BUTTON" ? null : play,
    v: nextEyes,
  };
  if (keys[event.key]) {
    keys[event.key]();
    event.preventDefault();
  }
});
fromAddress();
