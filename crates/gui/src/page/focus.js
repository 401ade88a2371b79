// Puts the caret into a widget, unless it is there: as a person would by Tab, where a click would do more.
(target) => {
  let scope = document;
  for (const index of target.frame || []) {
    try { scope = scope.defaultView.frames[index].document; } catch { return false; }
    if (!scope) return false;
  }
  for (const path of target.selectors || []) {
    try {
      let root = scope, element = null;
      for (const selector of [].concat(path)) {
        if (/^(aria|text|xpath)\//.test(selector)) { element = null; break; }
        if (element) root = element.shadowRoot;
        const all = root.querySelectorAll(selector.replace(/^pierce\//, ''));
        element = all.length === 1 ? all[0] : null;
        if (!element) break;
      }
      if (!element || (target.tag && element.localName !== target.tag)) continue;
      let active = element.getRootNode().activeElement;
      if (active === element || (active && element.contains(active))) return true;
      element.focus();
      return true;
    } catch { /* a selector that this browser does not know */ }
  }
  return false;
}
