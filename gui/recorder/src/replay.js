// The player: makes `window.__stuntReplay`, which does recorded actions by in-page events, says which could not be
// done, and what failed. `docs/gui-recording.md` has its calls. Frames of one origin share the player of the top.

import { apply, hideIn, isHooked, method, now, watch } from "./native.js";
import { failureOf, same } from "./stack.js";
import { find } from "./find.js";
import { perform, standIn } from "./perform.js";
import { advance, deliver, enterWorld, takeWorld, world } from "./world.js";
import { settle, track } from "./settle.js";
import { editable } from "./widgets.js";

const KINDS = ["exception", "rejection", "assertion"];
const NOTICE = /^ResizeObserver loop/;
const MOST_FAILURES = 32;
const later = setTimeout.bind(window);

const failures = [];
const start = now();
const seen = new Set();
let doing = 0;
let prepared = null;

function fail(failure) {
  if (failures.length >= MOST_FAILURES) return;
  failures.push({ kind: failure.kind, type: failure.type, after: doing, at_ms: Math.round((now() - start) * 10) / 10, frames: failure.frames });
}

function watchFailures(win) {
  watch(win, "error", (event) => {
    if (event.target !== win || (!event.error && NOTICE.test(event.message))) return;
    fail(failureOf("exception", event.error, event));
  });
  watch(win, "unhandledrejection", (event) => fail(failureOf("rejection", event.reason)));
}

function hookConsole(win) {
  method(win.console, "assert", (original, self, args) => {
    const [condition] = args;
    if (!condition) fail(failureOf("assertion", new Error()));
    return apply(original, self, args);
  });
  method(win.console, "error", (original, self, args) => {
    fail(failureOf("console", [...args].find((value) => value instanceof win.Error) || new Error()));
    return apply(original, self, args);
  });
}

function follow(win) {
  if (seen.has(win.document)) return;
  seen.add(win.document);
  watchFailures(win);
  if (isHooked(win)) return;
  hideIn(win);
  hookConsole(win);
  if (prepared) enter(win);
}

function enter(win) {
  enterWorld(win, prepared.options, prepared.environment);
  track(win);
}

function prepare(recording, options = {}) {
  takeWorld(recording, options);
  prepared = { options, environment: recording.environment };
  for (const document of seen) if (document.defaultView) enter(document.defaultView);
}

/** The failure that counts among those since `from`. */
function counted(from, options) {
  const kinds = options.kinds || KINDS;
  return failures.slice(from).find((failure) => (options.want ? same(failure, options.want) : kinds.includes(failure.kind))) || null;
}

async function run(actions, options = {}) {
  const begun = now();
  const result = { schema: "stunt-replayed-1", done: [], skipped: [], failure: null, others: [], unanswered: 0, elapsed_ms: 0 };
  // What failed while the page loaded counts only for a recording that ends there.
  const from = actions.length ? failures.length : 0;
  const ended = () => options.stop !== false && counted(from, options);
  try {
    await settle({ gap: Math.max(actions[0]?.at_ms ?? 0, 50), most: options.settle ?? 250, over: ended });
    for (let i = 0; i < actions.length && !ended(); i++) {
      const action = actions[i];
      if (options.until !== undefined && action.id > options.until) break;
      await pace(actions, i, options);
      const { why, error } = await one(action);
      if (error) result.error ??= error;
      if (why) {
        result.skipped.push({ id: action.id, why });
        continue;
      }
      result.done.push(action.id);
      const next = actions[i + 1];
      await settle({ gap: next ? next.at_ms - action.at_ms : options.last ?? 3000, most: options.settle ?? 250, over: ended });
    }
  } catch (mistake) {
    result.error = String(mistake?.stack || mistake);
  }
  result.failure = counted(from, options);
  if (!result.failure && options.want) {
    result.failure = failures.slice(from).find((failure) => KINDS.includes(failure.kind)) || null;
  }
  result.others = failures.filter((failure) => failure !== result.failure);
  result.unanswered = world.unanswered;
  result.elapsed_ms = Math.round((now() - begun) * 10) / 10;
  return result;
}

function pace(actions, i, { pace: wish = 0 }) {
  const ms = wish === "recorded" ? (i ? actions[i].at_ms - actions[i - 1].at_ms : 0) : wish;
  return ms > 0 ? new Promise((done) => later(done, ms)) : null;
}

/** What is to be known before an action is done, by whomever. */
function begin(action) {
  doing = action.id;
  advance(action.at_ms);
  world.dialogs = (action.dialogs || []).map((dialog) => ({ ...dialog }));
}

async function one(action) {
  begin(action);
  let skipped, error;
  try {
    skipped = await perform(action);
  } catch (mistake) {
    // Ours: the actions that follow can do without this one, perhaps.
    error = String(mistake?.stack || mistake);
    skipped = { why: "unsupported" };
  }
  deliver(action.id);
  return skipped?.why ? { done: false, why: skipped.why, error } : { done: true };
}

function locate(target, offset) {
  const { el, by, why } = find(target);
  if (!el) return { found: false, why };
  el.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  const box = el.getBoundingClientRect();
  let x = box.left + (offset ? Math.min(Math.max(offset.x, 0), Math.max(box.width - 1, 0)) : box.width / 2);
  let y = box.top + (offset ? Math.min(Math.max(offset.y, 0), Math.max(box.height - 1, 0)) : box.height / 2);
  for (let win = el.ownerDocument.defaultView; win !== win.parent; win = win.parent) {
    const frame = win.frameElement;
    if (!frame) break;
    const outer = frame.getBoundingClientRect();
    x += outer.left + frame.clientLeft;
    y += outer.top + frame.clientTop;
  }
  return {
    found: true, x, y, width: box.width, height: box.height, by, tag: el.localName, editable: editable(el) || "",
    visible: el.getClientRects().length > 0, enabled: !el.matches(":disabled"),
  };
}

const api = {
  version: "0.2.0", prepare, run, locate, one, begin, deliver, advance, settle, stand_in: standIn,
  answer(dialogs) { world.dialogs.push(...dialogs.map((dialog) => ({ ...dialog }))); },
  failures: () => failures.map((failure) => ({ ...failure })),
};

function above() {
  let best = null;
  try {
    for (let at = window; at !== at.parent; ) {
      at = at.parent;
      if (at.__stuntReplay) best = at.__stuntReplay;
    }
  } catch { /* another origin */ }
  return best;
}

function main() {
  if (window.__stuntReplay) return;
  const top = above();
  if (top) {
    top.follow(window);
    // A frame has the same text after it: it must not begin the world again.
    Object.defineProperty(window, "__stuntReplay", { value: { ...top, prepare() {} }, configurable: true });
    return;
  }
  Object.defineProperty(api, "follow", { value: follow, enumerable: true });
  Object.defineProperty(window, "__stuntReplay", { value: api, configurable: true });
  follow(window);
}

main();
