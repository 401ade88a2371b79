// Who a widget is: ids that are the same in each run of the same page, and several selectors, best first,
// each of which denotes exactly this widget now. Also roles and accessible names, by the common cases of the
// standard. Refuses to know actions; changes nothing in the page.

import { own, stringify } from "./native.js";

const TEST_IDS = ["data-testid", "data-test", "data-test-id", "data-cy", "data-qa"];
const quote = stringify;
const tagOf = (el) => el.localName || "";
export const rootOf = (node) => node.getRootNode();
const hostOf = (el) => rootOf(el).host || null;

/** Roles that tags have by themselves; of `input` by its type, else it is a text box. */
const ROLES = Object.fromEntries(
  ("area:link,button:button,summary:button,textarea:textbox,option:option,img:img,li:listitem,td:cell,th:columnheader," +
    "h1:heading,h2:heading,h3:heading").split(",").map((pair) => pair.split(":")));
const INPUTS = { image: "button", range: "slider", number: "spinbutton", search: "searchbox" };
for (const type of ["button", "submit", "reset"]) INPUTS[type] = "button";
for (const type of ["checkbox", "radio"]) INPUTS[type] = type;
for (const type of ["hidden", "file", "color", "date", "datetime-local", "month", "week", "time", "password"]) INPUTS[type] = "";
/** Roles whose name is their text. */
const BY_TEXT = /^(button|link|option|cell|.*header|heading|tab|menuitem.*|treeitem|checkbox|radio|switch|listitem)$/;

export function roleOf(el) {
  const own = el.getAttribute("role");
  if (own) return own.trim().split(/\s+/)[0];
  const tag = tagOf(el);
  if (tag === "a") return el.hasAttribute("href") ? "link" : "";
  if (tag === "select") return el.multiple || el.size > 1 ? "listbox" : "combobox";
  if (tag === "input") return INPUTS[el.type] ?? (el.hasAttribute("list") ? "combobox" : "textbox");
  return (Object.hasOwn(ROLES, tag) && ROLES[tag]) || "";
}

const words = (text) => (text || "").replace(/\s+/g, " ").trim().slice(0, 80);

export function nameOf(el) {
  const by = el.getAttribute("aria-labelledby");
  if (by) {
    const name = words(by.split(/\s+/).map((id) => rootOf(el).getElementById?.(id)?.textContent || "").join(" "));
    if (name) return name;
  }
  const label = words(el.getAttribute("aria-label"));
  if (label) return label;
  if (el.labels?.length) {
    const name = words([...el.labels].map((label) => labelText(label)).join(" "));
    if (name) return name;
  }
  const tag = tagOf(el);
  if (tag === "input" && /^(submit|button|reset)$/.test(el.type)) return words(el.getAttribute("value") || el.type);
  if (BY_TEXT.test(roleOf(el))) {
    const name = words(el.textContent);
    if (name) return name;
  }
  return words(el.getAttribute("alt") || el.getAttribute("title") || el.getAttribute("placeholder"));
}

