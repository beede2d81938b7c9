/** What the protocol says, in words for people. */

/** The kind of a world: `groups of 3`. */
export function kindOf({ mode, size }) {
  switch (mode) {
    case "duel": return "1 on 1";
    case "group": return `groups of ${size}`;
    case "fill": return size ? `drop in, up to ${size}` : "drop in";
    case "rules": return size ? `fair teams, ${size} players` : "fair teams";
    default: return size ? `${mode}, ${size} players` : mode;
  }
}

export const players = (n) => (n === 1 ? "1 player" : `${n} players`);

/** An entry of `queued`: `world1, place 2, waiting for 1 more player`. */
export function placeText({ world, position, waiting_for: need }) {
  return `${world}, place ${position}${need?.text ? `, waiting for ${need.text}` : ""}`;
}

/** A list as one says it: `a, b and c`. */
export const listOf = (names) => new Intl.ListFormat("en").format(names);

/** A ticking time: `0:42`, `12:05`, `1:02:03`. */
export function clock(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(s / 3600);
  const minutes = Math.floor(s / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}

/** An estimate, no more exact than it is. */
export function about(ms) {
  if (ms == null) return "–";
  if (ms < 1500) return "a moment";
  if (ms < 90_000) return `~${Math.round(ms / 1000)} s`;
  return ms < 5_400_000 ? `~${Math.round(ms / 60_000)} min` : `~${Math.round(ms / 3_600_000)} h`;
}

const DEQUEUED = {
  expired: (world) => `You waited in ${world} as long as one can. Join again when you like.`,
  presence_lost: (world) => `You were out of reach for too long, so your place in ${world} went to the next one.`,
  world_closed: (world) => `${world} closed while you were waiting.`,
  party_changed: (world) => `Your party changed, so it no longer waits in ${world}.`,
  declined: (world) => notReadyText([world]),
  removed: (world) => `You were taken out of the queue of ${world}.`,
  lost: (world) => `The server lost its memory, and with it your place in ${world}. Sorry! Join again when you like.`,
};
const CANCELLED = {
  declined: "Somebody declined, so the match is off.",
  timeout: "Not everybody was ready in time, so the match is off.",
  allocation_failed: "There was no server for your match, so it is off.",
  left: "Somebody left before it began, so the match is off.",
  lost: "The server lost your match. Sorry! Join again when you like.",
};
const ENDED = {
  expired: "Time is up: your match is over.",
  ended: "Your match is over.",
};

/** A notice: an end of a ticket or match that nobody here asked for. */
export function noticeText(notice) {
  switch (notice.type) {
    case "dequeued": {
      const world = notice.world ?? "a world";
      return DEQUEUED[notice.reason]?.(world) ?? `You no longer wait in ${world}.`;
    }
    case "match_cancelled": return CANCELLED[notice.reason] ?? "The match is off.";
    default: return ENDED[notice.reason] ?? "Your match is over.";
  }
}

/** One line for a player that was not ready, whatever it waited in. */
export function notReadyText(worlds) {
  return `You were not ready, so the match is off and you no longer wait in ${listOf(worlds)}.`;
}

/** Ends of matches that took place are no bad news. */
export const toneOf = ({ type }) => (type === "match_ended" ? "info" : "bad");

const ERRORS = {
  already_queued: "You already wait there.",
  bad_attributes: "That world wants to know more about a player than this page can tell.",
  disconnected: "There is no connection right now. Try again in a moment.",
  draining: "This server is about to stop. Try again in a moment.",
  in_match: "You are in a match. Leave it first.",
  in_proposal: "A match is being made for you. Answer it first.",
  no_such_match: "That match is over.",
  queue_full: "That queue is full. Try again a little later.",
  rate_limited: "That was a bit fast. Try again in a moment.",
  replaced: "You moved to another window in between.",
  timeout: "The server did not answer. Try again.",
  too_many_worlds: "You wait in as many worlds as one may. Leave one first.",
  unauthorized: "The server wants a sign-in that this page does not have.",
  unavailable: "The server cannot reach its memory right now. Try again in a moment.",
  unknown_world: "That world does not exist any more.",
  world_closed: "That world is closed.",
};

/** An error of the protocol or of the client. */
export function errorText(err) {
  const words = ERRORS[err.code] ?? err.message;
  // The server's words name what is missing, which ours cannot.
  return err.code === "bad_attributes" && err.message ? `${words} (${err.message})` : words;
}

const STOPPED = {
  4401: "the server wants a sign-in that this page does not have",
  4408: "the connection was too slow to begin",
  4429: "this page talked too much",
};

const seconds = (ms) => `${Math.max(0, Math.ceil(ms / 1000))} s`;

/**
 * What a player wants to know while there is no connection. `fault` is what was found out: `refused` (the server is there
 * and does not take this page), `away` (it does not answer) or "".
 */
export function offlineText({ fault, retryInMs, keptForMs, hasPlaces, hasMatch, isFirst }) {
  const why = {
    refused: `The server refuses pages of ${location.origin}. Its operator has to list that in the setting origins.`,
    away: isFirst ? "The server does not answer." : "Connection lost: the server does not answer.",
  }[fault] ?? (isFirst ? "No connection yet." : "Connection lost.");
  const kept = hasMatch ? "Your match stands."
    : !hasPlaces ? "" : keptForMs > 0 ? `Your places are kept for ${seconds(keptForMs)}.` : "Your places may be gone.";
  const next = retryInMs > 0 ? `Trying again in ${seconds(retryInMs)}.` : "Trying again now.";
  return [why, kept, next].filter(Boolean).join(" ");
}

/** Why the client gave up. */
export function stoppedText({ code, reason }) {
  return STOPPED[code] ?? (reason || `the server ended the connection${code ? ` (${code})` : ""}`);
}
