// Listener calls, however they were registered: addEventListener, on… properties, inline attributes. Each call
// is counted for the user action that is current. The page sees its own functions only: what it removes, reads
// back or compares is what it gave.

import { accessor, apply, disguise, method, own, unhooked } from "./native.js";
import { current, state } from "./state.js";
import { idFor } from "./widgets.js";
import { marked } from "./privacy.js";

const MOST_CALLS = 64;

/** Listener as the page gave it → what is registered in its place; one for all targets and types. */
const wrappers = own(new WeakMap());
/** Target → event type → wrappers in the order of registration: what numbers a listener. */
const places = own(new WeakMap());
/** For `graph()`: every widget that ever had a listener, and how often each was called. */
export const registered = own(new Set());

/** The call that runs now: where reads go. */
export let running = null;
/** Called before a listener for an event of which nobody knows yet whether anyone listens to it. */
export const heard = {};

const QUIET = /^(wheel|mousewheel)$/;
const HOVER = /^(mouse|pointer)(over|enter)$/;

function call(wrapper, how, self, args, listener) {
  const event = args[0];
  const outer = running;
  if (state.on && event && event.currentTarget) {
    try {
      if (event.isTrusted) {
        if (QUIET.test(event.type)) heard.wheel(event);
        else if (HOVER.test(event.type)) heard.hover(event);
      }
      running = note(wrapper, how, event.currentTarget, event.type);
    } catch { running = null; /* a mistake of ours must not become one of the page */ }
  }
  try {
    return apply(listener, self, args);
  } finally {
    running = outer;
  }
}

/** Last record of a wrapper: most calls are the same listener on the same widget by the same action. */
const last = own(new WeakMap());

function note(wrapper, how, target, type) {
  const memo = last.get(wrapper);
  if (memo && memo.action === current && memo.target === target && memo.type === type) {
    memo.record.count++;
    return memo.record;
  }
  const id = listenerId(wrapper, target, type);
  let record = current.calls.find((call) => call.listener === id);
  if (record) record.count++;
  else {
    record = { listener: id, event: type, how, count: 1, reads: [] };
    if (target.nodeType === 1 && marked(target) === "ignore") return record;
    if (current.calls.length < MOST_CALLS) current.calls.push(record);
    else current.more_calls = (current.more_calls || 0) + 1;
  }
  last.set(wrapper, { action: current, target, type, record });
  return record;
}

function listenerId(wrapper, target, type) {
  const at = places.get(target)?.get(type)?.indexOf(wrapper) ?? 0;
  return type + "@" + idFor(target) + (at > 0 ? "~" + (at + 1) : "");
}

function register(target, type, wrapper) {
  try {
    enter(target, type, wrapper);
  } catch { /* as above */ }
}

function enter(target, type, wrapper) {
  let types = places.get(target);
  if (!types) {
    places.set(target, (types = own(new Map())));
    if (target.nodeType === 1) registered.add(new WeakRef(target));
  }
  let list = types.get(type);
  if (!list) types.set(type, (list = []));
  if (list.includes(wrapper)) return;
  const free = list.indexOf(null);
  if (free < 0) list.push(wrapper);
  else list[free] = wrapper;
}

function unregister(target, type, wrapper) {
  const list = places.get(target)?.get(type);
  const at = list ? list.indexOf(wrapper) : -1;
  if (at >= 0) list[at] = null;
}

/** Types of the listeners of a widget, with how they were registered. */
export function listenersOf(target) {
  const found = [];
  for (const [type, list] of places.get(target) || []) {
    list.forEach((wrapper, i) => {
      if (wrapper) found.push({ id: listenerId(wrapper, target, type), event: type, how: hows.get(wrapper) });
    });
  }
  return found;
}

const hows = own(new WeakMap());

