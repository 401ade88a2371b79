// What the page cannot change any more: the functions that the recorder itself calls, taken before any
// script of the page can patch them, and the way to put a hook in place of one so that nobody notices.
// Refuses to know what is recorded.

export const apply = Reflect.apply;
const construct = Reflect.construct;
const describe = Object.getOwnPropertyDescriptor;
const define = Reflect.defineProperty;
export const now = performance.now.bind(performance);
export const dateNow = Date.now;
export const later = setTimeout.bind(window);
export const stringify = JSON.stringify;
export const parse = JSON.parse;
export const listen = EventTarget.prototype.addEventListener;
const unlisten = EventTarget.prototype.removeEventListener;

/** Gives a map or a set its methods as its own: what the page does to their prototypes is of no concern then. */
export function own(map) {
  const prototype = Object.getPrototypeOf(map);
  for (const key of ["get", "set", "has", "add", "delete"]) map[key] = prototype[key];
  return map;
}

/** Hook → what it stands in front of: what `toString` shows, and what getters give back. */
const behind = own(new WeakMap());
export const unhooked = (f) => behind.get(f) || f;

/** Names of functions that the page had frozen or locked. */
export const gaps = own(new Set());

/** Makes `hook` look like `original`: name, length, text. */
export function disguise(hook, original) {
  behind.set(hook, original);
  for (const key of ["name", "length"]) {
    const own = describe(original, key);
    if (own) define(hook, key, own);
  }
  return hook;
}

function place(holder, key, changed) {
  const done = define(holder, key, changed);
  if (!done) gaps.add("frozen:" + key);
  return done;
}

/** Puts a hook in place of a method, if it can: `call(original, self, args)`. It is a method itself: not for `new`. */
export function method(holder, key, call) {
  const was = holder && describe(holder, key);
  const original = was && was.value;
  if (typeof original !== "function") return false;
  const hook = { [key]() { return call(original, this, arguments); } }[key];
  return place(holder, key, { ...was, value: disguise(hook, original) });
}

/** Puts hooks in place of a getter, `read(get, self)`, and of a setter, `write(set, self, value)`. */
export function accessor(holder, key, read, write) {
  const was = holder && describe(holder, key);
  if (!was || !was.get) return;
  const { get, set } = was;
  const made = describe({ get x() { return read(get, this); }, set x(value) { write(set, this, value); } }, "x");
  place(holder, key, { ...was, get: disguise(made.get, get), set: write && set ? disguise(made.set, set) : set });
}

/** Puts a proxy in place of a constructor; `made(object, args)` sees what it makes and may give another. */
export function constructor(holder, key, made, called) {
  const was = holder && describe(holder, key);
  if (!was || typeof was.value !== "function") return;
  const original = was.value;
  const handler = {
    construct: (target, args, fresh) => made(construct(target, args, fresh === proxy ? target : fresh), args),
  };
  if (called) handler.apply = (target, self, args) => called(apply(target, self, args));
  const proxy = new Proxy(original, handler);
  behind.set(proxy, original);
  if (place(holder, key, { ...was, value: proxy })) place(original.prototype, "constructor", { ...describe(original.prototype, "constructor"), value: proxy });
}

const watchers = own(new WeakMap());

/**
 * Listens on a window, once for each type however often it is called: a frame's first empty document and the next
 * one may share the window, and with it the listeners, or not.
 */
export function watch(win, type, listener, options = true) {
  let known = watchers.get(win);
  if (!known) watchers.set(win, (known = {}));
  const args = [type, (known[type] ||= listener), options];
  // Chromium keeps the listeners of a shared window, but calls them only after one has been added again.
  apply(unlisten, win, args);
  apply(listen, win, args);
}

/** Whether a realm has our hooks: a frame's first empty document and the next one may share it. */
export const isHooked = (win) => behind.has(win.Function.prototype.toString);

/** Hooks answer `toString` as what they stand for. One realm at a time. */
export function hideIn(win) {
  method(win.Function.prototype, "toString", (original, self, args) => apply(original, typeof self === "function" ? unhooked(self) : self, args));
}
