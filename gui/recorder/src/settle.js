// When what an action started has come to rest: timers that were due before the next action, frames, requests.
// Waits for what is there and for nothing else, so a page without timers costs nothing. What re-arms itself
// again and again is not waited for.

import { apply, method } from "./native.js";

const realTimeout = window.setTimeout.bind(window);
const realFrame = window.requestAnimationFrame.bind(window);
const realNow = performance.now.bind(performance);
const Channel = MessageChannel;

const DEEPEST = 3;
/** Running now: how many timers deep. */
let depth = 0;
const timers = new Map();
const frames = new Map();
let requests = 0;
export const tracked = { on: false };

/** Follows timers, frames and requests of a window. */
export function track(win) {
  tracked.on = true;
  const nested = (list, key, call) => function () {
    list.delete(key.id);
    const before = depth;
    depth = key.depth;
    try {
      return typeof call === "function" ? apply(call, this, arguments) : win.eval(String(call));
    } finally {
      depth = before;
    }
  };
  const hook = (name, list, delay) => method(win, name, (original, self, args) => {
    const [call] = args;
    if (typeof call !== "function") return apply(original, self, args);
    const key = { depth: depth + 1, due: realNow() + delay(args) };
    const [, ...rest] = args;
    key.id = apply(original, self, [nested(list, key, call), ...rest]);
    list.set(key.id, key);
    return key.id;
  });
  const cancel = (name, list) => method(win, name, (original, self, args) => { list.delete(args[0]); return apply(original, self, args); });
  hook("setTimeout", timers, (args) => +args[1] || 0);
  cancel("clearTimeout", timers);
  cancel("clearInterval", timers);
  hook("requestAnimationFrame", frames, () => 0);
  cancel("cancelAnimationFrame", frames);
  method(win, "fetch", (original, self, args) => {
    const result = apply(original, self, args);
    requests++;
    const end = () => { realTimeout(() => requests--, 0); };
    result.then(end, end);
    return result;
  });
  method(win.XMLHttpRequest.prototype, "send", (original, self, args) => {
    requests++;
    self.addEventListener("loadend", () => { realTimeout(() => requests--, 0); }, { once: true });
    return apply(original, self, args);
  });
}

/** One turn of the event loop: microtasks and what is already queued. */
const turn = () => new Promise((done) => {
  const { port1, port2 } = new Channel();
  port1.onmessage = () => { port1.close(); done(); };
  port2.postMessage(0);
});
/** Whether a frame is still being loaded. */
function loading() {
  for (const frame of document.querySelectorAll("iframe[src]")) {
    try {
      const inner = frame.contentDocument;
      if (inner && (inner.readyState !== "complete" || (inner.URL === "about:blank" && !/^about:/.test(frame.src)))) return true;
    } catch { /* another origin */ }
  }
  return false;
}
const pause = (ms) => new Promise((done) => realTimeout(done, ms));

/**
 * Waits until nothing is left that would happen within `gap` milliseconds, at most `most`; `over()` ends it early.
 * Without tracking (injected late): a turn, a timer of 0 and a frame.
 */
export async function settle({ gap = 0, most = 250, over = () => false } = {}) {
  await turn();
  if (!tracked.on) {
    await pause(0);
    await new Promise((done) => { realFrame(() => done()); realTimeout(done, 50); });
    await turn();
    return;
  }
  const start = realNow();
  const horizon = start + Math.max(gap, 20);
  for (;;) {
    if (over()) return;
    const now = realNow();
    if (now - start > most) return;
    let next = Infinity;
    for (const key of timers.values()) if (key.depth <= DEEPEST && key.due <= horizon) next = Math.min(next, Math.max(key.due - now, 0));
    let drawn = false;
    for (const key of frames.values()) if (key.depth <= DEEPEST) drawn = true;
    const more = requests || loading();
    if (next === Infinity && !drawn && !more) {
      await turn();
      return;
    }
    if (drawn) await new Promise((done) => { realFrame(() => done()); realTimeout(done, 40); });
    else await pause(Math.min(next, Math.max(most - (now - start), 0), more ? 5 : 1000));
    await turn();
  }
}