/** A label's text without what is typed in the field inside it. */
function labelText(label) {
  let text = "";
  for (const node of label.childNodes) if (!/^(textarea|select|input|#comment)$/i.test(node.nodeName)) text += node.textContent;
  return text;
}

const isLasting = (id) => id && id.length < 60 && !/\d{3,}|[:\s]|[0-9a-f]{8,}/i.test(id);

function finds(root, css, el) {
  try {
    const all = root.querySelectorAll(css);
    return all.length === 1 && all[0] === el;
  } catch {
    return false;
  }
}

const idOf = (el) => {
  const id = el.getAttribute("id");
  return isLasting(id) && finds(rootOf(el), "#" + CSS.escape(id), el) ? id : "";
};

/** Steps from the nearest ancestor with a lasting id: [start, [tag, position, alone]…]. */
function steps(el) {
  const list = [];
  for (let at = el; at; at = at.parentElement) {
    const id = idOf(at);
    if (id) return [id, list];
    const tag = tagOf(at);
    let position = 1, alone = true;
    for (let s = at.previousElementSibling; s; s = s.previousElementSibling) if (tagOf(s) === tag) position++, alone = false;
    for (let s = at.nextElementSibling; alone && s; s = s.nextElementSibling) if (tagOf(s) === tag) alone = false;
    list.unshift([tag, position, alone]);
    if (tag === "body") return ["", list];
  }
  return ["", list];
}

function structure(el) {
  const [id, list] = steps(el);
  const css = list.map(([tag, position, alone]) => CSS.escape(tag) + (alone ? "" : `:nth-of-type(${position})`));
  if (id) css.unshift("#" + CSS.escape(id));
  else if (hostOf(el) && !finds(rootOf(el), css.join(" > "), el)) css[0] += ":not(* > *)"; // from the top of the shadow
  return css.join(" > ");
}

/** Where a window is in the tree of frames, or null if a frame between is of another origin. */
export function frameOf(win) {
  const path = [];
  try {
    for (let at = win; at !== at.parent; at = at.parent) {
      let index = -1;
      for (let i = 0; i < at.parent.length; i++) if (at.parent[i] === at) index = i;
      path.unshift(index);
      void at.parent.document;
    }
  } catch { /* the top is another site's: we count from here */ }
  return path;
}

const ids = own(new WeakMap());

/** The stable id of a widget, a document or a window. */
export function idFor(target) {
  const known = ids.get(target);
  if (known) return known;
  const id = makeId(target);
  // A detached element gets its true id as soon as it is in the page.
  if (id && !id.startsWith("?")) ids.set(target, id);
  return id || "?";
}

function makeId(target) {
  if (target.window === target) return prefix(target) + "window";
  if (target.nodeType === 9) return prefix(target.defaultView) + "document";
  if (target.nodeType !== 1) return target.host ? idFor(target.host) + ">>" : "?" + (target.constructor?.name || "");
  const host = hostOf(target);
  const css = structure(target).replace(/ > /g, ">").replace(/:nth-of-type\((\d+)\)/g, ":$1");
  if (host) return idFor(host) + ">>" + css;
  return (target.isConnected ? "" : "?") + prefix(target.ownerDocument.defaultView) + css;
}

function prefix(win) {
  const path = win ? frameOf(win) : [];
  return path.map((index) => `frame${index}|`).join("");
}

/** Whether of not too many elements like this one it alone is so; a stated role may be on any tag. */
function isOnly(el, holds) {
  const stated = el.getAttribute("role");
  const twins = rootOf(el).querySelectorAll(stated ? `[role=${quote(stated)}]` : CSS.escape(tagOf(el)));
  return twins.length <= 200 && [...twins].filter(holds).length === 1;
}

/** Everything by which a widget can be found again. */
export function targetOf(el) {
  const role = roleOf(el), name = nameOf(el), root = rootOf(el), tag = tagOf(el);
  const inner = [];
  const add = (before, attribute) => {
    const value = el.getAttribute(attribute);
    const css = `${before}[${attribute}=${quote(value)}]`;
    if (value && finds(root, css, el)) inner.push(css);
  };
  for (const attribute of TEST_IDS) add("", attribute);
  if (role && name && isOnly(el, (twin) => roleOf(twin) === role && nameOf(twin) === name)) inner.push(`aria/${name}[role=${quote(role)}]`);
  if (/^(input|select|textarea|button)$/.test(tag)) add(tag, "name");
  inner.push(structure(el));
  const path = hostPath(el);
  const selectors = inner.map((selector) => [...path, selector]);
  const text = el.childElementCount === 0 && !editable(el) ? words(el.textContent) : "";
  if (text && text.length <= 40 && isOnly(el, (twin) => words(twin.textContent) === text)) selectors.push([...path, "text/" + text]);
  const target = { selectors, widget: idFor(el), tag, role, name, frame: frameOf(el.ownerDocument.defaultView || window) };
  if (/^(input|button)$/.test(tag)) target.type = el.type;
  const kind = editable(el);
  if (kind) target.editable = kind;
  return target;
}

function hostPath(el) {
  const host = hostOf(el);
  return host ? [...hostPath(host), structure(host)] : [];
}

const NOT_TEXT = /^(button|submit|reset|image|checkbox|radio|file|range|color|hidden)$/;

/** `field`, `rich` or nothing. */
export function editable(el) {
  const tag = tagOf(el);
  if (tag === "textarea" || (tag === "input" && !NOT_TEXT.test(el.type))) return "field";
  return el.isContentEditable ? "rich" : "";
}

/** The outermost element that is edited as one. */
export function editorOf(el) {
  let at = el;
  while (at.parentElement?.isContentEditable) at = at.parentElement;
  return at;
}
