// When what an action started has come to rest: timers that were due before the next action, frames, requests, and
// what the browser does beside the page: files that are read, pictures, databases, keys, answers of workers.
// Waits for what is there and for nothing else. Time itself is not waited for: it is moved on to the next timer that is
// due, and animations to their end, so a pause of a minute costs nothing, and how fast the machine is does not matter.

import { accessor, apply, listen, method } from "./native.js";
import { advance, elapsed, performed } from "./world.js";

const realTimeout = window.setTimeout.bind(window);
const realClear = window.clearTimeout.bind(window);
const realFrame = window.requestAnimationFrame.bind(window);
const realNow = performance.now.bind(performance);
const Channel = MessageChannel;

/** What re-arms itself deeper than this goes on for ever, perhaps: so many turns it has before the next action. */
const DEEPEST = 3;
const MOST_TURNS = 200;
const MOST_FRAMES = 8;
const MOST_AWAITED = 24;
/** Running now: how many timers deep. */
let depth = 0;
/** Timers that are armed, in the order in which they were. */
const timers = new Set();
const frames = new Set();
/** Under way: requests, which a server may never answer; and what the browser ends by itself, whatever the load. */
const open = { requests: 0, promised: 0 };
const LONGEST = 10000;
const then = Promise.prototype.then;
const ANSWER_OF_WORKER = 150;
export const tracked = { on: false };

/** Methods that give a promise, and methods that give, or are called on, what tells of its end by an event. */
const PROMISES = {
  Blob: ["text", "arrayBuffer", "bytes"], HTMLImageElement: ["decode"],
  SubtleCrypto: ["digest", "encrypt", "decrypt", "sign", "verify", "importKey", "exportKey", "deriveKey", "deriveBits", "generateKey"],
  Clipboard: ["read", "readText", "write", "writeText"], FileSystemFileHandle: ["getFile"],
};
const BODIES = ["text", "json", "arrayBuffer", "blob", "formData", "bytes"];
const EVENTS = {
  FileReader: [["readAsText", "readAsArrayBuffer", "readAsDataURL", "readAsBinaryString"], ["loadend"]],
  IDBDatabase: [["transaction"], ["complete", "abort"]],
  IDBFactory: [["open", "deleteDatabase"], ["success", "error", "blocked"]],
  IDBObjectStore: [["get", "getAll", "getKey", "getAllKeys", "count", "put", "add", "delete", "clear", "openCursor", "openKeyCursor"], ["success", "error"]],
  IDBIndex: [["get", "getAll", "getKey", "getAllKeys", "count", "openCursor", "openKeyCursor"], ["success", "error"]],
};

/** Follows timers, frames and requests of a window. */
export function track(win) {
  tracked.on = true;
  timersOf(win);
  const known = new Map();
  method(win, "requestAnimationFrame", (original, self, args) => {
    const [call] = args;
    if (typeof call !== "function") return apply(original, self, args);
    const frame = { depth: depth + 1 };
    const id = apply(original, self, [() => {
      known.delete(id);
      frames.delete(frame);
      inside(frame, () => apply(call, win, [performed()]));
    }]);
    known.set(id, frame);
    frames.add(frame);
    return id;
  });
  method(win, "cancelAnimationFrame", (original, self, args) => {
    frames.delete(known.get(args[0]));
    return apply(original, self, args);
  });
  beside(win);
  if (win === window) watchLeaving(win.navigation);
}

/** The document is going: what comes next is another player's, in the next one. */
let leaving = false;
const SLOWEST = 15000;

/** Not all browsers tell. */
function watchLeaving(navigation) {
  if (!navigation) return;
  apply(listen, navigation, ["navigate", ({ destination, downloadRequest }) => { leaving = !destination.sameDocument && downloadRequest === null; }]);
  // A page that stays has prevented it, or made something else of it.
  for (const type of ["navigatesuccess", "navigateerror"]) apply(listen, navigation, [type, () => { leaving = false; }]);
}

function inside(entry, call) {
  const before = depth;
  depth = entry.depth;
  try {
    return call();
  } finally {
    depth = before;
  }
}

/** Timers run when they are due, or as soon as the recorded time has been moved on to then: whichever is first. */
function timersOf(win) {
  const known = new Map();
  const { setTimeout: arm, clearTimeout: disarm } = win;
  const hook = (name, again) => method(win, name, (original, self, args) => {
    const [call, wait, ...rest] = args;
    if (typeof call !== "function") return apply(original, self, args);
    const delay = Math.max(+wait || 0, again ? 4 : 0);
    const timer = { depth: depth + 1, due: elapsed() + delay, run };
    const real = () => { timer.real = apply(arm, win, [run, Math.max(timer.due - elapsed(), 0)]); };
    function run() {
      apply(disarm, win, [timer.real]);
      timers.delete(timer);
      if (win.closed) return;
      if (again) {
        timer.depth++;
        timer.due = Math.max(timer.due + delay, elapsed());
        timers.add(timer);
        real();
      } else known.delete(timer.id);
      inside(timer, () => apply(call, win, rest));
    }
    timers.add(timer);
    real();
    timer.id = timer.real;
    known.set(timer.id, timer);
    return timer.id;
  });
  const cancel = (name) => method(win, name, (original, self, args) => {
    const timer = known.get(+args[0]);
    if (!timer) return apply(original, self, args);
    known.delete(timer.id);
    timers.delete(timer);
    apply(disarm, win, [timer.real]);
    return undefined;
  });
  hook("setTimeout", false);
  hook("setInterval", true);
  cancel("clearTimeout");
  cancel("clearInterval");
}

