/** The open match: its rooms, its players, the time that is left, and what one can do about it. */

import { avatar, copy, el, setText } from "./dom.js";
import { clock, players } from "./words.js";

const COPIED_MS = 2_000;

/**
 * The panel of the match. `actions`: {playAgain, leaveMatch, accept, decline}, each called with the match.
 * @returns an object with `render(match, view)`
 */
export function matchPanel(section, actions) {
  let drawn = null;
  let parts = null;
  return {
    /** view: {you, now, canAct, hasAccepted}; match is null where there is none. */
    render(match, view) {
      section.hidden = !match;
      const key = match && JSON.stringify([match, view.you, view.hasAccepted]);
      if (key !== drawn) {
        parts = match ? draw(section, match, view, actions) : section.replaceChildren();
        drawn = key;
      }
      if (match) tick(parts, match, view);
    },
  };
}

function draw(section, match, view, actions) {
  section.dataset.state = match.state;
  section.dataset.matchId = match.id;
  const left = el("span", { class: "time", "data-field": "time-left" });
  const bar = el("span", { class: "bar-fill" });
  const isProposed = match.state === "proposed";
  const isHeld = isProposed || match.state === "allocating";
  const buttons = isProposed ? readyButtons(match, view, actions) : matchButtons(match, actions, isHeld);
  section.replaceChildren(
    el("div", { class: "match-head" },
      el("div", {}, el("p", { class: "eyebrow" }, match.world), el("h2", { id: "match-title" }, titleOf(match))),
      el("p", { class: "left" }, left, el("span", { class: "left-label" }, isProposed ? "to answer" : "left"))),
    el("div", { class: "bar-track", "aria-hidden": "true" }, bar),
    isHeld ? readyText(match, view) : details(match, view),
    el("div", { class: "actions" }, ...buttons),
  );
  return { left, bar, buttons };
}

function titleOf({ state }) {
  if (state === "proposed") return "Ready?";
  return state === "allocating" ? "Preparing your room…" : "You have a match";
}

function readyText({ state, accepted, size }, { hasAccepted }) {
  if (state === "allocating") return el("p", { class: "ready" }, "Everybody is there. A server is being found for you.");
  const words = hasAccepted ? "You are in. Waiting for the others" : "Everybody has to say yes";
  return el("p", { class: "ready" }, size ? `${words}: ${accepted ?? 0} of ${size} ready.` : `${words}.`);
}

function details(match, { you }) {
  const rooms = Object.entries(match.rooms ?? {}).map(([name, id]) => room(name, id));
  const people = (match.players ?? []).map((player) => person(player, player.id === you));
  return el("div", { class: "match-body" },
    el("div", {},
      el("h3", {}, players(people.length)),
      el("ul", { class: "people" }, ...people)),
    el("div", {},
      el("h3", {}, rooms.length === 1 ? "Your room" : "Your rooms"),
      el("ul", { class: "rooms" }, ...rooms),
      match.endpoint ? el("p", { class: "endpoint" }, "Server: ", el("code", {}, endpointText(match.endpoint))) : ""));
}

/** An endpoint is any JSON: mostly an address. */
function endpointText(endpoint) {
  return typeof endpoint === "string" ? endpoint : JSON.stringify(endpoint);
}

function room(name, id) {
  const label = el("span", {}, "Copy");
  const code = el("code", {}, id);
  const button = el("button", {
    type: "button", class: "ghost small", "aria-label": `Copy the id of room ${name}`, "data-action": "copy",
    onclick: async () => {
      if (!(await copy(id))) {
        getSelection().selectAllChildren(code); // no clipboard here: ready for Ctrl+C
        return;
      }
      setText(label, "Copied");
      setTimeout(() => setText(label, "Copy"), COPIED_MS);
    },
  }, label);
  return el("li", { "data-room": name, "data-room-id": id }, el("span", { class: "room-name" }, name), code, button);
}

function person({ id, team, role }, isYou) {
  const about = [isYou ? "you" : null, role, team === undefined ? null : `team ${team}`].filter(Boolean);
  return el("li", { "data-player": id, "data-you": isYou, class: isYou ? "you" : null },
    avatar(id, isYou),
    el("span", { class: "person-name" }, id),
    about.length ? el("span", { class: "tag" }, about.join(" · ")) : "");
}

function matchButtons(match, { playAgain, leaveMatch }, isHeld) {
  const again = el("button", { type: "button", class: "primary", "data-action": "play-again", onclick: () => playAgain(match) },
    "Play again");
  const leave = el("button", { type: "button", class: "ghost", "data-action": "leave-match", onclick: () => leaveMatch(match) },
    "Leave match");
  return isHeld ? [leave] : [again, leave];
}

function readyButtons(match, { hasAccepted }, { accept, decline }) {
  if (hasAccepted) return [];
  return [
    el("button", { type: "button", class: "primary", "data-action": "accept", onclick: () => accept(match) },
      "I am ready"),
    el("button", { type: "button", class: "ghost", "data-action": "decline", onclick: () => decline(match) },
      "Not now"),
  ];
}

/** What changes by the second. */
function tick({ left, bar, buttons }, match, { now, canAct }) {
  const until = match.state === "proposed" ? match.accept_by ?? match.expires_at : match.expires_at;
  setText(left, until ? clock(until - now) : "");
  const share = until ? (until - now) / Math.max(1, until - match.created_at) : 1;
  bar.style.setProperty("--share", String(Math.min(1, Math.max(0, share))));
  for (const button of buttons) button.disabled = !canAct;
}
