// Errors as a type and frames, never the message. Knows the stacks of V8, SpiderMonkey and JavaScriptCore.
// Frames of our own files are left out: both bundles carry a sourceURL.

const OURS = /\bstunt-(recorder|replay|consent)\.m?js\b/;
const V8 = /^\s*at (?:(?:async )?(.*?) \()?(?:eval at .*?, )?(.*?):(\d+):(\d+)\)?$/;
const OTHERS = /^(.*?)@(.*?):(\d+)(?::(\d+))?$/;

/** Path of a script's address: without origin if it is the page's, never with a query. */
function pathOf(url) {
  try {
    const parsed = new URL(url);
    if (!/^(https?|file):$/.test(parsed.protocol)) return parsed.protocol;
    return parsed.origin === location.origin ? parsed.pathname : parsed.host + parsed.pathname;
  } catch {
    return url === "<anonymous>" || url === "native" ? "" : url.split(/[?#]/)[0];
  }
}

/** Frames of a stack, innermost first. */
export function framesOf(stack) {
  const frames = [];
  for (const line of String(stack || "").split("\n")) {
    const found = V8.exec(line) || OTHERS.exec(line);
    if (!found || OURS.test(line)) continue;
    const name = (found[1] || "").replace(/^(?:new|async) /, "").replace(/ \[as .*\]$/, "");
    frames.push({ function: name === "<anonymous>" ? "" : name, path: pathOf(found[2]), line: +found[3], column: +(found[4] || 0) });
  }
  return frames;
}

/** `{kind, type, frames}` of something that was thrown. */
export function failureOf(kind, thrown, event) {
  let type = "";
  let frames = [];
  try {
    // Errors of older libraries have no stack, and those of the browser one constructor for all.
    if (thrown && typeof thrown === "object" && ("stack" in thrown || "message" in thrown)) {
      const made = (thrown.constructor || {}).name;
      type = String((made !== "DOMException" && made) || thrown.name || "").slice(0, 80);
      frames = framesOf(thrown.stack);
    }
  } catch { /* a thrown object may throw when it is looked at */ }
  if (!frames.length && event && event.filename) {
    frames = [{ function: "", path: pathOf(event.filename), line: event.lineno || 0, column: event.colno || 0 }];
    if (OURS.test(event.filename)) frames = [];
  }
  return { kind, type, frames };
}

/** Whether two failures are the same: kind, type, and as many frames as the shorter list has. */
export function same(a, b) {
  if (!a || !b || a.kind !== b.kind || a.type !== b.type) return false;
  const count = Math.min(a.frames.length, b.frames.length);
  if (!count && a.frames.length + b.frames.length) return false;
  for (let i = 0; i < count; i++) {
    const f = a.frames[i], g = b.frames[i];
    if (f.path !== g.path || f.line !== g.line || f.column !== g.column || f.function !== g.function) return false;
  }
  return true;
}
