// User actions out of trusted events: one action for everything that one press, key or choice sets off. Events
// are seen first, at the window, before any listener of the page; so what follows belongs to the action.
// Nothing is cancelled, nothing is changed.

import { now, watch } from "./native.js";
import { begin, current, elapsed, settings, state, withdraw } from "./state.js";
import { editable, editorOf, frameOf, targetOf } from "./widgets.js";
import { isSecret, kindOf, marked, remember } from "./privacy.js";
import { heard, wrapInline } from "./listeners.js";
import { needsOf } from "./graph.js";
import { base64, wait } from "./network.js";

/** Inputs whose value is set as a whole. */
const WHOLE = /^(date|datetime-local|month|week|time|color|range)$/;
const MODIFIER = /^(Shift|Control|Alt|AltGraph|Meta|CapsLock|NumLock|ScrollLock|Fn|Process|Dead|Unidentified)$/;
const FAR = 5;
const SOON = 600;

/** The press that is going on, or was last: {action, el, x, y, down, moved, path}. */
let press = null;
/** Texts that come as keys and again as input. */
let keyed = "";
let composing = false;
/** Element of the current action. */
let element = null;
let lastScrollCause = -Infinity;
let lastKeyTarget = null;

const tail = () => state.actions.at(-1);
const realTarget = (event) => {
  let el = event.composedPath()[0];
  // A slot has no box: it is where its parent is.
  while (el?.localName === "slot") el = el.parentElement || el.getRootNode().host;
  return el?.nodeType === 1 ? el : el?.nodeType === 3 ? el.parentElement : el?.nodeType === 9 ? el.documentElement : null;
};

function modifiersOf(event) {
  return ["ctrl", "shift", "alt", "meta"].filter((name) => event[name + "Key"]);
}

function offsetOf(el, event) {
  const box = el.getBoundingClientRect();
  return { x: round(event.clientX - box.left), y: round(event.clientY - box.top) };
}
const round = (x) => Math.round(x * 10) / 10;

/** Begins an action on a widget; nothing for what is to be ignored. */
function start(kind, el, fields) {
  const mark = marked(el);
  if (mark === "ignore") return null;
  const target = targetOf(el);
  if (mark === "public") target.public = true;
  element = el;
  const action = begin(kind, { target, ...fields, needs: needsOf(el) });
  return action;
}

/** Makes another kind of an action: what only the old one had goes. */
function become(action, kind) {
  action.kind = kind;
  for (const key of Object.keys(action)) if (!LASTING.test(key)) delete action[key];
}
const LASTING = /^(id|at_ms|kind|target|dialogs|calls|more_calls|needs|public)$/;
/** Whether an action has begun a moment ago. */
const fresh = (action) => elapsed() - action.at_ms < SOON;

/** Drops a hover that the next action repeats. */
function settle(el) {
  const before = tail();
  if (before?.kind === "hover" && element && (element === el || element.contains(el) || el.contains(element))) withdraw(before);
}

// The pointer.

/** Where the pointer was last. */
let place = "";
const placeOf = (event) => event.screenX + " " + event.screenY;

function pressed(event) {
  place = placeOf(event);
  const el = realTarget(event);
  if (!el) return;
  // pointerdown and mousedown are one press, also if the first has put something else under the pointer.
  if (event.type === "mousedown" && press?.down && !press.second) {
    press.second = true;
    return;
  }
  // Beyond the content is the scroll bar.
  if (event.offsetX > el.clientWidth || event.offsetY > el.clientHeight) lastScrollCause = now();
  settle(el);
  const fields = { offset: offsetOf(el, event), button: event.button, modifiers: modifiersOf(event) };
  if (event.pointerType && event.pointerType !== "mouse") fields.pointer = event.pointerType;
  const kind = event.button === 0 ? "click" : event.button === 2 ? "contextmenu" : "auxclick";
  press = { action: start(kind, el, fields), el, x: event.clientX, y: event.clientY, down: true, second: event.type === "mousedown", at: now(), path: [] };
}

function moved(event) {
  if (event.type === "mousemove") place = placeOf(event);
  if (!press || !press.down || press.path.length > 64) return;
  const x = event.clientX - press.x, y = event.clientY - press.y;
  if (Math.abs(x) + Math.abs(y) > FAR) press.path.push([round(x), round(y)]);
}

function released(event) {
  if (!press || !press.down) return;
  if (event.type === "pointercancel") return; // HTML drag and drop takes over, or scrolling by touch
  const here = realTarget(event);
  if (event.type === "pointerup" && event.pointerType === "mouse") {
    dragged(event, here);
    return;
  }
  press.down = false;
  dragged(event, here);
}

