/** How the connection is: the small sign at the top, and the line above the worlds while there is none. */

import { byId, setText } from "./dom.js";
import { offlineText, stoppedText } from "./words.js";

const CLOSE_REPLACED = 4409;
const PROBE_MS = 4_000;

/** The player plays in another window now. */
export function isReplaced({ state, code }) {
  return state === "stopped" && code === CLOSE_REPLACED;
}

/**
 * The signs of the connection. `changed` is called when there is something new to render.
 * @returns an object with `welcomed(m)`, `changed(connection)`, `forget()` and `render(connection, view)`
 */
export function connectionLine(changed) {
  let lost = {}; // since when there is no connection (`at`), and why (`fault`)
  let graceMs = 0;
  let isFirst = true;

  /** A browser does not tell a page why a WebSocket failed. A request that needs the same permission does. */
  async function findFault() {
    const mine = lost;
    try {
      const { status } = await fetch("/v1/matching/leave", { method: "POST", body: "{}", signal: AbortSignal.timeout(PROBE_MS) });
      mine.fault = status === 403 ? "refused" : "";
    } catch {
      mine.fault = "away";
    }
    changed();
  }

  return {
    welcomed({ reconnect_grace_ms: ms }) { graceMs = ms ?? 0; },
    changed({ state }) {
      if (state === "online") {
        lost = {};
        isFirst = false;
      } else if (state === "waiting") {
        lost.at ??= Date.now();
        findFault();
      }
    },
    /** Another player begins with no past. */
    forget() {
      lost = {};
      isFirst = true;
    },
    /** view: {you, queued, match} */
    render(connection, { you, queued, match }) {
      const { state, instance, retryAt } = connection;
      const isElsewhere = isReplaced(connection);
      byId("connection").dataset.state = isElsewhere ? "replaced" : state;
      setText(byId("connection-text"), isElsewhere ? "Playing in another window" : {
        idle: "Not connected",
        connecting: "Connecting…",
        online: `Connected to ${instance}`,
        waiting: "Reconnecting…",
        stopped: "Disconnected",
      }[state]);
      byId("replaced").hidden = !isElsewhere;
      setText(byId("replaced-text"), `${you} moved there, with its place in every queue.`);
      const isStopped = state === "stopped" && !isElsewhere;
      const isTrying = state === "waiting" || (state === "connecting" && lost.at); // or it would blink
      const section = byId("offline");
      const hadFocus = section.contains(document.activeElement);
      section.hidden = !(isStopped || isTrying);
      if (hadFocus && section.hidden) byId("main").focus({ preventScroll: true });
      setText(byId("offline-text"), isStopped ? `Disconnected: ${stoppedText(connection)}.` : offlineText({
        fault: lost.fault, isFirst, retryInMs: retryAt - Date.now(), keptForMs: lost.at + graceMs - Date.now(),
        hasPlaces: queued.length > 0, hasMatch: Boolean(match),
      }));
      setText(byId("offline-action"), isStopped ? "Connect again" : "Try now");
    },
  };
}
