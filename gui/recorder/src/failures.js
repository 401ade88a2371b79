// When something went wrong: exceptions that nobody caught, promises, assertions, errors on the console if asked
// for, and people who ask for help. A failure is its type and its frames; messages are looked at only to leave out
// the browser's notices about layout.

import { apply, method, own, stringify, watch } from "./native.js";
import { currentId, elapsed, settings, state } from "./state.js";
import { failureOf } from "./stack.js";

const MOST_OTHERS = 8;
const NOTICE = /^ResizeObserver loop/;

/** Sets what happens at a failure that is not the same as the one before. */
export const told = { report: null };

/** Failures that were told, as text. */
const seen = own(new Set());

export function fail(failure) {
  if (!state.on) return;
  const full = { kind: failure.kind, type: failure.type, after: currentId(), at_ms: elapsed(), frames: failure.frames };
  // A page that fails in each frame of an animation fails once.
  const key = stringify(failure);
  if (failure.kind !== "assistance" && seen.has(key)) return;
  seen.add(key);
  const old = state.failure;
  if (old && state.others.length < MOST_OTHERS) state.others.push(old);
  state.failure = full;
  told.report?.(full);
}

export function watchFailures(win) {
  watch(win, "error", (event) => {
    if (event.target !== win || (!event.error && NOTICE.test(event.message))) return;
    fail(failureOf("exception", event.error, event));
  });
  watch(win, "unhandledrejection", (event) => fail(failureOf("rejection", event.reason)));
}

export function hookConsole(win) {
  method(win.console, "assert", (original, self, args) => {
    const [condition] = args;
    if (!condition && settings.assert) fail(failureOf("assertion", new Error()));
    return apply(original, self, args);
  });
  method(win.console, "error", (original, self, args) => {
    if (settings.console) {
      const error = [...args].find((value) => value instanceof win.Error);
      fail(failureOf("console", error || new Error()));
    }
    return apply(original, self, args);
  });
}

export function assist() {
  fail({ kind: "assistance", type: "", frames: [] });
}
