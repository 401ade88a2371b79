// One action, made of the events that a browser sends for it and of what the browser does itself afterwards: focus,
// carets, text, choices, submission. Events are not trusted; whatever only a trusted event does is done here,
// unless the page prevented it. Refuses to know the order of actions.

import { find, windowOf } from "./find.js";
import { editable, editorOf } from "./widgets.js";
import { rest, settle } from "./settle.js";

const FOCUSABLE = "a[href],area[href],button,input,select,textarea,summary,iframe,[tabindex],[contenteditable]:not([contenteditable=false])";
const settersOf = (el) => {
  const win = windowAt(el);
  return { textarea: win.HTMLTextAreaElement, select: win.HTMLSelectElement }[el.localName]?.prototype || win.HTMLInputElement.prototype;
};

/** Sets a value past whatever the page has put in front of the setter of the element itself. */
function setNative(el, key, value) {
  Object.getOwnPropertyDescriptor(settersOf(el), key).set.call(el, value);
}

/** Text of the kind that a secret had. */
export function standIn({ length, classes }) {
  const count = { 0: 0, "1-8": 8, "9-16": 12, "17-32": 20, "33+": 40 }[length];
  const kinds = classes.map((name) => ({ lower: "a", upper: "A", digit: "1", other: "!" })[name]);
  return Array.from({ length: count }, (_, i) => kinds[i % kinds.length]).join("");
}
const textOf = (action) => (action.secret ? standIn(action.secret) : action.text || "");

const fire = (el, Type, type, init = {}) => el.dispatchEvent(new Type(type, { bubbles: true, cancelable: true, composed: true, view: el.ownerDocument.defaultView, ...init }));

/** The window of an element; a frame that was taken away meanwhile has none any more. */
const windowAt = (el) => el.ownerDocument.defaultView || window;

function has(action, name) {
  return (action.modifiers || []).includes(name);
}
const keysOf = (action) => ({ ctrlKey: has(action, "ctrl"), shiftKey: has(action, "shift"), altKey: has(action, "alt"), metaKey: has(action, "meta") });

/** Where in its window an action points: the recorded offset, kept inside the box. */
function pointOf(el, offset) {
  const box = el.getBoundingClientRect();
  const x = offset ? Math.min(Math.max(offset.x, 0), Math.max(box.width - 1, 0)) : box.width / 2;
  const y = offset ? Math.min(Math.max(offset.y, 0), Math.max(box.height - 1, 0)) : box.height / 2;
  return { clientX: box.left + x, clientY: box.top + y };
}

/** One mouse event and the pointer event that goes before it. */
function mouse(el, type, at, init = {}) {
  const win = windowAt(el);
  const full = { ...at, screenX: at.clientX, screenY: at.clientY, detail: 1, button: 0, buttons: 0, ...init };
  const bubbles = !/(enter|leave)$/.test(type);
  let go = true;
  const pointer = type.replace("mouse", "pointer");
  if (pointer !== type) go = fire(el, win.PointerEvent, pointer, { ...full, detail: 0, pointerId: 1, isPrimary: true, pointerType: init.pointer || "mouse", bubbles, cancelable: bubbles });
  const Type = /click|contextmenu/.test(type) ? win.PointerEvent : win.MouseEvent;
  const went = fire(el, Type, type, { ...full, bubbles, cancelable: bubbles });
  return go && went;
}

let over = null;

/** The pointer comes to lie on an element. */
function moveTo(el, at, init) {
  if (over !== el) {
    const old = over?.isConnected && over.ownerDocument.defaultView ? over : null;
    over = el;
    if (old) {
      mouse(old, "mouseout", at, { ...init, relatedTarget: el });
      for (let up = old; up && !up.contains(el); up = up.parentElement) mouse(up, "mouseleave", at, { ...init, relatedTarget: el });
    }
    mouse(el, "mouseover", at, { ...init, relatedTarget: old });
    const entered = [];
    for (let up = el; up && !(old && up.contains(old)); up = up.parentElement) entered.unshift(up);
    for (const up of entered) mouse(up, "mouseenter", at, { ...init, relatedTarget: old });
  }
  mouse(el, "mousemove", at, init);
}

function deepActive(doc) {
  let at = doc.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}

