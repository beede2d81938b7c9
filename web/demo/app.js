/** The demo page: joins the client, the player of this tab and what is shown. */

import { byId, paintAvatar, setText } from "./dom.js";
import { connectionLine, isReplaced } from "./connection.js";
import { claim, generate, isValid, read, resume, write } from "./identity.js";
import { matchPanel } from "./match.js";
import { MusterClient } from "./muster.js";
import { noticeList } from "./notices.js";
import {
  clock, errorText, listOf, noticeText, notReadyText, placeText, toneOf,
} from "./words.js";
import { worldList } from "./worlds.js";

const PROGRAM = "muster-demo/1.0";
const POLL_MS = 2_000;
const LAST_WORLDS = "muster.worlds"; // where "play again" goes, also after a reload
const ANNOUNCE_MS = 10_000;
const SETTLE_MS = 300;
const TOGETHER_MS = 2_000; // notices of one decline come within it
const STALE = new Set(["already_queued", "in_match", "in_proposal", "no_such_match", "replaced", "timeout"]);

let client = null;
let worlds = null; // null until the server told
let acceptedMatch = null;
const announced = { names: "", words: "", at: 0, timer: 0 }; // about the queues
const busy = new Set(); // worlds with a request in flight
let outOf = { at: 0, ids: [], worlds: [] }; // the notices of the last match that fell through

const notices = noticeList(byId("notices"), byId("notice-list"), byId("notices-clear"));
const cards = worldList(byId("world-list"), toggle);
const line = connectionLine(render);
const panel = matchPanel(byId("match"), { playAgain, leaveMatch, accept, decline });

// --- the player ---

/** Becomes the player `id`: a new client, connected. */
function start(id) {
  const mine = new MusterClient({ playerId: id, client: PROGRAM });
  const on = (type, handle) => mine.addEventListener(type, ({ detail }) => {
    if (mine === client) handle(detail);
  });
  on("connection", connectionChanged);
  on("state", stateChanged);
  on("match", matchArrived);
  on("notice", noticeArrived);
  on("message", (m) => { if (m.type === "welcome") line.welcomed(m); });
  line.forget();
  client = mine;
  byId("identity").inert = false; // before there was nobody to rename
  const input = byId("player");
  input.value = id;
  input.dataset.id = id;
  editPlayer();
  mine.connect();
  render();
}

/** Gives up the present player, without leaving a ghost in the queues, and becomes another. */
async function become(id) {
  const before = client;
  if (before.queued.length && before.connection.state === "online") await before.leave().catch(() => {});
  before.close();
  await claim(id);
  notices.forget();
  write(LAST_WORLDS, "[]");
  start(id);
  announce(`You are ${id} now.`);
}

function editPlayer() {
  const input = byId("player");
  const isChanged = input.value !== input.dataset.id;
  const isBad = !isValid(input.value);
  byId("player-save").hidden = !isChanged;
  byId("player-shuffle").hidden = isChanged;
  input.setAttribute("aria-invalid", String(isBad));
  setText(byId("player-help"), isBad
    ? "1 to 64 letters, digits or . _ : @ - please."
    : "Every window is a player of its own.");
  paintAvatar(byId("avatar"), isBad ? input.dataset.id : input.value);
}

function savePlayer(event) {
  event.preventDefault();
  const { value, dataset } = byId("player");
  if (isValid(value) && value !== dataset.id) become(value);
}

function resetPlayer(event) {
  if (event.key !== "Escape") return;
  byId("player").value = byId("player").dataset.id;
  editPlayer();
}

// --- what the player does ---

/** Runs a request; what goes wrong is shown in words. True where it went well. */
async function attempt(request) {
  const mine = client;
  try {
    await request();
    notices.clearErrors();
    return true;
  } catch (err) {
    if (mine !== client) return false;
    notices.fail(errorText(err));
    announce(errorText(err));
    if (STALE.has(err.code)) mine.status().catch(() => {}); // what is shown was not the truth
    return false;
  } finally {
    render();
    pollWorlds(); // what this player did is in the numbers at once
  }
}

async function toggle(world, isQueued) {
  busy.add(world);
  render();
  await attempt(() => (isQueued ? client.leave(world) : client.join(world)));
  busy.delete(world);
  render();
}

function leaveAll() { return attempt(() => client.leave()); }
function leaveMatch(match) { return attempt(() => client.leaveMatch(match.id)); }
function decline(match) { return attempt(() => client.decline(match.id)); }

async function accept(match) {
  if (await attempt(() => client.accept(match.id))) acceptedMatch = match.id;
  render();
}

async function playAgain(match) {
  const again = JSON.parse(read(LAST_WORLDS) ?? "[]");
  if (!(await leaveMatch(match))) return;
  for (const world of again.length ? again : [match.world]) {
    if (!client.match) await attempt(() => client.join(world));
  }
}

// --- what the server says ---

/** A player that was not ready is told of the match and of each of its worlds: here in one line. */
function noticeArrived(notice) {
  const id = notice.notice_id ?? crypto.getRandomValues(new Uint32Array(1))[0];
  const isOff = notice.type === "match_cancelled" && (notice.reason === "declined" || notice.reason === "timeout");
  const isOut = notice.type === "dequeued" && notice.reason === "declined";
  if (isOff || Date.now() - outOf.at > TOGETHER_MS) outOf = { at: Date.now(), ids: [], worlds: [] };
  const instead = isOut ? [...outOf.ids] : [];
  if (isOut) outOf.worlds.push(notice.world);
  const words = isOut ? notReadyText(outOf.worlds) : noticeText(notice);
  if (isOff || isOut) outOf.ids.push(id);
  if (notices.add(id, words, toneOf(notice), instead)) announce(words);
}

