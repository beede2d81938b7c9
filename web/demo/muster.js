/**
 * Muster's client for browsers: one file, no dependency, an ES module.
 *
 *     import { MusterClient } from "./muster.js";
 *
 *     const client = new MusterClient({ playerId: "brave-otter-42", client: "my-game/1.0" });
 *     client.addEventListener("match", ({ detail: match }) => {
 *       if (match.state === "complete") enter(match.rooms.game, match.players);
 *     });
 *     client.addEventListener("state", () => draw(client.queued, client.match));
 *     client.connect();
 *     await client.online();
 *     await client.join("voice");
 *
 * It keeps one connection of one player alive: it reconnects with back-off and jitter, notices a dead
 * connection, moves away from an instance that drains, and stops where a reconnect would be wrong
 * (`replaced`, a refused token). The queue place lives on the server and outlives a reconnect.
 *
 * Events, each a CustomEvent with its data in `detail`:
 *   connection  {state, instance?, retryAt?, code?, reason?}: see `connection`
 *   state       {queued, match, notices}: after every change of it
 *   match       a match that is proposed or complete; once for each id and state, however often it is sent
 *   notice      an end of a ticket or match that the player did not ask for; once for each `notice_id`
 *   message     every message of the server as it came
 */

const SUBPROTOCOL = "muster.v1";
const PONG_WITHIN_MS = 5_000;
const WELCOME_WITHIN_MS = 10_000; // the server waits 5 s for `hello`; the rest is for slow networks
const REPLY_WITHIN_MS = 10_000; // the server answers within 3 s even while Redis is away
const BACKOFF_FIRST_MS = 500;
const BACKOFF_MOST_MS = 30_000;
const STABLE_AFTER_MS = 5_000; // a connection that lived so long makes the next back-off start anew
const CLOSE_GOODBYE = 1000; // the player is done: worlds with `leave_on_close` let the place go
const CLOSE_RECONNECT = 3000; // only the socket is given up: the place is kept
const CLOSE_REPLACED = 4409;
const NOTICES = new Set(["dequeued", "match_cancelled", "match_ended"]);

/** A request that was refused (`code` as in the protocol), or that got no answer (`disconnected`, `timeout`). */
export class MusterError extends Error {
  /** @param {{code: string, message?: string, retry_after_ms?: number}} reply */
  constructor(reply) {
    super(reply.message || reply.code);
    this.name = "MusterError";
    this.code = reply.code;
    this.retryAfterMs = reply.retry_after_ms;
    this.reply = reply;
  }
}

/** Whether a connection that was closed with `code` may be opened again without a change. */
export function mayReconnect(code) {
  return !(code === 1003 || code === 1007 || code === 1009 || (code >= 4400 && code <= 4499));
}

/** Milliseconds to wait before try number `attempt` (0 is the first): doubling, of which a random half. */
export function backoff(attempt, random = Math.random()) {
  const most = Math.min(BACKOFF_MOST_MS, BACKOFF_FIRST_MS * 2 ** attempt);
  return Math.round(most / 2 + (random * most) / 2);
}

/** The state of a player after a message; the same object where the message changes nothing. */
export function reduce(state, m) {
  const { queued, match } = state;
  const without = (id) => (match?.id === id ? null : match);
  switch (m.type) {
    case "welcome": case "status": case "state":
      return { queued: m.queued ?? [], match: m.match ?? null, notices: m.notices ?? [] };
    case "joined": case "queue_update":
      return { ...state, queued: put(queued, m) };
    case "requeued":
      return { ...state, queued: put(queued, m), match: without(m.match_id) };
    case "left":
      return { ...state, queued: queued.filter((q) => !m.worlds.includes(q.world)) };
    case "dequeued":
      return { ...state, queued: queued.filter((q) => q.ticket_id !== m.ticket_id) };
    case "match_proposed":
      return { ...state, match: m.match };
    case "match_complete": // ends the tickets of all worlds
      return { ...state, queued: [], match: m.match };
    case "match_update":
      return match?.id === m.match.id ? { ...state, match: m.match } : state;
    case "acked":
      return match?.id === m.match_id ? { ...state, match: { ...match, acked: true } } : state;
    case "match_cancelled": case "match_ended": case "left_match": case "declined":
      return { ...state, match: without(m.match_id) };
    case "error": // `in_match` brings the match along
      return m.match ? { ...state, match: m.match } : state;
    default:
      return state;
  }
}