function focusableOf(el) {
  for (let at = el; at; at = at.parentElement || at.getRootNode().host) {
    if (at.matches?.(FOCUSABLE) && !at.matches(":disabled")) return at;
    if (at.localName === "label" && at.control) return null; // its click focuses the field
  }
  return null;
}

/** Gives an element the focus, as a press on it does. */
function focus(el) {
  const doc = el.ownerDocument;
  const now = deepActive(doc);
  if (now === el) return;
  leave(now);
  if (el.isContentEditable) editorOf(el).focus({ preventScroll: true });
  else el.focus({ preventScroll: true });
  starts.set(el, el.value);
}

/** Values at the time of the focus: a change that no trusted key made has to be told by us. */
const starts = new WeakMap();
const told = new WeakSet();

function leave(el) {
  if (!el || !starts.has(el) || !told.has(el)) return;
  told.delete(el);
  if (el.value !== starts.get(el)) fire(el, windowAt(el).Event, "change", { cancelable: false, composed: false });
  starts.set(el, el.value);
}

function pressFocus(el) {
  const to = focusableOf(el);
  if (to) return focus(to);
  const now = deepActive(el.ownerDocument);
  if (now && now !== el.ownerDocument.body && !now.contains(el)) {
    leave(now);
    now.blur();
  }
}

function caretAt(el, at) {
  const doc = el.ownerDocument;
  if (!el.isContentEditable) {
    if (!editable(el)) return;
    try { el.setSelectionRange(el.value.length, el.value.length); } catch { /* no caret in this type */ }
    return;
  }
  const base = editorOf(el);
  let range = doc.caretRangeFromPoint?.(at.clientX, at.clientY);
  if (!range || !base.contains(range.startContainer)) {
    range = doc.createRange();
    range.selectNodeContents(base);
    range.collapse(false);
  }
  const selection = doc.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

/** Selects what was selected: offsets in a value, or in the text of an editor or of the page. */
function select(el, { start, end }) {
  if (editable(el) === "field") {
    try { el.setSelectionRange(start, end); } catch { /* no selection in this type */ }
    return;
  }
  const doc = el.ownerDocument;
  const base = el.isContentEditable ? editorOf(el) : doc.body;
  const walker = doc.createTreeWalker(base, 4);
  const range = doc.createRange();
  let at = 0, begun = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.data.length;
    if (!begun && start <= at + length) { range.setStart(node, start - at); begun = true; }
    if (begun && end <= at + length) { range.setEnd(node, end - at); break; }
    at += length;
    if (begun) range.setEnd(node, length);
  }
  if (!begun) return;
  doc.getSelection().removeAllRanges();
  doc.getSelection().addRange(range);
}

function hit(el, at) {
  const root = el.getRootNode();
  return (root.elementFromPoint ? root : el.ownerDocument).elementFromPoint(at.clientX, at.clientY);
}

/**
 * Press and release; `detail` counts clicks. Gives back where it was released, or null if there is no click. A person
 * takes time between the two: what the press started goes on meanwhile.
 */
async function press(el, action, at, init, detail) {
  const before = hit(el, at);
  const seen = before && (el === before || el.contains(before));
  const button = action.button || 0;
  const held = { ...init, detail, button, buttons: button === 2 ? 2 : button === 1 ? 4 : 1 };
  if (mouse(el, "mousedown", at, held)) {
    pressFocus(el);
    if (el.isConnected) caretAt(el, at);
  }
  if (action.kind === "contextmenu") mouse(el, "contextmenu", at, { ...init, detail: 0, button: 2, buttons: 2 });
  await rest();
  let up = el;
  const under = hit(el, at);
  // What the press has put over the widget, or left in its place, gets the release.
  if (!el.isConnected || (seen && under && !el.contains(under))) up = under;
  if (!up) return null;
  mouse(up, "mouseup", at, { ...init, detail, button });
  await null;
  if (up === el) return el;
  if (!el.isConnected) return null;
  let shared = up;
  while (shared && !shared.contains(el)) shared = shared.parentElement;
  return shared;
}