function connectionChanged(connection) {
  const { state, instance } = connection;
  line.changed(connection);
  if (state === "online") announce(`Connected to ${instance}.`);
  if (state === "waiting" && !document.hidden) announce("Connection lost. Reconnecting.");
  if (isReplaced(connection)) announce("You play in another window now.");
  render();
}

function stateChanged({ queued }) {
  if (queued.length) write(LAST_WORLDS, JSON.stringify(queued.map((q) => q.world)));
  clearTimeout(announced.timer); // an update that follows on its heels knows more
  announced.timer = setTimeout(() => announceQueues(client), SETTLE_MS);
  render();
}

/** Entering and leaving is told at once; a queue that moves only now and then, or it would never be quiet. */
function announceQueues({ queued, match }) {
  const names = queued.map((q) => q.world).join();
  const words = queued.length ? `You wait in ${queued.map(placeText).join("; ")}.` : "You do not wait any more.";
  const isMoved = queued.length > 0 && words !== announced.words;
  if (names === announced.names && !(isMoved && Date.now() - announced.at > ANNOUNCE_MS)) return;
  if (!match) announce(words);
  Object.assign(announced, { names, words, at: Date.now() });
}

function matchArrived(match) {
  render();
  pollWorlds();
  byId("match").scrollIntoView({ block: "nearest" });
  if (match.state === "proposed") announce(`A match in ${match.world}. Are you ready?`);
  if (match.state !== "complete") return;
  const others = match.players.map((p) => p.id).filter((id) => id !== client.playerId);
  announce(`You have a match in ${match.world} with ${listOf(others)}.`);
  if (!match.acked) client.ack(match.id).catch(() => {}); // not heard: the server repeats the match
}

function announce(text) {
  byId("announcer").textContent = text;
}

async function pollWorlds() {
  if (document.hidden && worlds) return; // a page that opens in the background still has something to show
  try {
    const response = await fetch("/v1/matching/worlds", { cache: "no-store", signal: AbortSignal.timeout(POLL_MS * 2) });
    if (!response.ok) return;
    worlds = (await response.json()).worlds;
    render();
  } catch {
    // Out of reach: the indicator of the connection says so, and the next poll looks again.
  }
}

// --- what is shown ---

function render() {
  if (!client) return;
  const { connection } = client;
  // What a player who plays elsewhere waits for is seen there; here it would only grow old.
  const { queued, match } = isReplaced(connection) ? { queued: [], match: null } : client;
  const view = {
    queued, now: client.now(), you: client.playerId,
    canAct: connection.state === "online", isMatched: Boolean(match), isBusy: (world) => busy.has(world),
    hasAccepted: Boolean(match) && acceptedMatch === match.id, match,
    isHeld: Boolean(match) && match.state !== "complete",
  };
  cards.render(worlds ?? [], view);
  panel.render(match, view);
  line.render(connection, view);
  renderSummary(view);
  renderHint(view);
  document.title = titleFor(view);
}

function renderSummary({ queued, isMatched, isHeld }) {
  byId("worlds-empty").hidden = Boolean(worlds?.length || queued.length);
  setText(byId("worlds-empty"), worlds ? "This server has no worlds." : "Looking for worlds…");
  const words = isHeld ? "A match is being made for you" : queued.length
    ? `You wait in ${listOf(queued.map((q) => q.world))}`
    : isMatched ? "Open again after your match" : "Join one, or several at once";
  setText(byId("summary"), words);
  byId("leave-all").hidden = queued.length < 2 || isMatched;
}

/** Somebody who waits all alone is told where to find company. */
function renderHint({ queued, isMatched }) {
  const isAlone = queued.length > 0 && queued.every((q) => (q.queue_size ?? 1) <= 1);
  byId("hint").hidden = isMatched || !isAlone;
  const nearest = Math.min(...queued.map((q) => q.waiting_for?.need ?? sizeOf(q.world) - 1));
  setText(byId("hint-text"), nearest > 1
    ? `You are the first here. Open this page in ${nearest} more windows, and you have company.`
    : "You are the first here. Open this page in a second window, and you have company.");
}

const sizeOf = (name) => worlds?.find((w) => w.name === name)?.size ?? 2;

function titleFor({ queued, match, isMatched, now }) {
  if (match?.state === "proposed") return `Ready? ${clock((match.accept_by ?? match.expires_at) - now)} · Muster`;
  if (isMatched) return "You have a match · Muster";
  if (!queued.length) return "Muster";
  return `${clock(now - Math.min(...queued.map((q) => q.enqueued_at)))} waiting · Muster`;
}

// --- wiring ---

byId("identity").addEventListener("submit", savePlayer);
byId("player").addEventListener("input", editPlayer);
byId("player").addEventListener("keydown", resetPlayer);
byId("player-shuffle").addEventListener("click", () => become(generate()));
byId("leave-all").addEventListener("click", leaveAll);
byId("offline-action").addEventListener("click", () => client.connect());
byId("replaced-new").addEventListener("click", () => become(generate()));
byId("replaced-here").addEventListener("click", async () => {
  await claim(client.playerId);
  client.connect();
});
document.addEventListener("visibilitychange", pollWorlds);
setInterval(pollWorlds, POLL_MS);
setInterval(render, 1_000);

setText(byId("code-url"), new URL("/v1/ws", location.href).href.replace(/^http/, "ws"));
pollWorlds();
const { id, isNew } = await resume();
if (isNew) {
  // A duplicated tab has a copy of what belongs to the other player.
  notices.forget();
  write(LAST_WORLDS, "[]");
}
start(id);
