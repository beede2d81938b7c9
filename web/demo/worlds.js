/** The worlds: a card each, with its seats, and the player's place where it waits there. */

import { el, setChildren, setText } from "./dom.js";
import { about, clock, kindOf, players } from "./words.js";

const MOST_SEATS = 12; // more than that says nothing that the number beside it does not

/**
 * The list of cards. `onToggle(world, isQueued)` is called when somebody presses a card's button.
 * @returns an object with `render(worlds, view)`
 */
export function worldList(list, onToggle) {
  const cards = new Map();
  return {
    /** view: {queued, now, canAct, isMatched, isHeld, isBusy(world)} */
    render(worlds, view) {
      const shown = withQueued(worlds, view.queued);
      const nodes = shown.map((world) => {
        if (!cards.has(world.name)) cards.set(world.name, card(world.name, onToggle));
        const { node, update } = cards.get(world.name);
        update(world, view);
        return node;
      });
      setChildren(list, nodes);
    },
  };
}

/** A world that is no longer offered still has a card while the player waits in it. */
function withQueued(worlds, queued) {
  const names = new Set(worlds.map((w) => w.name));
  const missing = queued.filter((q) => !names.has(q.world));
  return [...worlds, ...missing.map((q) => ({ name: q.world, mode: "", waiting: q.queue_size }))];
}

function card(name, onToggle) {
  let isQueued = false;
  const kind = el("p", { class: "kind" });
  const seats = el("div", { class: "seats", "aria-hidden": "true" });
  const count = el("p", { class: "count", "data-field": "waiting" });
  const place = metric("Place", "place");
  const waited = metric("Waited", "waited");
  const estimate = metric("Estimate", "estimate");
  const metrics = el("dl", { class: "metrics", hidden: true }, place.node, waited.node, estimate.node);
  const waitingFor = el("p", { class: "waiting-for", "data-field": "waiting-for" });
  const button = el("button", {
    type: "button",
    onclick: (event) => {
      if (event.detail > 1) return; // the second half of a double click must not undo the first
      if (button.getAttribute("aria-disabled") !== "true") onToggle(name, isQueued);
    },
  });
  const heading = el("h3", {}, name);
  const node = el("li", { class: "world", "data-world": name },
    el("div", { class: "world-head" }, el("div", {}, heading, kind), button),
    el("div", { class: "world-body" }, el("div", { class: "world-room" }, seats, count, waitingFor), metrics));

  function update(world, view) {
    const entry = view.queued.find((q) => q.world === name);
    isQueued = Boolean(entry);
    node.classList.toggle("queued", isQueued);
    setText(kind, kindOf(world));
    const waiting = entry ? Math.max(1, entry.queue_size ?? 0) : world.waiting ?? 0;
    setText(count, waiting === 0 ? "nobody waiting" : `${players(waiting)} waiting`);
    drawSeats(seats, world, waiting, entry?.position);
    // A match that is not complete yet has taken the ticket out of its queue: there is no place to show.
    metrics.hidden = !entry || view.isHeld;
    seats.hidden = Boolean(entry) && view.isHeld;
    if (entry) {
      setText(place.value, String(entry.position));
      setText(place.more, ` of ${waiting}`);
      setText(waited.value, clock(view.now - entry.enqueued_at));
      setText(estimate.value, about(entry.estimated_wait_ms));
    }
    const text = !entry ? "" : view.isHeld ? "Your place is kept until the match is decided"
      : entry.waiting_for?.text ? `Waiting for ${entry.waiting_for.text}` : "";
    setText(waitingFor, text);
    count.hidden = Boolean(text); // the place tells it too, and one line is calmer than two
    updateButton(view);
  }

  function updateButton(view) {
    const isBusy = view.isBusy(name);
    button.dataset.action = isQueued ? "leave" : "join";
    button.className = isQueued ? "ghost" : "primary";
    setText(button, isQueued ? "Leave" : "Join");
    button.setAttribute("aria-label", `${isQueued ? "Leave" : "Join"} ${name}`);
    // Not `disabled`: that would take the focus away from whoever pressed it.
    button.setAttribute("aria-disabled", String(isBusy || !view.canAct || view.isMatched));
    button.classList.toggle("busy", isBusy);
  }

  return { node, update };
}

function metric(label, field) {
  const value = el("span", { "data-field": field });
  const more = el("span", { class: "more" });
  return { node: el("div", {}, el("dt", {}, label), el("dd", {}, value, more)), value, more };
}

/**
 * The seats of one match as dots: those of the group that the player would be in by its place, else of
 * the head of the queue. Taken ones are filled, the player's own has the colour that is always "you".
 */
function drawSeats(node, { mode, size }, waiting, position) {
  const total = Math.min(MOST_SEATS, size ?? (mode === "duel" ? 2 : 0));
  const ahead = position && total ? Math.floor((position - 1) / total) * total : 0;
  const dots = Array.from({ length: total }, (_, i) => node.children[i] ?? el("i"));
  dots.forEach((dot, i) => {
    dot.className = ahead + i + 1 === position ? "seat you" : i < waiting - ahead ? "seat taken" : "seat";
  });
  setChildren(node, dots);
}
