// What may be known of a widget: nothing, that it is secret, that it is private, all. The nearest marked
// ancestor decides, through shadow roots and frames of this origin; a secret field is secret whatever is marked.
// What was typed into secret fields is kept in memory only, to take it out of everything else.

import { own, stringify } from "./native.js";

const MARKS = "[data-stunt-public],.stunt-public,[data-stunt-ignore],.stunt-ignore";
const SECRET = /\b(current-password|new-password|one-time-code|cc-number|cc-csc)\b/;
const closest = Element.prototype.closest;
const secrets = own(new WeakSet());
const typed = [];
const reads = new Set();

/** `public`, `ignore` or `private`. */
export function marked(el) {
  for (let at = el; at; ) {
    const found = closest.call(at, MARKS);
    if (found) {
      return found.matches("[data-stunt-ignore],.stunt-ignore") ? "ignore" : "public";
    }
    const root = at.getRootNode();
    at = root.host || frameElement(root);
  }
  return "private";
}

function frameElement(root) {
  try {
    return root.defaultView?.frameElement || null;
  } catch {
    return null;
  }
}

/** Whether the field is secret, or ever was. */
export function isSecret(el) {
  if (el.localName !== "input" && el.localName !== "textarea") return false;
  if (secrets.has(el)) return true;
  const secret = el.type === "password" || SECRET.test(el.getAttribute("autocomplete") || "");
  if (secret) secrets.add(el);
  return secret;
}

const LENGTHS = [[0, "0"], [8, "1-8"], [16, "9-16"], [32, "17-32"], [Infinity, "33+"]];
const CLASSES = [["lower", /\p{Ll}/u], ["upper", /\p{Lu}/u], ["digit", /\p{Nd}/u], ["other", /[^\p{Ll}\p{Lu}\p{Nd}]/u]];

/** All that is told about a secret text. */
export function kindOf(text) {
  return {
    length: LENGTHS.find(([most]) => text.length <= most)[1],
    classes: CLASSES.filter(([, pattern]) => pattern.test(text)).map(([name]) => name),
  };
}

/** A text of a secret field: of what is typed in one go the longest, and whatever the page has `read` meanwhile. */
export function remember(text, read) {
  if (typed.includes(text)) return;
  const last = typed.length - 1;
  if (!read && last >= 0 && text.startsWith(typed[last]) && !reads.has(typed[last])) typed[last] = text;
  else if (read || !typed.some((old) => old.startsWith(text))) typed.push(text);
  if (read) reads.add(text);
  if (typed.length > 64) reads.delete(typed.shift());
}

const PRIVATE = /^(text|value|values|html|name|title|body|url|answer|selectors)$/;

/** Takes what was typed into secret fields out of all texts of a recording, in each way in which it may be written. */
export function scrub(recording) {
  const forms = [];
  for (const text of typed) {
    if (text.length < 4) continue;
    const json = stringify(text).slice(1, -1), encoded = encodeURIComponent(text);
    forms.push(text, json, encoded, encoded.replace(/%20/g, "+"));
  }
  forms.sort((a, b) => b.length - a.length);
  const clean = (text) => forms.reduce((text, form) => text.replaceAll(form, "•".repeat(form.length)), text);
  const walk = (value, key) => {
    if (typeof value === "string") return PRIVATE.test(key) && !(key === "selectors" && !/^(aria|text)\//.test(value)) ? clean(value) : value;
    if (!value || typeof value !== "object") return value;
    for (const own of Object.keys(value)) value[own] = walk(value[own], Array.isArray(value) ? key : own);
    return value;
  };
  return forms.length ? walk(recording, "") : recording;
}