function dragged(event, el) {
  const { action } = press;
  if (!action || action.kind !== "click" || !el) return;
  const far = Math.abs(event.clientX - press.x) + Math.abs(event.clientY - press.y) > FAR;
  if (far) asDrag(action, el, event, false);
  const selection = selectionOf(el, far);
  if (selection) action.selection = selection;
}

function asDrag(action, el, event, native) {
  action.kind = "drag";
  delete action.pointer;
  const every = Math.ceil(press.path.length / 8) || 1;
  const to = targetOf(el);
  if (marked(el) === "public") to.public = true;
  Object.assign(action, { to, to_offset: offsetOf(el, event), path: press.path.filter((_, i) => i % every === 0).slice(0, 8), native });
}

/** What is selected in a field or an editor, if it is more than a caret. */
function selectionOf(el, anywhere) {
  try {
    if (editable(el) === "field") {
      return el.selectionStart !== el.selectionEnd ? { start: el.selectionStart, end: el.selectionEnd } : null;
    }
    const selection = el.ownerDocument.getSelection();
    if (!selection || selection.isCollapsed || (!anywhere && !el.isContentEditable)) return null;
    const base = el.isContentEditable ? editorOf(el) : el.ownerDocument.body;
    const range = selection.getRangeAt(0).cloneRange();
    if (!base.contains(range.commonAncestorContainer)) return null;
    const { length } = String(range);
    range.setStart(base, 0);
    const end = String(range).length;
    return { start: end - length, end };
  } catch {
    return null;
  }
}

function clicked(event) {
  const el = realTarget(event);
  if (!el) return;
  // The click of a press, of a label's field, or of a key: they have begun.
  if (press && now() - press.at < 60000 && (event.detail > 0 || !press.clicked)) {
    const first = !press.clicked;
    press.clicked = true;
    press.down = false;
    if (press.action?.kind === "click" && press.el !== el && first) return;
    if (first || Math.abs(event.clientX - press.x) + Math.abs(event.clientY - press.y) <= FAR) return;
  }
  if (event.detail === 0 && /^(key|click)$/.test(current.kind) && fresh(current)) return;
  settle(el);
  const action = start("click", el, { offset: offsetOf(el, event), button: 0, modifiers: modifiersOf(event) });
  press = { action, el, x: event.clientX, y: event.clientY, down: false, at: now(), path: [], clicked: true };
}

function doubled() {
  const action = press?.action;
  if (!action || tail() !== action) return;
  const first = state.actions.at(-2);
  action.kind = "dblclick";
  const selection = selectionOf(press.el, true);
  if (selection) action.selection = selection;
  if (first?.kind === "click" && elapsed() - first.at_ms < 2000) {
    // The first click is part of it: its calls and dialogs come first.
    const { target, offset, at_ms, needs, calls, dialogs } = first;
    action.calls.unshift(...calls);
    action.dialogs.unshift(...dialogs);
    for (const answer of state.answers) if (answer.after === first.id) answer.after = action.id;
    Object.assign(action, { target, offset, at_ms, needs });
    state.actions.splice(-2, 1);
  }
}

function menu(event) {
  const el = realTarget(event);
  if (!el) return;
  if (press?.action && now() - press.at < SOON && press.action === tail()) {
    press.action.kind = "contextmenu";
    press.action.button = 2;
    return;
  }
  if (current.kind === "key" && fresh(current)) return;
  start("contextmenu", el, { button: 2, modifiers: modifiersOf(event) });
}

function aux(event) {
  if (press?.action && press.action === tail()) return;
  const el = realTarget(event);
  if (el) start("auxclick", el, { offset: offsetOf(el, event), button: event.button, modifiers: modifiersOf(event) });
}

function dropped(event) {
  const el = realTarget(event);
  if (!el) return;
  const files = event.dataTransfer?.files;
  if (press?.dragging && press.action) {
    asDrag(press.action, el, event, true);
    return;
  }
  const action = start("drag", el, { offset: offsetOf(el, event), button: 0, modifiers: modifiersOf(event), native: true });
  if (!action) return;
  Object.assign(action, { to: action.target, to_offset: action.offset, path: [] });
  if (files?.length) takeFiles(action, files);
}

// The keyboard.

