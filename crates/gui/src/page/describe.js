// Describes a widget as it is in this run of the page: by structure, by words for people, and one of how many
// it is. What the recording says of it serves only to find it.
(target) => {
  const USABLE = 'a[href],button,input,select,textarea,summary,label,option,[role],[tabindex],[contenteditable],[onclick]';
  let scope = document;
  for (const index of target.frame || []) {
    try { scope = scope.defaultView.frames[index].document; } catch { return null; }
    if (!scope) return null;
  }
  const query = (root, selector) => {
    if (/^(aria|text)\//.test(selector)) return null;
    if (selector.startsWith('xpath/')) {
      const owner = root.ownerDocument || root;
      return owner.evaluate(selector.slice(6), root, null, 9, null).singleNodeValue;
    }
    const all = root.querySelectorAll(selector.replace(/^pierce\//, ''));
    return all.length === 1 ? all[0] : null;
  };
  let found = null;
  for (const path of target.selectors || []) {
    try {
      let root = scope, element = null;
      for (const selector of [].concat(path)) {
        if (element) root = element.shadowRoot;
        element = query(root, selector);
        if (!element) break;
      }
      if (element) { found = element; break; }
    } catch { /* a selector that this browser does not know */ }
  }
  if (!found) return null;
  const within = (element) => {
    const parts = [];
    const root = element.getRootNode();
    for (let at = element; at && at.nodeType === 1; at = at.parentElement) {
      if (at.id && root.querySelectorAll('#' + CSS.escape(at.id)).length === 1) {
        parts.unshift('#' + CSS.escape(at.id));
        break;
      }
      const same = [...(at.parentNode || {}).children || [at]].filter(it => it.localName === at.localName);
      const name = CSS.escape(at.localName);
      // From the top of a shadow: what is deeper in it may look alike.
      const top = at.parentNode === root && root.host ? ':not(* > *)' : '';
      parts.unshift((same.length > 1 ? name + ':nth-of-type(' + (same.indexOf(at) + 1) + ')' : name) + top);
    }
    return parts.join(' > ');
  };
  const path = [];
  for (let at = found; at;) {
    path.unshift(within(at));
    const root = at.getRootNode();
    at = root.host || null;
  }
  const shown = (element) => element.getClientRects().length > 0;
  const count = (selector) => {
    let number = 0;
    const walk = (root) => {
      for (const element of root.querySelectorAll('*')) {
        if (!selector || (element.matches(selector) && shown(element))) number++;
        if (element.shadowRoot) walk(element.shadowRoot);
      }
    };
    walk(scope);
    return number;
  };
  const words = (text) => (text || '').replace(/\s+/g, ' ').trim().slice(0, 80);
  const by = (element, attribute) => (element.getAttribute(attribute) || '').split(/\s+/)
    .map(id => id && element.getRootNode().getElementById && element.getRootNode().getElementById(id))
    .filter(Boolean).map(it => it.textContent).join(' ');
  const name = (element) => words(element.getAttribute('aria-label') || by(element, 'aria-labelledby') ||
    (element.labels && [...element.labels].map(it => it.textContent).join(' ')) ||
    element.getAttribute('alt') || element.getAttribute('title') || element.getAttribute('placeholder') ||
    (/^(submit|button|reset)$/.test(element.type) && element.localName === 'input' && element.value) ||
    (element.matches('input,select,textarea') || element.isContentEditable ? '' : element.innerText));
  const input = { checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', button: 'button',
    submit: 'button', reset: 'button', image: 'button', search: 'searchbox', password: '' };
  const roles = { a: 'link', button: 'button', select: 'combobox', textarea: 'textbox', option: 'option', dialog: 'dialog',
    form: 'form', nav: 'navigation', table: 'table', td: 'cell', th: 'columnheader', tr: 'row', li: 'listitem', img: 'image',
    summary: 'button', h1: 'heading', h2: 'heading', h3: 'heading', label: 'label' };
  const role = (element) => element.getAttribute('role') ||
    (element.localName === 'input' ? input[element.type] ?? 'textbox' : roles[element.localName] || '');
  let holder = null;
  for (let at = found.parentElement; at && !holder; at = at.parentElement) {
    if (!/^(dialog|alertdialog|form|region|navigation|menu|toolbar|tabpanel|table|grid)$/.test(role(at))) continue;
    const heading = at.querySelector('h1,h2,h3,legend,caption');
    const called = words(at.getAttribute('aria-label') || by(at, 'aria-labelledby') || (heading && heading.textContent));
    if (called || /dialog/.test(role(at))) holder = { role: role(at), name: called };
  }
  const usable = found.matches(USABLE) && shown(found);
  const described = {
    selectors: [path], widget: path.join('>>'), tag: found.localName, role: role(found), name: name(found),
    frame: target.frame || [],
  };
  if (/^(input|button)$/.test(found.localName)) described.type = found.type;
  if (found.matches('input,textarea')) described.editable = 'field';
  else if (found.isContentEditable) described.editable = 'rich';
  if (holder) described.within = holder;
  return {
    target: described, usable, count: count(usable ? USABLE : ''),
    options: found.localName === 'select' ? [...found.options].map(it => it.value) : [],
  };
}