/** One more is under way from now on; what is given back ends it, a turn later and once. */
function begin(kind) {
  let over = false;
  open[kind]++;
  return () => {
    if (over) return;
    over = true;
    realTimeout(() => open[kind]--, 0);
  };
}

function until(target, types, end) {
  for (const type of types) apply(listen, target, [type, end, { once: true }]);
}

/** A hook for a method that gives a promise. */
const promise = (kind) => (original, self, args) => {
  const result = apply(original, self, args);
  const end = begin(kind);
  apply(then, result, [end, end]);
  return result;
};

/** Counts what a window asks of the browser beside the page, and of the network. */
function beside(win) {
  for (const [holder, keys] of Object.entries(PROMISES)) for (const key of keys) method(win[holder]?.prototype, key, promise("promised"));
  method(win, "createImageBitmap", promise("promised"));
  method(win, "fetch", promise("requests"));
  for (const key of BODIES) method(win.Response?.prototype, key, promise("requests"));
  for (const [holder, [keys, types]] of Object.entries(EVENTS)) {
    for (const key of keys) {
      method(win[holder]?.prototype, key, (original, self, args) => {
        const result = apply(original, self, args);
        until(result || self, types, begin("promised"));
        return result;
      });
    }
  }
  accessor(win.HTMLImageElement?.prototype, "src", (get, self) => apply(get, self, []), (set, self, value) => {
    apply(set, self, [value]);
    if (!self.complete && self.loading !== "lazy") until(self, ["load", "error"], begin("requests"));
  });
  method(win.XMLHttpRequest.prototype, "send", (original, self, args) => {
    const end = begin("requests");
    until(self, ["loadend"], end);
    try {
      return apply(original, self, args);
    } catch (refused) {
      end();
      throw refused;
    }
  });
  method(win.Worker?.prototype, "postMessage", (original, self, args) => {
    apply(original, self, args);
    const end = begin("promised");
    until(self, ["message", "messageerror", "error"], end);
    // A worker need not answer.
    realTimeout(end, ANSWER_OF_WORKER);
  });
}

/** One turn of the event loop: microtasks and what is already queued; then `task`, as one of the page's own. */
const turn = (task) => new Promise((done) => {
  const { port1, port2 } = new Channel();
  port1.onmessage = () => {
    port1.close();
    done();
    task?.();
  };
  port2.postMessage(0);
});
/** Two turns: what the page put off in the first one is done in the second. */
export async function rest() {
  await turn();
  await turn();
}
/** Whether a frame is still being loaded. */
function loading() {
  for (const frame of document.querySelectorAll("iframe[src],iframe[srcdoc]")) {
    try {
      const inner = frame.contentDocument;
      if (inner && (inner.readyState !== "complete" || (inner.URL === "about:blank" && (frame.hasAttribute("srcdoc") || !/^about:/.test(frame.src))))) return true;
    } catch { /* another origin */ }
  }
  return false;
}
const pause = (ms) => new Promise((done) => realTimeout(done, ms));
/** The next frame. A busy machine may take its time; a page that is not shown has none, and is not waited for again. */
let patience = 1000;
const frame = () => new Promise((done) => {
  const late = realTimeout(() => { patience = 40; done(); }, patience);
  realFrame(() => { realClear(late); patience = 1000; done(); });
});

/** Ends the animations of style sheets and scripts that would have ended within so many milliseconds. */
function endAnimations(within) {
  let ended = false;
  for (const animation of document.getAnimations?.() || []) {
    try {
      const { endTime, localTime, activeDuration } = animation.effect.getComputedTiming();
      if (animation.playState !== "running" || !Number.isFinite(endTime) || !activeDuration || endTime - localTime > within) continue;
      animation.finish();
      ended = true;
    } catch { /* it has no end */ }
  }
  return ended;
}

/**
 * Lets `gap` milliseconds of the recording's time go by, with all that happens in them; `over()` ends it early. What is
 * no matter of time is waited for, `most` milliseconds if a server has to answer.
 * Without tracking (injected late): a turn, a timer of 0 and a frame.
 */
export async function settle({ gap = 0, most = 250, over = () => false } = {}) {
  await rest();
  if (!tracked.on) {
    await pause(0);
    await frame();
    await turn();
    return;
  }
  const start = realNow();
  const horizon = elapsed() + Math.max(gap, 20);
  let turns = 0, drawn = 0, awaited = 0, halfway = false;
  while (leaving || !over()) {
    if (leaving || open.promised || open.requests || loading()) {
      if (realNow() - start > (leaving ? SLOWEST : open.promised ? LONGEST : most)) return;
      await pause(2);
      await turn();
      continue;
    }
    if (awaited < MOST_AWAITED && [...frames].some((entry) => entry.depth <= DEEPEST)) {
      awaited++;
      await frame();
      await turn();
      continue;
    }
    let next = null;
    for (const timer of timers) if (timer.due <= horizon && (!next || timer.due < next.due)) next = timer;
    if (next && next.depth > DEEPEST && ++turns > MOST_TURNS) next = null;
    const to = next ? next.due : horizon;
    // An animation that a script makes goes by frames: one half of the way to what comes next, one at the end.
    if (frames.size && to - elapsed() > 20 && !halfway && (drawn < MOST_FRAMES || !next)) {
      halfway = true;
      drawn++;
      advance(elapsed() + (to - elapsed()) / 2);
      await frame();
      await turn();
      continue;
    }
    if (endAnimations(next ? to - elapsed() : Math.max(gap, 20))) {
      await frame();
      await turn();
      continue;
    }
    advance(to);
    if (next) {
      halfway = false;
      await turn(next.run);
    } else if (frames.size && halfway) {
      halfway = false;
      await frame();
    } else return turn();
    await turn();
  }
}