function keyDown(event) {
  const el = realTarget(event);
  if (!el || event.isComposing || event.keyCode === 229 || MODIFIER.test(event.key)) return;
  if (/^(Page|Arrow|Home|End| )/.test(event.key)) lastScrollCause = now();
  lastKeyTarget = el;
  const inField = editable(el);
  const printable = event.key.length <= 2 && [...event.key].length === 1 && !event.metaKey && (event.getModifierState("AltGraph") || !(event.ctrlKey || event.altKey));
  if (inField && printable) {
    if (el.localName === "input" && WHOLE.test(el.type)) return; // comes as a change
    keyed = event.key;
    typed(el, event.key);
    return;
  }
  const before = tail();
  if (event.repeat && before?.kind === "key" && before.key === event.key && element === el) {
    before.repeat++;
    return;
  }
  // A key that is text must not tell what is typed into a secret field.
  if (isSecret(el) && printable) return;
  settle(el);
  start("key", el, { key: event.key, code: event.code, modifiers: modifiersOf(event), repeat: 1 });
}

/** Characters typed: further ones in the same field are the same action. */
function typed(el, data) {
  const before = tail();
  if (before?.kind === "type" && before === current && element === el) {
    if (before.secret) before.secret = kindOf(el.value + data);
    else before.text += data;
    return;
  }
  settle(el);
  const action = start("type", el, {});
  if (!action) return;
  if (isSecret(el)) action.secret = kindOf(el.value + data);
  else action.text = data;
  if (action.target.public) action.public = true;
}

function inputHappens(event) {
  const el = realTarget(event);
  if (!el) return;
  if (event.type === "input" && isSecret(el)) {
    remember(el.value);
    const before = tail();
    if (before?.secret && element === el) before.secret = kindOf(el.value);
  }
  if (event.type === "beforeinput") return;
  const tag = el.localName;
  if (tag === "select" || (tag === "input" && WHOLE.test(el.type))) return changed(el);
  if (tag === "input" && /^(checkbox|radio|file)$/.test(el.type)) return;
  const kind = event.inputType || "";
  if (kind === "insertText" || kind === "insertCompositionText") {
    if (keyed && (event.data === keyed || event.data === null)) { keyed = ""; return; }
    if (kind === "insertText" && event.data && !composing) typed(el, event.data);
    return;
  }
  keyed = "";
  const byKey = lastKeyTarget && fresh(current) && /^(key|type|paste|cut|drag|click)$/.test(current.kind || "");
  if (kind.startsWith("insertFrom") || kind === "insertLineBreak" || kind === "insertParagraph" || byKey) return;
  // Autofill, spelling, undo from the menu: the field's value as a whole.
  if (editable(el) === "field") changed(el);
}

function composed(event) {
  composing = event.type !== "compositionend";
  const el = realTarget(event);
  if (!composing && el && event.data) typed(el, event.data);
}

function changed(el) {
  const before = tail();
  const again = before && element === el && (before.kind === "change" || before.kind === "key" || before.kind === "drag");
  const action = again ? before : start("change", el, {});
  if (!action) return;
  become(action, "change");
  if (el.localName === "select") action.values = [...el.selectedOptions].map((option) => option.value);
  else if (isSecret(el)) action.secret = kindOf(el.value);
  else action.value = el.value;
  if (action.target.public) action.public = true;
}


function changeHappens(event) {
  const el = realTarget(event);
  if (!el || el.localName !== "input" || el.type !== "file") return;
  const before = tail();
  const again = before && element === el && before.kind === "click";
  const action = again ? before : start("file", el, {});
  if (!action) return;
  become(action, "file");
  takeFiles(action, el.files);
}

function takeFiles(action, files) {
  if (action.target.public) action.public = true;
  action.files = [...files].map((file) => {
    const entry = { name: file.name, type: file.type, size: file.size, modified: file.lastModified, body: null };
    if (file.size > settings.files) {
      entry.omitted = "too-large";
      state.gaps.add("file:too-large");
    } else {
      wait(file.arrayBuffer().then((data) => {
        entry.body = base64(new Uint8Array(data));
      }).catch(() => { entry.omitted = "unreadable"; }));
    }
    return entry;
  });
}

function clipboard(event) {
  const el = realTarget(event);
  if (!el) return;
  const before = tail();
  const byKey = before?.kind === "key" && before === current && fresh(before);
  if (event.type !== "paste") {
    if (!byKey) start(event.type, el, {});
    return;
  }
  const data = event.clipboardData;
  // A middle press pastes what is selected elsewhere; mostly nothing.
  if (!byKey && !data?.getData("text/plain") && !data?.files.length) return;
  const action = byKey ? before : start("paste", el, {});
  if (!action || !data) return;
  become(action, "paste");
  if (isSecret(el)) {
    remember(data.getData("text/plain"));
    action.secret = kindOf(data.getData("text/plain"));
    return;
  }
  action.text = data.getData("text/plain");
  const html = data.getData("text/html");
  if (html) action.html = html;
  if (data.files?.length) takeFiles(action, data.files);
  if (action.target.public) action.public = true;
}

// The rest.