function wrapperOf(listener, how) {
  const isObject = typeof listener === "object";
  if (!listener || (!isObject && typeof listener !== "function")) return null;
  let wrapper = wrappers.get(listener);
  if (!wrapper) {
    wrapper = isObject
      ? function () {
          const handle = listener.handleEvent;
          return call(wrapper, how, listener, arguments, typeof handle === "function" ? handle : () => { throw new TypeError("EventListener.handleEvent is not a function"); });
        }
      : function () { return call(wrapper, how, this, arguments, listener); };
    if (!isObject) disguise(wrapper, listener);
    hows.set(wrapper, how);
    wrappers.set(listener, wrapper);
  }
  return wrapper;
}

const ON = ["HTMLElement", "SVGElement", "MathMLElement", "Element", "Document", "HTMLBodyElement", "HTMLFrameSetElement", "HTMLMediaElement", "ShadowRoot"];
const NOT_EVENTS = /^on(error|unhandledrejection|beforeunload)$/;

/** Hooks one realm. */
export function hookListeners(win) {
  // Options go on as they are: to look at them would be to call getters of the page.
  const swapped = (args, wrapper) => {
    const list = [...args];
    list[1] = wrapper;
    return list;
  };
  method(win.EventTarget.prototype, "addEventListener", (original, self, args) => {
    const wrapper = wrapperOf(args[1], "listener");
    if (!wrapper) return apply(original, self, args);
    const target = self ?? win;
    apply(original, target, swapped(args, wrapper));
    register(target, String(args[0]), wrapper);
  });
  method(win.EventTarget.prototype, "removeEventListener", (original, self, args) => {
    const wrapper = args[1] && wrappers.get(args[1]);
    if (wrapper) {
      apply(original, self ?? win, swapped(args, wrapper));
      unregister(self ?? win, String(args[0]), wrapper);
    }
    return apply(original, self, args);
  });
  for (const name of ON) {
    if (win[name]) hookProperties(win[name].prototype);
  }
  hookProperties(win);
}

function hookProperties(holder) {
  for (const key of Object.getOwnPropertyNames(holder)) {
    if (!key.startsWith("on") || NOT_EVENTS.test(key)) continue;
    accessor(
      holder, key,
      (get, self) => shown(apply(get, self, [])),
      (set, self, value) => {
        if (typeof value !== "function") return apply(set, self, [value]);
        const wrapper = propertyWrapper(value, "property");
        apply(set, self, [wrapper]);
        register(self ?? window, key.slice(2), wrapper);
      },
    );
  }
}

const properties = own(new WeakMap());
const ours = new WeakSet();
const shown = (value) => (ours.has(value) ? unhooked(value) : value);

function propertyWrapper(listener, how) {
  let wrapper = properties.get(listener);
  if (!wrapper) {
    wrapper = disguise(function () { return call(wrapper, how, this, arguments, listener); }, listener);
    hows.set(wrapper, how);
    ours.add(wrapper);
    properties.set(listener, wrapper);
  }
  return wrapper;
}

/** Puts wrappers in place of the inline handlers that an event is about to reach; their order stays. */
export function wrapInline(event) {
  const key = "on" + event.type;
  const css = `[${key}]`;
  // Nearly always there is none, and the browser finds that out more quickly than a walk of ours.
  const { target } = event;
  let at = target?.shadowRoot ? event.composedPath()[0] : target;
  for (let el; at?.closest; at = el.parentElement || el.getRootNode().host) {
    el = at.closest(css);
    if (!el) {
      el = at.getRootNode();
      if (!el.host) return;
      continue;
    }
    // Read through our hook: what is shown is the page's own function.
    const handler = el[key];
    if (typeof handler !== "function" || wrapped.get(el)?.get(key) === handler) continue;
    const wrapper = propertyWrapper(handler, "attribute");
    const set = setterOf(el, key);
    if (!set) continue;
    apply(set, el, [wrapper]);
    register(el, event.type, wrapper);
    if (!wrapped.has(el)) wrapped.set(el, own(new Map()));
    wrapped.get(el).set(key, handler);
  }
}

const wrapped = own(new WeakMap());

function setterOf(el, key) {
  for (let at = Object.getPrototypeOf(el); at; at = Object.getPrototypeOf(at)) {
    const own = Object.getOwnPropertyDescriptor(at, key);
    if (own?.set) return unhooked(own.set);
  }
  return null;
}
