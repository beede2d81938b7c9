/** Lines of news that stay until they are dismissed; what was dismissed stays so over a reload. */

import { el, setChildren } from "./dom.js";
import { read, write } from "./identity.js";

const KEY = "muster.dismissed";
const REMEMBERED = 32; // the server repeats 8 at most

/** @returns {{add, fail, clearErrors, forget}} the list of news in `section` */
export function noticeList(section, list, clearButton) {
  const lines = new Map(); // key -> node
  let dismissed = JSON.parse(read(KEY) ?? "[]");

  function show() {
    section.hidden = lines.size === 0;
    clearButton.hidden = lines.size < 2;
    setChildren(list, [...lines.values()].reverse());
  }

  function dismiss(keys) {
    for (const key of keys) lines.delete(key);
    dismissed = [...dismissed, ...keys].slice(-REMEMBERED);
    write(KEY, JSON.stringify(dismissed));
    show();
  }

  function put(key, text, tone) {
    const node = el("li", { class: `notice ${tone}`, "data-notice": tone }, el("p", {}, text),
      el("button", { type: "button", class: "close", "aria-label": `Dismiss: ${text}`, onclick: () => dismiss([key]) }));
    lines.delete(key); // a repeated one moves to the top
    lines.set(key, node);
    show();
  }

  clearButton.addEventListener("click", () => dismiss([...lines.keys()]));

  return {
    /** Shows a notice of the server, unless it was dismissed, in the place of others. True where it was news. */
    add(id, text, tone, instead = []) {
      if (dismissed.includes(id) || lines.has(id)) return false;
      if (instead.length) dismiss(instead);
      put(id, text, tone);
      return true;
    },
    /** Shows what went wrong with something that was just tried. */
    fail(text) { put("error", text, "error"); },
    /** Takes back the last error: something worked since. */
    clearErrors() {
      if (lines.delete("error")) show();
    },
    /** Another player begins with a clean list. */
    forget() {
      lines.clear();
      dismissed = [];
      write(KEY, "[]");
      show();
    },
  };
}