async function click(el, action) {
  const at = pointOf(el, action.offset);
  const init = { ...keysOf(action), pointer: action.pointer };
  moveTo(el, at, init);
  if (!el.isConnected) return;
  const times = action.kind === "dblclick" ? 2 : 1;
  for (let detail = 1; detail <= times; detail++) {
    const on = await press(el, action, at, init, detail);
    if (!on) return;
    const type = action.button ? "auxclick" : "click";
    mouse(on, type, at, { ...init, detail, button: action.button || 0 });
    if (times > 1) await rest();
    if (!el.isConnected && detail < times) return;
  }
  if (times === 2) {
    const doc = el.ownerDocument;
    if (el.isContentEditable && !action.selection) {
      doc.getSelection().modify("move", "backward", "word");
      doc.getSelection().modify("extend", "forward", "word");
    }
    mouse(el, "dblclick", at, { ...init, detail: 2 });
  }
  if (action.selection) select(el, action.selection);
}

function key(el, type, name, code, init) {
  return fire(el, windowAt(el).KeyboardEvent, type, { key: name, code, ...init, ...codes(name, type) });
}

const KEY_CODES = {
  Backspace: 8, Tab: 9, Enter: 13, Escape: 27, " ": 32, PageUp: 33, PageDown: 34, End: 35, Home: 36,
  ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Insert: 45, Delete: 46,
};
function codes(name, type) {
  const code = KEY_CODES[name] || (/^F\d+$/.test(name) ? 111 + +name.slice(1) : name.length === 1 ? name.toUpperCase().charCodeAt(0) : 0);
  const char = name === "Enter" ? 13 : name.length === 1 ? name.charCodeAt(0) : 0;
  return type === "keypress" ? { keyCode: char, charCode: char, which: char } : { keyCode: code, which: code };
}
const codeOf = (char) => (/[a-z]/i.test(char) ? "Key" + char.toUpperCase() : /\d/.test(char) ? "Digit" + char : char === " " ? "Space" : "");

/** Puts text at the caret, the way the browser does: with undo and change events. */
function insert(el, text, kind) {
  const win = windowAt(el);
  const before = editable(el) === "field" ? el.value : null;
  // Chromium sends no beforeinput for commands.
  if (!fire(el, win.InputEvent, "beforeinput", { inputType: kind, data: text })) return;
  const command = before === null && kind.startsWith("insert") && kind !== "insertFromPaste" ? kind : "insertText";
  const done = el.ownerDocument.execCommand(command, false, text);
  if (before === null) return;
  if (done && el.value !== before) return;
  const limit = el.maxLength >= 0 ? el.maxLength : Infinity;
  if (before.length + text.length > limit) return;
  let start = before.length, end = start;
  try { [start, end] = [el.selectionStart ?? start, el.selectionEnd ?? end]; } catch { /* no caret in this type */ }
  setNative(el, "value", before.slice(0, start) + text + before.slice(end));
  told.add(el);
  try { el.setSelectionRange(start + text.length, start + text.length); } catch { /* as above */ }
  fire(el, win.InputEvent, "input", { inputType: kind, data: text, cancelable: false });
}

/** The element that gets keys: the recorded one, or what it gave the focus to meanwhile. */
function keyTarget(el) {
  const now = deepActive(el.ownerDocument);
  if (now !== el && now && now !== el.ownerDocument.body && (el.contains(now) || (now.isContentEditable && now.contains(el)))) return now;
  if (el !== el.ownerDocument.body && el !== el.ownerDocument.documentElement && now !== el) {
    const to = focusableOf(el);
    if (to) {
      focus(to);
      caretIfNone(to);
    }
  }
  return el;
}

function caretIfNone(el) {
  if (!el.isContentEditable) return caretAt(el, {});
  const selection = el.ownerDocument.getSelection();
  if (!selection.rangeCount || !editorOf(el).contains(selection.anchorNode)) caretAt(el, { clientX: -1, clientY: -1 });
}

async function type(el, action) {
  const first = keyTarget(el);
  let to = first;
  for (const char of textOf(action)) {
    // Focus may move while one types, as it does for people.
    const now = deepActive(el.ownerDocument);
    if (now && now !== el.ownerDocument.body && to !== now && editable(now) && !el.isConnected) to = now;
    const code = codeOf(char);
    const init = { shiftKey: char !== char.toLowerCase() };
    if (key(to, "keydown", char, code, init) && key(to, "keypress", char, code, init)) insert(to, char, "insertText");
    key(to, "keyup", char, code, init);
    // Each key is a task of its own: what it changed is there before the next one.
    await rest();
  }
}

