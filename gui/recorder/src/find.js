// From a recorded target to the element of this page: each selector that still works votes, the best ones most.
// An element with another tag is never taken.

import { nameOf, roleOf } from "./widgets.js";

const squeeze = (text) => (text || "").replace(/\s+/g, " ").trim().slice(0, 80);

/** The window of a recorded frame path; null if it is absent or of another origin. */
export function windowOf(frame) {
  let win = top_();
  try {
    for (const index of frame || []) win = win.frames[index];
    return win.document ? win : null;
  } catch {
    return null;
  }
}

/** The topmost window that this script may look into. */
function top_() {
  let win = window;
  try {
    while (win !== win.parent && win.parent.document) win = win.parent;
  } catch { /* another origin above */ }
  return win;
}

/** All elements that one selector (without piercing) denotes. */
function query(root, selector) {
  if (selector.startsWith("aria/")) {
    const found = /^aria\/([\s\S]*?)(?:\[role="([^"]*)"\])?$/.exec(selector);
    const all = root.querySelectorAll(found[2] ? candidates(found[2]) : "*");
    return [...all].filter((el) => (!found[2] || roleOf(el) === found[2]) && nameOf(el) === found[1]);
  }
  if (selector.startsWith("text/")) {
    const text = selector.slice(5);
    return [...root.querySelectorAll("*")].filter((el) => !el.childElementCount && squeeze(el.textContent) === text);
  }
  if (selector.startsWith("xpath/")) {
    const found = root.evaluate ? root.evaluate(selector.slice(6), root, null, 7, null) : null;
    return found ? Array.from({ length: found.snapshotLength }, (_, i) => found.snapshotItem(i)) : [];
  }
  return [...root.querySelectorAll(selector.startsWith("pierce/") ? selector.slice(7) : selector)];
}

/** A role may be stated, or come from one of these tags. */
function candidates(role) {
  const tags = { link: "a,area", button: "button,input,summary", textbox: "input,textarea", checkbox: "input", radio: "input", combobox: "select,input", cell: "td", row: "tr", option: "option", listitem: "li" }[role];
  return tags ? tags + ",[role]" : "*";
}

/** The one element that an alternative denotes, or null. */
function resolve(doc, path) {
  let root = doc;
  for (let i = 0; i < path.length; i++) {
    let found;
    try { found = query(root, path[i]); } catch { return null; }
    if (found.length !== 1) return null;
    if (i === path.length - 1) return found[0];
    root = found[0].shadowRoot;
    if (!root) return null;
  }
  return null;
}

function weight(selector) {
  if (selector.startsWith("aria/")) return 5;
  if (selector.startsWith("xpath/")) return 1;
  if (selector.startsWith("text/")) return 3;
  return /^\[data-|\[name=/.test(selector) ? 8 : 4;
}

/** `{el, by}`, or `{why}`. */
export function find(target) {
  const win = windowOf(target.frame);
  if (!win) return { why: "frame" };
  const votes = new Map();
  target.selectors.forEach((path, by) => {
    const el = resolve(win.document, path);
    if (!el || el.localName !== target.tag) return;
    if (target.type && el.type !== target.type && !(target.type === "password" || el.type === "password")) return;
    const vote = votes.get(el) || { el, by, sum: 0 };
    vote.sum += weight(path.at(-1));
    votes.set(el, vote);
  });
  let best = null;
  for (const vote of votes.values()) if (!best || vote.sum > best.sum) best = vote;
  return best || { why: "missing" };
}
