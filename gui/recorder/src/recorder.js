// The recorder: hooks a window as early as it can, follows frames and shadow roots, and makes `window.__stunt`.
// Always: the page works as without it, and nothing leaves it. Frames of one origin record into the top one.

import { apply, gaps, hideIn, isHooked, later, listen, method, stringify, parse } from "./native.js";
import { begin, clear, settings, state, resumeAt } from "./state.js";
import { hookListeners, listenersOf, registered } from "./listeners.js";
import { frameOf, idFor, nameOf, roleOf, targetOf } from "./widgets.js";
import { hookReads } from "./reads.js";
import { copyStorage, hookOutside, outside } from "./outside.js";
import { hookNetwork } from "./network.js";
import { assist, hookConsole, told, watchFailures } from "./failures.js";
import { movedByScript, watchActions } from "./actions.js";
import { enabled, watchTree } from "./graph.js";
import { scrub } from "./privacy.js";

export const VERSION = "0.2.0";
const KEPT = "__stunt";
const followed = new Set();
const handlers = new Set();
let page = null;

/** Hooks one window of this origin; an initial about:blank that is replaced has other objects, and is hooked again. */
function follow(win) {
  try {
    const { document } = win;
    if (followed.has(document)) return;
    followed.add(document);
    if (document.readyState !== "loading" || document.scripts.length > 1) state.gaps.add("late");
  } catch {
    state.gaps.add("frame:cross-origin");
    return;
  }
  watchTree(win.document, enter);
  watchFailures(win);
  watchActions(win);
  if (isHooked(win)) return;
  // Each for itself: what a page has broken or a browser lacks does not take the others along.
  [hideIn, hookConsole, hookListeners, hookReads, hookOutside, hookNetwork, hookHistory, hookShadow].forEach((hook, i) => {
    try { hook(win); } catch { gaps.add("frozen:" + i); }
  });
}

/** Frames and shadow roots inside what was inserted. */
function enter(node) {
  const frames = node.matches("iframe,frame") ? [node] : [];
  if (node.firstElementChild) frames.push(...node.querySelectorAll("iframe,frame"));
  for (const frame of frames) {
    const look = () => {
      try {
        if (frame.contentDocument) follow(frame.contentWindow);
        else if (frame.contentWindow) state.gaps.add("frame:cross-origin");
      } catch { state.gaps.add("frame:cross-origin"); }
    };
    look();
    apply(listen, frame, ["load", look]);
  }
}

function hookShadow(win) {
  method(win.Element.prototype, "attachShadow", (original, self, args) => {
    const [options] = args;
    const root = apply(original, self, args);
    if (options?.mode === "closed") state.gaps.add("shadow:closed");
    else watchTree(root, enter);
    return root;
  });
}

function hookHistory(win) {
  for (const key of ["back", "forward", "go"]) {
    method(win.History.prototype, key, (original, self, args) => { movedByScript(); return apply(original, self, args); });
  }
}

function viewport() {
  return { width: innerWidth, height: innerHeight, scale: devicePixelRatio };
}

function firstLook() {
  outside.zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
  outside.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  page = { url: location.href, title: "", viewport: viewport(), language: navigator.language, agent: navigator.userAgent };
  state.clock = Date.now();
  state.performance = performance.now();
}

/** The recording up to now: a copy that the page's memory no longer touches. */
function take() {
  for (const name of gaps) state.gaps.add(name);
  if (!page.title) page.title = document.title;
  if (!page.viewport.width) page.viewport = viewport();
  return scrub(parse(stringify({
    schema: "stunt-recording-1", recorder: VERSION, page, begun: state.clock,
    environment: {
      clock: state.clock, performance: state.performance, zone: outside.zone, dark: outside.dark,
      seed: outside.seed, crypto: outside.crypto, storage: outside.storage,
    },
    load: state.load, actions: state.actions, answers: state.answers, failure: state.failure, others: state.others,
    gaps: [...state.gaps], dropped: state.dropped,
  })));
}

async function taken() {
  if (state.pending.size) {
    await Promise.race([Promise.allSettled([...state.pending]), new Promise((done) => later(done, 500))]);
  }
  return take();
}

function report(failure) {
  taken().then((recording) => {
    recording.failure = failure;
    for (const handler of handlers) {
      try { handler(recording); } catch { /* theirs */ }
    }
    const binding = window.__stuntReport;
    if (typeof binding === "function") binding(stringify(recording));
  });
}

function persist() {
  if (!settings.persist) return;
  try { sessionStorage.setItem(KEPT, stringify({ ...take(), next: [state.nextAction, state.nextAnswer] })); } catch { /* full or forbidden */ }
}

function goOn() {
  if (!settings.persist) return;
  try {
    const kept = sessionStorage.getItem(KEPT);
    if (!kept) return;
    sessionStorage.removeItem(KEPT);
    const old = parse(kept);
    for (const key of ["load", "actions", "answers", "failure", "others", "dropped"]) state[key] = old[key];
    for (const gap of old.gaps) state.gaps.add(gap);
    [state.nextAction, state.nextAnswer] = old.next;
    state.start -= Date.now() - old.begun;
    state.clock = old.environment.clock;
    state.performance = old.environment.performance;
    Object.assign(outside, { seed: old.environment.seed, crypto: old.environment.crypto, storage: old.environment.storage });
    page = old.page;
    resumeAt(state.actions.at(-1) || state.load);
    begin("navigate", { how: "load", url: location.href });
    return true;
  } catch { /* not ours, or not readable: a new recording */ }
}

const api = {
  version: VERSION, take, taken, assist, clear,
  on: (handler) => (handlers.add(handler), () => handlers.delete(handler)),
  pause: () => { state.on = false; },
  resume: () => { state.on = true; },
};

/** Where frames of this origin record: the topmost window that has a recorder of the same origin. */
function above() {
  let best = null;
  try {
    for (let at = window; at !== at.parent; ) {
      at = at.parent;
      if (at.__stunt?.version === VERSION) best = at.__stunt;
    }
  } catch { /* another origin */ }
  return best;
}

function main() {
  if (window.__stunt) return;
  const top = above();
  // A frame of another site is no part of what a tool records.
  if (!top && window !== window.top && window.__stuntReport) return;
  if (top) {
    top.follow(window);
    Object.defineProperty(window, KEPT, { value: top, configurable: true });
    return;
  }
  firstLook();
  if (!goOn()) copyStorage(window);
  // For frames only: they call it before their own scripts run.
  Object.defineProperty(api, "follow", { value: follow });
  const windows = () => [...followed].map((document) => document.defaultView).filter(Boolean);
  Object.defineProperty(api, "inside", { value: { enabled, frameOf, idFor, listenersOf, nameOf, registered, roleOf, state, targetOf, windows } });
  Object.defineProperty(window, KEPT, { value: api, configurable: true });
  told.report = report;
  follow(window);
  apply(listen, window, ["pagehide", persist, true]);
  if (document.documentElement) enter(document.documentElement);
}

main();