function hovered(event) {
  const el = realTarget(event);
  if (!el || (press && press.down)) return;
  // What comes to lie under a pointer at rest is no action.
  // Nor is the way over the page itself.
  if (placeOf(event) === place || /^(html|body)$/.test(el.localName)) return;
  const before = tail();
  if (before?.kind === "hover" && element === el) return;
  if (before && element === el && fresh(before)) return;
  start("hover", el, { offset: offsetOf(el, event) });
}

function wheeled(event) {
  const el = realTarget(event);
  if (!el) return;
  const before = tail();
  if (before?.kind === "wheel" && element === el && before === current) {
    if (before.event !== event) before.delta = { x: before.delta.x + event.deltaX, y: before.delta.y + event.deltaY };
  } else {
    const action = start("wheel", el, { offset: offsetOf(el, event), delta: { x: event.deltaX, y: event.deltaY }, modifiers: modifiersOf(event) });
    if (action) Object.defineProperty(action, "event", { value: event, writable: true });
    return;
  }
  before.event = event;
}

function scrolled(event) {
  if (now() - lastScrollCause > SOON) return;
  const at = event.composedPath()[0];
  const page = at?.nodeType === 9;
  const el = page ? at.scrollingElement : realTarget(event);
  if (!el) return;
  const scroll = { x: Math.round(el.scrollLeft), y: Math.round(el.scrollTop) };
  const before = tail();
  if (before?.kind === "scroll" && element === el) {
    before.scroll = scroll;
    return;
  }
  // Typing scrolls a field; that is no action of its own.
  if (before && !page && /^(type|key|paste)$/.test(before.kind) && editable(el)) return;
  if (page && frameOf(el.ownerDocument.defaultView).length === 0) {
    element = el;
    begin("scroll", { scroll });
  } else start("scroll", el, { scroll });
}

function resized(win) {
  if (win !== window) return;
  const viewport = { width: win.innerWidth, height: win.innerHeight, scale: win.devicePixelRatio };
  const before = tail();
  if (before?.kind === "resize") before.viewport = viewport;
  else {
    element = null;
    begin("resize", { viewport });
  }
}

function moveInHistory(event, win) {
  if (win !== window || elapsed() - (current.at_ms ?? -SOON) < SOON || now() - scriptMoved < SOON) return;
  const before = tail();
  if (before?.kind === "navigate" && before.url === win.location.href) return;
  element = null;
  begin("navigate", { how: event.type === "popstate" ? "history" : "hash", url: win.location.href });
}

let scriptMoved = -Infinity;
export function movedByScript() {
  scriptMoved = now();
}

let leaving = null;
function unloads(event) {
  if (!event.defaultPrevented && !event.returnValue) return;
  leaving = { type: "beforeunload", answer: false };
  current.dialogs.push(leaving);
}

const HANDLERS = {
  pointerdown: pressed, mousedown: pressed, pointermove: moved, mousemove: moved, pointerup: released, mouseup: released,
  pointercancel: released, click: clicked, dblclick: doubled, contextmenu: menu, auxclick: aux,
  dragstart: () => { if (press) press.dragging = true; }, drop: dropped, dragend: () => { if (press) { press.dragging = false; press.down = false; } },
  keydown: keyDown, beforeinput: inputHappens, input: inputHappens, change: changeHappens,
  compositionstart: composed, compositionend: composed, paste: clipboard, cut: clipboard, copy: clipboard,
  scroll: scrolled, wheel: () => { lastScrollCause = now(); }, touchmove: () => { lastScrollCause = now(); },
};
/** Further events that inline handlers are usual for. */
const INLINE = ["submit", "reset", "focus", "blur", "select", "invalid", "toggle", "keyup", "keypress", "mouseover", "mouseenter", "focusin", "focusout"];

const QUIETLY = { capture: true, passive: true };

/** Watches one window. */
export function watchActions(win) {
  const guarded = (handler) => (event) => {
    if (!state.on) return;
    wrapInline(event);
    if (!event.isTrusted) return;
    try {
      handler?.(event);
    } catch { /* a mistake of ours must not become one of the page */ }
  };
  for (const type of Object.keys(HANDLERS)) {
    watch(win, type, guarded(HANDLERS[type]), QUIETLY);
  }
  for (const type of INLINE) watch(win, type, guarded(null), QUIETLY);
  watch(win, "resize", guarded(() => resized(win)));
  for (const type of ["popstate", "hashchange"]) watch(win, type, guarded((event) => moveInHistory(event, win)));
  watch(win, "beforeunload", unloads, false);
  watch(win, "pagehide", () => { if (leaving) leaving.answer = true; leaving = null; });
  heard.wheel = wheeled;
  heard.hover = hovered;
}