/** The list with the ticket's entry replaced by, or extended with, what a message says of it. */
function put(queued, { type, id, match_id, ...entry }) {
  const at = queued.findIndex((q) => q.world === entry.world);
  return at < 0 ? [...queued, entry] : queued.with(at, { ...queued[at], ...entry });
}

export class MusterClient extends EventTarget {
  #options;
  #socket = null;
  #connection = { state: "idle" };
  #state = { queued: [], match: null, notices: [] };
  #wanted = false; // connect() was called, close() was not
  #attempt = 0;
  #welcome = null; // the welcome of this connection
  #welcomedAt = 0;
  #believes = false; // the state is worth asserting in `hello.have`
  #leaveAt = 0; // when an instance that drains wants this client to go
  #clockOffset = 0;
  #lastId = 0;
  #pending = new Map(); // request id -> {resolve, reject, timer}
  #ended = new Set(); // tickets and matches that are over: late copies of their events are dropped
  #seen = new Set(); // notices and matches that listeners know of
  #timers = { retry: 0, watchdog: 0, hello: 0, drain: 0 };
  #probing = false;
  #wake = () => this.#pageIsBack();

  /**
   * @param {object} options
   * @param {string} [options.url] address of the WebSocket; `/v1/ws` of the page's own origin by default
   * @param {string} [options.playerId] who to be where the server runs in dev mode; else the server chooses
   * @param {string | (() => string | Promise<string>)} [options.token] where the server wants tokens; a
   *     function is asked at every connection, and again when the token is about to expire
   * @param {string} [options.party] dev mode: the code that the members of a party share
   * @param {string} [options.client] name and version of your program, for the server's log
   */
  constructor(options = {}) {
    super();
    this.#options = { ...options };
  }

