// What listeners read: the values of widgets, the clock, chance. GAUDI calls them the preconditions of a listener.
// Outside of a listener call a hook costs one comparison. Secret fields give their kind only, ignored ones nothing.

import { accessor, apply, own } from "./native.js";
import { running } from "./listeners.js";
import { settings } from "./state.js";
import { idFor } from "./widgets.js";
import { isSecret, kindOf, marked, remember } from "./privacy.js";

const MOST_READS = 16;
const LONGEST = 200;
/** Call → what it has read already: pairs of kind and widget. */
const seen = own(new WeakMap());

const GETTERS = [
  ["HTMLInputElement", "value", "value"], ["HTMLInputElement", "valueAsNumber", "value"], ["HTMLInputElement", "valueAsDate", "value"],
  ["HTMLInputElement", "checked", "checked"], ["HTMLInputElement", "files", "files"],
  ["HTMLTextAreaElement", "value", "value"], ["HTMLSelectElement", "value", "value"],
  ["HTMLSelectElement", "selectedIndex", "selectedIndex"], ["HTMLSelectElement", "selectedOptions", "selectedOptions"],
  ["HTMLOptionElement", "selected", "checked"], ["Node", "textContent", "text"], ["HTMLElement", "innerText", "text"],
  ["Element", "innerHTML", "html"],
];

/** Notes that the listener that runs has read this; `widget` may be null. */
export function noteRead(what, widget, value) {
  const call = running;
  if (!call || call.reads.length >= MOST_READS) return;
  let pairs = seen.get(call);
  if (!pairs) seen.set(call, (pairs = []));
  for (const [kind, other] of pairs) if (kind === what && other === widget) return;
  pairs.push([what, widget]);
  if (widget && widget.nodeType !== 1) return;
  if (widget && marked(widget) === "ignore") return;
  const read = { what };
  if (widget) read.widget = idFor(widget);
  if (widget && isSecret(widget) && what === "value") {
    remember(String(value), true);
    read.secret = kindOf(String(value));
  } else read.value = plain(value);
  call.reads.push(read);
}

function plain(value) {
  if (typeof value === "string") return value.length > LONGEST ? value.slice(0, LONGEST) : value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean") return value;
  if (value instanceof Date) return value.getTime();
  if (value && typeof value.length === "number") return value.length;
  return String(value);
}

/** Hooks one realm. */
export function hookReads(win) {
  if (!settings.reads) return;
  for (const [type, key, what] of GETTERS) {
    accessor(win[type]?.prototype, key, (get, self) => {
      const value = apply(get, self, []);
      if (running) {
        try { noteRead(what, self, value); } catch { /* a mistake of ours must not become one of the page */ }
      }
      return value;
    });
  }
}