async function pressKey(el, action) {
  let to = keyTarget(el);
  const init = keysOf(action);
  for (let i = 0; i < (action.repeat || 1); i++) {
    let go = key(to, "keydown", action.key, action.code, { ...init, repeat: i > 0 });
    const held = init.ctrlKey || init.metaKey || init.altKey;
    if (go && !held && (action.key === "Enter" || [...action.key].length === 1)) go = key(to, "keypress", action.key, action.code, init);
    if (go) defaultOf(to, action, init);
    await rest();
  }
  const now = deepActive(el.ownerDocument);
  if (!to.isConnected && now) to = now;
  const released = key(to, "keyup", action.key, action.code, init);
  if (released && action.key === " " && to.matches("button,summary,input:is([type=checkbox],[type=radio],[type=button],[type=submit],[type=reset])")) to.click();
}

const MOVES = { ArrowLeft: ["backward", "character"], ArrowRight: ["forward", "character"], ArrowUp: ["backward", "line"], ArrowDown: ["forward", "line"], Home: ["backward", "lineboundary"], End: ["forward", "lineboundary"] };

/** What the browser itself does for a key. */
function defaultOf(el, action, init) {
  const doc = el.ownerDocument;
  const inField = editable(el);
  const name = action.key;
  const command = init.ctrlKey || init.metaKey;
  const run = (what, value) => doc.execCommand(what, false, value);
  if (command) {
    const letter = name.toLowerCase();
    if (letter === "a") {
      if (inField === "field") el.select();
      else run("selectAll");
    } else if (letter === "z") run(init.shiftKey ? "redo" : "undo");
    else if (letter === "y") run("redo");
    else if (inField === "rich" && "biu".includes(letter)) run({ b: "bold", i: "italic", u: "underline" }[letter]);
    else if (letter === "c" || letter === "x") copy(el, letter === "x" ? "cut" : "copy");
    else if (inField && name in MOVES) move(el, name, init);
    else if (inField && (name === "Backspace" || name === "Delete")) {
      doc.getSelection().modify?.("extend", name === "Backspace" ? "backward" : "forward", "word");
      run("delete");
    }
    return;
  }
  if (init.altKey) return;
  if (name === "Tab") return tab(el, init.shiftKey);
  if (name === "Enter") return enter(el, inField, init);
  if (inField && name === "Backspace") return void run("delete");
  if (inField && name === "Delete") return void run("forwardDelete");
  if (el.localName === "input" && el.type === "number" && /^Arrow(Up|Down)$/.test(name)) return step(el, name);
  if (inField && name in MOVES) return move(el, name, init);
  if (name === "Escape") return escape(doc);
}

function step(el, name) {
  const win = windowAt(el);
  if (name === "ArrowUp") el.stepUp();
  else el.stepDown();
  fire(el, win.InputEvent, "input", { cancelable: false });
  fire(el, win.Event, "change", { cancelable: false, composed: false });
}

function move(el, name, init) {
  const [direction, unit] = MOVES[name];
  if (editable(el) === "rich") {
    el.ownerDocument.getSelection().modify(init.shiftKey ? "extend" : "move", direction, init.ctrlKey && unit === "character" ? "word" : unit);
    return;
  }
  try {
    const { selectionStart: start, selectionEnd: end, value } = el;
    const forward = direction === "forward";
    const to = unit === "character" ? Math.min(Math.max((forward ? end : start) + (forward ? 1 : -1), 0), value.length) : forward ? value.length : 0;
    if (init.shiftKey) el.setSelectionRange(forward ? start : to, forward ? to : end);
    else el.setSelectionRange(to, to);
  } catch { /* no caret in this type */ }
}

function escape(doc) {
  const open = [...doc.querySelectorAll("dialog[open]")].filter((dialog) => dialog.matches(":modal")).at(-1);
  if (open && fire(open, doc.defaultView.Event, "cancel", { bubbles: false, composed: false })) open.close();
}

function tab(el, back) {
  const doc = el.ownerDocument;
  const all = [...doc.querySelectorAll(FOCUSABLE)].filter((other) => other.tabIndex >= 0 && !other.matches(":disabled") && other.getClientRects().length);
  const now = deepActive(doc);
  const at = all.indexOf(now);
  const next = all[at < 0 ? (back ? all.length - 1 : 0) : at + (back ? -1 : 1)];
  leave(now);
  if (!next) return now?.blur();
  next.focus();
  starts.set(next, next.value);
  if (editable(next) === "field") next.select?.();
}

