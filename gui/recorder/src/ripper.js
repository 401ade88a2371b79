// The widget and listener graph of a page (GAUDI's WLG): widgets, their listeners, and what enables what. A file of its
// own, for tools: it adds `graph()` to the recorder's `__stunt`, and looks at everything only when asked.

const USABLE = "a[href],button,input,select,textarea,summary,[role],[tabindex],[contenteditable],[draggable=true]";
const { enabled, frameOf, idFor, listenersOf, nameOf, registered, roleOf, state, targetOf, windows } = window.__stunt.inside;

/** The graph as it is now. */
function graph() {
  const widgets = new Map();
  const listeners = [];
  const add = (el) => {
    const id = idFor(el);
    if (widgets.has(id) || !el.isConnected) return;
    const box = el.getBoundingClientRect();
    widgets.set(id, {
      id, parent: null, tag: el.localName, role: roleOf(el), name: nameOf(el), selectors: targetOf(el).selectors,
      frame: frameOf(el.ownerDocument.defaultView), visible: box.width > 0 && box.height > 0, enabled: !el.matches(":disabled"), el,
    });
  };
  for (const win of windows()) {
    for (const el of win.document.querySelectorAll(USABLE)) add(el);
  }
  for (const ref of registered) {
    const el = ref.deref();
    if (el?.isConnected) add(el);
    else if (!el) registered.delete(ref);
  }
  const targets = [...widgets.values()].map((widget) => [widget.id, widget.el]);
  for (const win of windows()) targets.push([idFor(win), win], [idFor(win.document), win.document]);
  const calls = countCalls();
  for (const [id, el] of targets) {
    for (const listener of listenersOf(el)) {
      listeners.push({ id: listener.id, widget: id, event: listener.event, how: listener.how, calls: calls.get(listener.id) || 0 });
    }
  }
  for (const widget of widgets.values()) {
    for (let at = widget.el.parentElement; at; at = at.parentElement) {
      if (widgets.has(idFor(at))) { widget.parent = idFor(at); break; }
    }
    delete widget.el;
  }
  return { schema: "stunt-graph-1", widgets: [...widgets.values()], listeners, enables: edges() };
}

function countCalls() {
  const calls = new Map();
  for (const action of [state.load, ...state.actions]) {
    for (const call of action.calls) calls.set(call.listener, (calls.get(call.listener) || 0) + call.count);
  }
  return calls;
}

function edges() {
  const found = new Map();
  for (const { kind, widget, elements } of enabled.values()) {
    for (const ref of elements) {
      const el = ref.deref();
      if (!el?.isConnected) continue;
      const inside = [...el.querySelectorAll(USABLE)];
      if (el.matches(USABLE) || listenersOf(el).length) inside.unshift(el);
      for (const part of inside.slice(0, 50)) {
        const id = idFor(part);
        const key = kind + " " + widget + " " + id;
        const old = found.get(key);
        if (old) old.times++;
        else found.set(key, { kind, widget, enables: id, times: 1 });
      }
    }
  }
  return [...found.values()];
}

window.__stunt.graph = graph;
