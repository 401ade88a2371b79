// Which widget came to be by which action: watches insertions and enabling. What an action needs comes from here,
// and the edges of the graph that `ripper.js` makes.

import { own } from "./native.js";
import { current, currentId, state } from "./state.js";

/** Element → id of the action after which it was inserted or enabled. */
const born = own(new WeakMap());
/** Pairs of the action's kind and widget and what they enabled → how often. */
export const enabled = own(new Map());
const MOST_EDGES = 2000;
const ENABLING = ["disabled", "hidden", "open", "aria-disabled", "aria-hidden", "inert", "contenteditable", "readonly"];
/** Attributes that enable by being there. */
const GIVING = /^(open|contenteditable)$/;
const Observer = MutationObserver;

/** Ids of the actions without which this widget was not there. */
export function needsOf(el) {
  const needs = new Set();
  for (let at = el; at; at = at.parentElement || at.getRootNode().host) {
    const id = born.get(at);
    if (id) needs.add(id);
  }
  return [...needs].filter((id) => !state.actions.length || id >= state.actions[0].id).sort((a, b) => a - b);
}

/** `found` sees each element that was inserted: frames and shadow roots have to be followed. */
export function watchTree(root, found) {
  new Observer((records) => {
    if (!state.on) return;
    const id = currentId();
    for (const record of records) {
      if (record.type === "childList") {
        for (const node of record.addedNodes) {
          if (node.nodeType !== 1) continue;
          if (id) born.set(node, id);
          edge(node);
          found(node);
        }
      } else if (id && record.target.hasAttribute(record.attributeName) === (GIVING.test(record.attributeName))) {
        born.set(record.target, id);
        edge(record.target);
      }
    }
  }).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ENABLING });
}

/** Edges are kept as elements; names are made when somebody asks. */
function edge(el) {
  if (!current.target || enabled.size >= MOST_EDGES) return;
  const key = current.kind + " " + current.target.widget;
  let list = enabled.get(key);
  if (!list) enabled.set(key, (list = { kind: current.kind, widget: current.target.widget, elements: [] }));
  if (list.elements.length < 200) list.elements.push(new WeakRef(el));
}
