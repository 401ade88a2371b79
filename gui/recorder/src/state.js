// The recording as it grows: actions in a ring, the action that everything is attributed to, answers, failures.
// Knows no events and no hooks.

import { now } from "./native.js";

export const settings = {
  actions: 500, console: false, assert: true, persist: false, bodies: 262144, files: 1048576, reads: true,
  random: true,
  ...(typeof window.__stuntConfig === "object" ? window.__stuntConfig : null),
};

export const state = {
  on: true,
  start: now(),
  load: { dialogs: [], calls: [] },
  actions: [],
  answers: [],
  nextAction: 1,
  nextAnswer: 1,
  dropped: 0,
  failure: null,
  others: [],
  gaps: new Set(),
  /** What must still be read before a recording is complete. */
  pending: new Set(),
};

/** The action that calls, dialogs and answers belong to; `load` before the first one. */
export let current = state.load;

export const elapsed = () => Math.round((now() - state.start) * 10) / 10;
export const currentId = () => current.id || 0;

/** Begins an action. */
export function begin(kind, fields) {
  const action = { id: state.nextAction++, at_ms: elapsed(), kind, ...fields, dialogs: [], calls: [], needs: fields.needs || [] };
  state.actions.push(action);
  current = action;
  while (state.actions.length > settings.actions) {
    state.actions.shift();
    state.dropped++;
  }
  return action;
}

/** Takes the last action back: what it caused goes to the one before. */
export function withdraw(action) {
  if (state.actions.at(-1) !== action) return;
  state.actions.pop();
  const before = state.actions.at(-1) || state.load;
  before.dialogs.push(...action.dialogs);
  for (const call of action.calls) if (before.calls.length < 64) before.calls.push(call);
  for (const answer of state.answers) if (answer.after === action.id) answer.after = before.id || 0;
  current = before;
}

/** Begins again with nothing. */
export function clear() {
  Object.assign(state, { load: { dialogs: [], calls: [] }, actions: [], answers: [], dropped: 0, failure: null, others: [] });
  current = state.load;
}

export function resumeAt(action) {
  current = action;
}
