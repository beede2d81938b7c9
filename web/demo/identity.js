/**
 * Who plays in this tab. The id lives in sessionStorage, so a reload stays the same player, and is held
 * by a Web Lock, so a duplicated tab, which gets a copy of sessionStorage, finds it taken and becomes
 * another player. Where the browser has no locks (plain http beyond localhost), the id alone has to do.
 */

const KEY = "muster.player";
const RELOAD_MS = 1_000; // how long the page before a reload may take to let its lock go
const ID = /^[A-Za-z0-9._:@-]{1,64}$/;

const MOODS = ("brave calm clever cosy daring eager fancy gentle glad golden happy humble jolly keen kind "
  + "lively lucky mellow merry mighty misty noble patient plucky proud quick quiet rapid rosy shy silver "
  + "sleepy smart snowy sunny swift tidy tiny warm wild witty zesty").split(" ");
const ANIMALS = ("badger bear beaver bison crane deer dove eagle ermine falcon ferret finch fox gecko goose "
  + "hare hawk heron ibex jay koala lark lemur lion lynx magpie marten mole moose newt otter owl panda "
  + "puffin quail raven robin seal stork swan tapir tiger toad vole walrus wolf wren yak").split(" ");

let release = () => {};

/** Whether an id is one that the server takes. */
export const isValid = (id) => ID.test(id);

/** A friendly id such as `brave-otter-42`. */
export function generate() {
  const [mood, animal, number] = crypto.getRandomValues(new Uint32Array(3));
  return `${MOODS[mood % MOODS.length]}-${ANIMALS[animal % ANIMALS.length]}-${10 + (number % 90)}`;
}

/** The player of this tab: the one from before a reload, or a new one. `isNew` tells which. */
export async function resume() {
  const before = read(KEY);
  if (before && isValid(before) && (await hold(before, { signal: AbortSignal.timeout(RELOAD_MS) }))) {
    return { id: before, isNew: false };
  }
  const id = generate();
  await claim(id);
  return { id, isNew: true };
}

/** Makes this tab the player `id`, even where another tab is it: the newest wins, as on the server. */
export async function claim(id) {
  write(KEY, id);
  await hold(id, { steal: true });
}

/** Takes the lock of a player and gives back the one held before. False where the lock was not free in time. */
function hold(id, options) {
  release();
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((held) => {
    const untilReleased = () => new Promise((resolve) => {
      release = resolve;
      held(true);
    });
    // Rejected when the wait is over, and later when another tab takes the lock: nothing to do then.
    navigator.locks.request(`muster.player ${id}`, options, untilReleased).catch(() => held(false));
  });
}

/** A value that this tab keeps over a reload; null where there is none or the browser keeps nothing. */
export function read(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a value over a reload, where the browser lets it. */
export function write(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // Storage is off: the page works, and a reload is a new player.
  }
}
