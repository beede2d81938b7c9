/** The few things that this page wants from the DOM. Text goes in as text only: nothing is parsed as HTML. */

export const byId = (id) => document.getElementById(id);

/**
 * An element. In `attributes`, `on<event>` is a listener, a boolean switches a bare attribute, null and
 * undefined are left out. Children are nodes or strings.
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Sets a text if it is another one, so that nothing flickers and no screen reader is woken for nothing. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Makes the children of `parent` the given nodes, in this order, moving as few as it can. */
export function setChildren(parent, nodes) {
  const keep = new Set(nodes);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  nodes.forEach((node, i) => {
    if (parent.children[i] !== node) parent.insertBefore(node, parent.children[i] ?? null);
  });
}

/** The mark of a player: initials on a colour of its own, the same on every screen. Not for screen readers. */
export function avatar(player, isYou = false) {
  const node = el("span", { class: "avatar", "aria-hidden": "true" });
  paintAvatar(node, player);
  node.classList.toggle("you", isYou);
  return node;
}

/** Makes an existing mark that of `player`. */
export function paintAvatar(node, player) {
  const parts = player.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const initials = parts.length > 1 ? parts[0][0] + parts[1][0] : player.slice(0, 2);
  setText(node, initials.toUpperCase());
  let hash = 2166136261;
  for (const char of player) hash = Math.imul(hash ^ char.codePointAt(0), 16777619);
  node.style.setProperty("--hue", String((hash >>> 8) % 360));
}

/** Puts a text on the clipboard. False where the browser does not allow it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
