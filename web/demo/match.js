/** The open match: its rooms, its players, the time that is left, and what one can do about it. */

import { avatar, byId, copy, el, setText } from "./dom.js";
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
      const key = match && JSON.stringify([match, view.you, view.hasAccepted]);
      if (key !== drawn) {
        const opens = Boolean(match) && section.hidden;
        const focused = focusedIn(section);
        section.hidden = !match;
        parts = match ? draw(section, match, view, actions) : section.replaceChildren();
        drawn = key;
        keepFocus(section, focused, opens);
      }
      if (match) tick(parts, match, view);
    },
  };
}

/** What has the focus within the panel, as a selector; null where the focus is elsewhere. */
function focusedIn(section) {
  const { activeElement } = document;
  if (!section.contains(activeElement)) return null;
  const action = activeElement.dataset.action;
  return action ? `[data-action="${action}"]` : "";
}

/**
 * The panel takes the focus when it opens, so that Enter answers it and nothing else. What is drawn anew gets its focus
 * back; where that is gone the panel has it, and where the panel is gone, the page.
 */
function keepFocus(section, focused, opens) {
  if (focused === null && !opens) return;
  const target = section.hidden ? byId("main") : (focused && section.querySelector(focused)) || section;
  target.focus({ preventScroll: true });
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
  const entries = Object.entries(match.rooms ?? {});
  const rooms = entries.map(([name, id]) => room(name, id, entries.length > 1));
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

/** A room. The button below the match copies the id of the first: one room needs none of its own. */
function room(name, id, hasButton) {
  const label = el("span", {}, "Copy");
  const code = el("code", {}, id);
  const button = el("button", {
    type: "button", class: "ghost small", "aria-label": `Copy the id of room ${name}`, "data-action": `copy-${name}`,
    onclick: () => copyInto(label, id, code),
  }, label);
  return el("li", { "data-room": name, "data-room-id": id }, el("span", { class: "room-name" }, name), code, hasButton ? button : "");
}

/** Copies a room's id and says so on the button's label for a moment. */
async function copyInto(label, id, code) {
  if (!(await copy(id))) {
    getSelection().selectAllChildren(code); // no clipboard here: ready for Ctrl+C
    return;
  }
  const before = label.textContent;
  if (before === "Copied") return;
  setText(label, "Copied");
  setTimeout(() => setText(label, before), COPIED_MS);
}

function person({ id, team, role }, isYou) {
  const about = [isYou ? "you" : null, role, team === undefined ? null : `team ${team}`].filter(Boolean);
  return el("li", { "data-player": id, "data-you": isYou, class: isYou ? "you" : null },
    avatar(id, isYou),
    el("span", { class: "person-name" }, id),
    about.length ? el("span", { class: "tag" }, about.join(" · ")) : "");
}

function matchButtons(match, { playAgain, leaveMatch }, isHeld) {
  const leave = action("ghost", "leave-match", "Leave match", () => leaveMatch(match));
  if (isHeld) return [leave];
  const again = action("ghost", "play-again", "Play again", () => playAgain(match));
  const id = Object.values(match.rooms ?? {})[0];
  if (!id) return [again, leave];
  const label = el("span", {}, "Copy room id");
  const copyRoom = action("primary", "copy", label, () => copyInto(label, id, document.querySelector(`[data-room-id="${id}"] code`)));
  copyRoom.dataset.offline = "";
  return [copyRoom, again, leave];
}

function readyButtons(match, { hasAccepted }, { accept, decline }) {
  if (hasAccepted) return [];
  return [
    action("primary", "accept", "I am ready", () => accept(match)),
    action("ghost", "decline", "Not now (leaves all queues)", () => decline(match)),
  ];
}

/** A button that keeps the focus while it cannot be used: `disabled` would take it away. */
function action(look, name, label, run) {
  const button = el("button", { type: "button", class: look, "data-action": name,
    onclick: () => { if (button.getAttribute("aria-disabled") !== "true") run(); } }, label);
  return button;
}

/** What changes by the second. */
function tick({ left, bar, buttons }, match, { now, canAct }) {
  const until = match.state === "proposed" ? match.accept_by ?? match.expires_at : match.expires_at;
  setText(left, until ? clock(until - now) : "");
  const share = until ? (until - now) / Math.max(1, until - match.created_at) : 1;
  bar.style.setProperty("--share", String(Math.min(1, Math.max(0, share))));
  for (const button of buttons) {
    if (!("offline" in button.dataset)) button.setAttribute("aria-disabled", String(!canAct));
  }
}