function enter(el, inField, init) {
  const win = windowAt(el);
  if (inField === "rich") return insert(el, null, init.shiftKey ? "insertLineBreak" : "insertParagraph");
  if (el.localName === "textarea") return insert(el, "\n", "insertLineBreak");
  if (el.matches("a[href],button,summary,input:is([type=button],[type=submit],[type=reset])")) return el.click();
  if (el.localName !== "input") return;
  if (starts.has(el) && el.value !== starts.get(el)) {
    told.delete(el);
    starts.set(el, el.value);
    fire(el, win.Event, "change", { cancelable: false, composed: false });
  }
  const form = el.form;
  if (!form) return;
  const button = [...form.elements].find((other) => /^(submit|image)$/.test(other.type) && other.matches("button,input"));
  if (button) {
    if (!button.disabled) button.click();
  } else if ([...form.elements].filter((other) => editable(other) === "field").length === 1) form.requestSubmit();
}

let clip = null;

function copy(el, kind) {
  const win = windowAt(el);
  const data = new win.DataTransfer();
  if (fire(el, win.ClipboardEvent, kind, { clipboardData: data })) {
    const field = editable(el) === "field";
    data.setData("text/plain", field ? el.value.slice(el.selectionStart ?? 0, el.selectionEnd ?? 0) : String(el.ownerDocument.getSelection()));
    if (kind === "cut" && editable(el)) el.ownerDocument.execCommand("delete");
  }
  clip = data;
}

function filesOf(action, win) {
  return (action.files || []).map((file) => {
    const bytes = Uint8Array.from(atob(file.body || ""), (char) => char.charCodeAt(0));
    return new win.File([bytes], file.name, { type: file.type, lastModified: file.modified });
  });
}

function transfer(action, win) {
  const data = new win.DataTransfer();
  for (const file of filesOf(action, win)) data.items.add(file);
  return data;
}

function paste(el, action) {
  const win = windowAt(el);
  const to = keyTarget(el);
  const data = transfer(action, win);
  const text = textOf(action);
  if (text || !action.files) data.setData("text/plain", text);
  if (action.html) data.setData("text/html", action.html);
  const ctrl = { ctrlKey: true };
  if (key(to, "keydown", "v", "KeyV", ctrl) && fire(to, win.ClipboardEvent, "paste", { clipboardData: data }) && editable(to)) {
    if (editable(to) === "rich" && action.html) el.ownerDocument.execCommand("insertHTML", false, action.html);
    else if (text) insert(to, to.localName === "input" ? text.replace(/[\r\n]/g, "") : text, "insertFromPaste");
  }
  key(to, "keyup", "v", "KeyV", ctrl);
}

function change(el, action) {
  const win = windowAt(el);
  focus(el);
  if (action.values) {
    const wanted = new Set(action.values);
    let found = action.values.length === 0;
    for (const option of el.options) {
      const chosen = wanted.has(option.value);
      found ||= chosen;
      if (option.selected !== chosen && (el.multiple || chosen)) option.selected = chosen;
    }
    if (!found) return { why: "missing" };
  } else setNative(el, "value", action.secret ? standIn(action.secret) : action.value);
  fire(el, win.Event, "input", { cancelable: false });
  fire(el, win.Event, "change", { cancelable: false, composed: false });
  starts.set(el, el.value);
}

function choose(el, action) {
  const win = windowAt(el);
  const data = transfer(action, win);
  el.files = data.files;
  fire(el, win.Event, "input", { cancelable: false });
  fire(el, win.Event, "change", { cancelable: false, composed: false });
}

/** A moment on the way of a drag: lists that make room look at the pointer now and then. */
const carry = () => settle({ gap: 60 });