  /** `idle`, `connecting`, `online` (with `instance`), `waiting` (with `retryAt`, by Date.now()), or
   *  `stopped` (with the close `code`: no reconnect before the next connect()). */
  get connection() { return this.#connection; }
  /** The player's id, once it is known. */
  get playerId() { return this.#options.playerId; }
  /** The worlds that the player waits in, as the protocol's `queued`. */
  get queued() { return this.#state.queued; }
  /** The open match, or null. */
  get match() { return this.#state.match; }
  /** The last ends of tickets and matches that the player did not ask for. */
  get notices() { return this.#state.notices; }
  /** The server's clock in Unix milliseconds, to compare with `*_at`. */
  now() { return Date.now() + this.#clockOffset; }

  /** Opens the connection and keeps it; while it waits for its next try, tries at once. */
  connect() {
    if (!this.#wanted) {
      this.#wanted = true;
      globalThis.addEventListener?.("online", this.#wake);
      globalThis.addEventListener?.("pageshow", this.#wake);
      globalThis.document?.addEventListener("visibilitychange", this.#wake);
    }
    if (!this.#socket) this.#open();
  }

  /** Ends the connection for good, until the next connect(). Does not leave worlds: see leave(). */
  close() {
    this.#stop({ state: "idle" }, CLOSE_GOODBYE);
  }

  /** Resolves when the client is connected; rejects with `disconnected` when it stops trying. */
  online() {
    return new Promise((resolve, reject) => {
      const look = () => {
        const { state, reason } = this.#connection;
        if (state === "connecting" || state === "waiting") return;
        this.removeEventListener("connection", look);
        if (state === "online") resolve();
        else reject(new MusterError({ code: "disconnected", message: reason || "not connected" }));
      };
      this.addEventListener("connection", look);
      look();
    });
  }

  /** Waits in a world. Options: `party`, `attributes`, `ticket` as in the protocol. Resolves to `joined`. */
  async join(world, options = {}) {
    const joined = await this.#request("join", { world, ...options });
    // A repeated key is answered as the first time, even if that ticket has ended since.
    if (options.ticket) await this.status();
    return joined;
  }

  /** Leaves one world, or all. Resolves to `left`, which names those that were left. */
  leave(world) { return this.#request("leave", { world }); }
  /** Asks for the whole state. */
  status() { return this.#request("status"); }
  accept(matchId) { return this.#request("accept", { match_id: matchId }); }
  decline(matchId) { return this.#request("decline", { match_id: matchId }); }
  /** Tells the server that the match arrived, so that it need not be repeated. */
  ack(matchId) { return this.#request("ack", { match_id: matchId }); }
  /** Leaves the open match: the player may queue again. */
  leaveMatch(matchId) { return this.#request("leave_match", { match_id: matchId }); }
  /** Resolves to the round trip in milliseconds. */
  async ping() {
    const sent = performance.now();
    await this.#request("ping");
    return performance.now() - sent;
  }

  // --- the connection ---

  #open() {
    this.#clearTimers();
    this.#leaveAt = 0;
    this.#welcome = null;
    const url = this.#options.url ?? new URL("/v1/ws", location.href).href.replace(/^http/, "ws");
    const socket = new WebSocket(url, [SUBPROTOCOL]);
    this.#socket = socket;
    // A socket that was given up may still speak: nobody listens to it any more.
    const current = (handle) => (event) => { if (socket === this.#socket) handle(event); };
    socket.onopen = current(() => this.#hello());
    socket.onmessage = current((event) => this.#receive(event.data));
    socket.onclose = current(({ code, reason }) => this.#closed(code, reason));
    this.#timers.watchdog = setTimeout(() => this.#giveUp(), WELCOME_WITHIN_MS);
    this.#setConnection({ state: "connecting" });
  }

  async #hello() {
    const { token, playerId, party, client } = this.#options;
    const socket = this.#socket;
    const hello = { type: "hello", id: "hello", client, party };
    try {
      if (token) hello.token = typeof token === "function" ? await token() : token;
      else hello.player_id = playerId;
    } catch (err) {
      if (socket === this.#socket) this.#stop({ state: "stopped", reason: `no token: ${err.message}` });
      return;
    }
    if (this.#believes && !this.#welcome) {
      hello.have = { tickets: this.queued.map((q) => q.ticket_id), match: this.match?.id };
    }
    if (socket === this.#socket) this.#send(hello);
  }

  #closed(code, reason) {
    this.#socket = null;
    // Whoever took over may have changed anything since: what this client believes is worth nothing.
    if (code === CLOSE_REPLACED) this.#believes = false;
    if (!mayReconnect(code)) {
      this.#stop({ state: "stopped", code, reason });
      return;
    }
    this.#retry(code);
  }

  /** Drops the socket without waiting for the other side, which may be long gone. */
  #giveUp() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(CLOSE_RECONNECT);
    this.#retry();
  }

  #retry(code) {
    this.#clearTimers();
    this.#rejectPending();
    if (this.#welcome && Date.now() - this.#welcomedAt >= STABLE_AFTER_MS) this.#attempt = 0;
    const delay = this.#leaveAt ? Math.max(0, this.#leaveAt - Date.now()) : backoff(this.#attempt++);
    this.#timers.retry = setTimeout(() => this.#open(), delay);
    this.#setConnection({ state: "waiting", retryAt: Date.now() + delay, code });
  }

  #stop(connection, closeCode = CLOSE_RECONNECT) {
    const socket = this.#socket;
    this.#socket = null;
    this.#wanted = false;
    this.#attempt = 0;
    socket?.close(closeCode);
    globalThis.removeEventListener?.("online", this.#wake);
    globalThis.removeEventListener?.("pageshow", this.#wake);
    globalThis.document?.removeEventListener("visibilitychange", this.#wake);
    this.#clearTimers();
    this.#rejectPending();
    this.#setConnection(connection);
  }

  #pageIsBack() {
    if (globalThis.document?.visibilityState === "hidden") return;
    if (this.#connection.state === "waiting" && !this.#leaveAt) this.#open();
    else if (this.#connection.state === "online") this.#probe();
  }

  /** Scripts cannot see the server's pings: after two silent heartbeats this client asks by itself. */
  #watch() {
    clearTimeout(this.#timers.watchdog);
    this.#probing = false;
    this.#timers.watchdog = setTimeout(() => this.#probe(), 2 * (this.#welcome.heartbeat_ms || 10_000));
  }

  #probe() {
    if (this.#probing) return;
    this.#probing = true;
    clearTimeout(this.#timers.watchdog);
    this.#timers.watchdog = setTimeout(() => this.#giveUp(), PONG_WITHIN_MS);
    this.#send({ type: "ping" });
  }

  #clearTimers() {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#probing = false;
  }

  // --- messages ---

  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #request(type, fields) {
    return new Promise((resolve, reject) => {
      if (this.#connection.state !== "online") {
        reject(new MusterError({ code: "disconnected", message: "not connected" }));
        return;
      }
      const id = `r${++this.#lastId}`;
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new MusterError({ code: "timeout", message: "no answer in time" }));
      }, REPLY_WITHIN_MS);
      this.#pending.set(id, { resolve, reject, timer });
      this.#send({ type, id, ...fields });
    });
  }

  #rejectPending() {
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new MusterError({ code: "disconnected", message: "the connection was lost" }));
    }
    this.#pending.clear();
  }

  #receive(data) {
    const m = JSON.parse(data);
    if (m.type === "welcome") this.#welcomed(m);
    else if (!this.#welcome && m.type === "error") return this.#helloRefused(m);
    if (this.#welcome) this.#watch();
    if (m.type === "going_away") this.#goingAway(m);
    if (m.type === "token_expiring" && typeof this.#options.token === "function") this.#hello();
    this.#follow(m);
    this.#settle(m);
    this.#emit("message", m);
  }

  #welcomed(m) {
    this.#welcome = m;
    this.#welcomedAt = Date.now();
    this.#believes = true;
    this.#options.playerId = m.player_id;
    this.#ended.clear();
    this.#setConnection({ state: "online", instance: m.instance });
  }

  #helloRefused(m) {
    if (m.code === "draining") return this.#giveUp(); // this instance will not take it; the next one does
    if (m.retry_after_ms === undefined) {
      this.#stop({ state: "stopped", reason: m.message, code: m.code === "unauthorized" ? 4401 : undefined });
      return;
    }
    clearTimeout(this.#timers.watchdog);
    this.#timers.watchdog = setTimeout(() => this.#giveUp(), m.retry_after_ms + WELCOME_WITHIN_MS);
    this.#timers.hello = setTimeout(() => this.#hello(), m.retry_after_ms);
  }

  #goingAway(m) {
    this.#leaveAt = Date.now() + m.reconnect_in_ms;
    clearTimeout(this.#timers.drain);
    this.#timers.drain = setTimeout(() => this.#giveUp(), m.reconnect_in_ms);
  }

  /** Brings the player's state up to date and tells the listeners what is new in it. */
  #follow(m) {
    if (m.now) this.#clockOffset = m.now - Date.now();
    else if (m.waited_ms >= 0 && m.enqueued_at) this.#clockOffset = m.enqueued_at + m.waited_ms - Date.now();
    if (m.type === "requeued") this.#ended.delete(m.ticket_id);
    if (this.#ended.has(m.ticket_id)) return;
    if (m.match && this.#ended.has(m.match.id)) return;
    const before = this.#state;
    this.#state = reduce(before, m);
    if (m.type !== "welcome") this.#rememberEnded(before);
    if (this.#state !== before) this.#emit("state", this.#state);
    const { match, notices } = this.#state;
    if (match && this.#isNews(`${match.id} ${match.state}`)) this.#emit("match", match);
    for (const notice of NOTICES.has(m.type) ? [m] : notices) {
      if (!notice.notice_id || this.#isNews(notice.notice_id)) this.#emit("notice", notice);
    }
  }

  #rememberEnded(before) {
    const tickets = new Set(this.queued.map((q) => q.ticket_id));
    for (const { ticket_id } of before.queued) if (!tickets.has(ticket_id)) this.#ended.add(ticket_id);
    if (before.match && before.match.id !== this.match?.id) this.#ended.add(before.match.id);
  }

  #isNews(key) {
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  #settle(m) {
    const request = this.#pending.get(m.id);
    if (!request) return;
    this.#pending.delete(m.id);
    clearTimeout(request.timer);
    if (m.type === "error") request.reject(new MusterError(m));
    else request.resolve(m);
  }

  #setConnection(connection) {
    this.#connection = connection;
    this.#emit("connection", connection);
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
