// When what an action started has come to rest: timers that were due before the next action, frames, requests, and
// what the browser does beside the page: files that are read, pictures, databases, keys, answers of workers.
// Waits for what is there and for nothing else, so a page without timers costs nothing. What re-arms itself
// again and again is not waited for.

import { accessor, apply, listen, method } from "./native.js";

const realTimeout = window.setTimeout.bind(window);
const realFrame = window.requestAnimationFrame.bind(window);
const realNow = performance.now.bind(performance);
const Channel = MessageChannel;

const DEEPEST = 3;
/** Running now: how many timers deep. */
let depth = 0;
const timers = new Map();
const frames = new Map();
/** Under way: requests, which a server may never answer; and what the browser ends by itself, whatever the load. */
const open = { requests: 0, promised: 0 };
const LONGEST = 3000;
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
  IDBFactory: [["open", "deleteDatabase"], ["success", "error", "blocked"]],
  IDBObjectStore: [["get", "getAll", "getKey", "getAllKeys", "count", "put", "add", "delete", "clear", "openCursor", "openKeyCursor"], ["success", "error"]],
  IDBIndex: [["get", "getAll", "getKey", "getAllKeys", "count", "openCursor", "openKeyCursor"], ["success", "error"]],
};

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
  beside(win);
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
    if (now - start > (open.promised ? LONGEST : most)) return;
    let next = Infinity;
    for (const key of timers.values()) if (key.depth <= DEEPEST && key.due <= horizon) next = Math.min(next, Math.max(key.due - now, 0));
    let drawn = false;
    for (const key of frames.values()) if (key.depth <= DEEPEST) drawn = true;
    const more = open.promised || open.requests || loading();
    if (next === Infinity && !drawn && !more) {
      await turn();
      return;
    }
    if (drawn) await new Promise((done) => { realFrame(() => done()); realTimeout(done, 40); });
    else await pause(Math.max(Math.min(next, most - (now - start), more ? 2 : 1000), 0));
    await turn();
  }
}