async function drag(el, action) {
  const win = windowAt(el);
  const goal = find(action.to);
  if (!goal.el) return goal;
  const at = pointOf(el, action.offset);
  const init = keysOf(action);
  const data = transfer(action, win);
  const dragEvent = (on, type, where, cancelable = true) => fire(on, win.DragEvent, type, { ...where, ...init, dataTransfer: data, cancelable });
  if (action.files) {
    for (const type of ["dragenter", "dragover", "drop"]) dragEvent(el, type, at);
    return;
  }
  moveTo(el, at, init);
  const held = { ...init, buttons: 1 };
  if (mouse(el, "mousedown", at, held)) {
    pressFocus(el);
    if (el.isConnected) caretAt(el, at);
  }
  await carry();
  const source = el.closest("[draggable=true],a[href],img");
  if (action.native && source && dragEvent(source, "dragstart", at)) {
    await carry();
    const there = pointOf(goal.el, action.to_offset);
    dragEvent(source, "drag", at);
    dragEvent(goal.el, "dragenter", there);
    await carry();
    const taken = !dragEvent(goal.el, "dragover", there);
    await carry();
    if (taken) dragEvent(goal.el, "drop", there);
    dragEvent(source, "dragend", there, false);
    return;
  }
  const doc = el.ownerDocument;
  const last = pointOf(goal.el, action.to_offset);
  const path = action.path?.length ? action.path : [1, 2, 3, 4].map((part) => [((last.clientX - at.clientX) * part) / 5, ((last.clientY - at.clientY) * part) / 5]);
  const points = path.map(([x, y]) => ({ clientX: at.clientX + x, clientY: at.clientY + y }));
  for (const point of [...points, last]) {
    const under = point === last ? goal.el : doc.elementFromPoint(point.clientX, point.clientY) || doc.documentElement;
    moveTo(under, point, held);
    await carry();
  }
  const end = goal.el.isConnected ? goal.el : doc.elementFromPoint(last.clientX, last.clientY) || doc.body;
  mouse(end, "mouseup", last, init);
  if (el.isConnected) {
    let shared = end;
    while (shared && !shared.contains(el)) shared = shared.parentElement;
    if (shared) mouse(shared, "click", last, init);
  }
  if (action.selection && el.isConnected) select(el, action.selection);
}

function wheel(el, action) {
  const at = pointOf(el, action.offset);
  const init = { ...at, ...keysOf(action), deltaX: action.delta.x, deltaY: action.delta.y };
  if (fire(el, windowAt(el).WheelEvent, "wheel", init)) el.scrollBy(action.delta.x, action.delta.y);
}

async function navigate(action) {
  if (action.how === "load") return { why: "unsupported" };
  const before = location.href;
  if (action.how === "hash") {
    if (new URL(action.url).pathname !== location.pathname) return { why: "unsupported" };
    location.hash = new URL(action.url).hash;
    return undefined;
  }
  for (const steps of [-1, 2]) {
    await new Promise((done) => {
      addEventListener("popstate", done, { once: true });
      setTimeout(done, 100);
      history.go(steps);
    });
    if (location.href === action.url) return undefined;
  }
  return location.href === before ? { why: "unsupported" } : undefined;
}

const MAKERS = {
  click, dblclick: click, contextmenu: click, auxclick: click, type, key: pressKey, change, file: choose, paste, drag, wheel,
  cut: (el) => copy(keyTarget(el), "cut"), copy: (el) => copy(keyTarget(el), "copy"),
  hover: (el, action) => moveTo(el, pointOf(el, action.offset), {}),
};
const BY_POINTER = /^(click|dblclick|auxclick|drag|hover|wheel)$/;

/** Does an action; `undefined`, or `{why}` if it could not be done. */
export async function perform(action) {
  if (action.kind === "navigate") return navigate(action);
  if (action.kind === "resize") return { why: "unsupported" };
  if (action.kind === "scroll" && !action.target) {
    const win = windowOf([]);
    win.scrollTo(action.scroll.x, action.scroll.y);
    return undefined;
  }
  const found = find(action.target);
  if (!found.el) return found;
  let { el } = found;
  // What has no box of its own, as a slot, is where its parent is.
  while (!el.getClientRects().length && windowAt(el).getComputedStyle(el).display === "contents") el = el.parentElement || el.getRootNode().host;
  if (action.kind === "scroll") {
    el.scrollTo(action.scroll.x, action.scroll.y);
    return undefined;
  }
  const make = MAKERS[action.kind];
  if (!make) return { why: "unsupported" };
  if (el.matches(":disabled") && action.kind !== "hover") return { why: "disabled" };
  if (BY_POINTER.test(action.kind) && !el.getClientRects().length && el.localName !== "area" && el.localName !== "option") return { why: "hidden" };
  const box = el.getBoundingClientRect();
  const win = windowAt(el);
  if (action.offset && (box.bottom < 0 || box.right < 0 || box.top > win.innerHeight || box.left > win.innerWidth)) {
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  }
  return make(el, action);
}
