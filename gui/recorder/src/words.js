// A recorded action in words, as a person would tell it. Plain text: whoever shows it escapes it.

const NAMED = { button: "button", link: "link", textbox: "field", searchbox: "field", spinbutton: "field", checkbox: "box", radio: "choice", combobox: "list", listbox: "list", cell: "cell", option: "option", heading: "heading" };
const KINDS = { click: "click", dblclick: "double-click", contextmenu: "open the menu of", auxclick: "click with another button on", hover: "move onto", wheel: "turn the wheel over", cut: "cut from", copy: "copy from" };

/** `Save (button)`, or the tag where there is no name. */
function widget(target) {
  const kind = NAMED[target.role] || (target.editable ? "field" : target.tag);
  return target.name ? `“${target.name}” (${kind})` : `a ${kind}`;
}

function many(count, thing) {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

function typed({ text, value, secret }) {
  const what = text ?? value;
  return secret ? `a secret of ${secret.length} characters` : `“${what}”`;
}

/** One sentence without a full stop. */
export function inWords(action) {
  const { kind, target } = action;
  const dialogs = action.dialogs.map(({ type, answer }) => (type === "alert" ? "close a message" : answer === false || answer === null ? "refuse a question" : "accept a question"));
  const then = dialogs.length ? "; then " + dialogs.join(", ") : "";
  return sentence(kind, target, action) + then;
}

function sentence(kind, target, action) {
  switch (kind) {
    case "type": return `type ${typed(action)} into ${widget(target)}`;
    case "paste": return `paste ${action.text || action.secret ? typed(action) : many((action.files || []).length, "file")} into ${widget(target)}`;
    case "change": return action.values ? `choose ${action.values.map((value) => `“${value}”`).join(", ") || "nothing"} in ${widget(target)}` : `set ${widget(target)} to ${typed(action)}`;
    case "key": return `press ${[...action.modifiers.map((name) => name[0].toUpperCase() + name.slice(1)), action.key === " " ? "Space" : action.key].join("+")}${action.repeat > 1 ? ` ${action.repeat} times` : ""}`;
    case "file": return `choose ${action.files.map((file) => `“${file.name}”, with its contents`).join(", ") || "no file"} in ${widget(target)}`;
    case "drag": return action.files ? `drop ${many(action.files.length, "file")}, with contents, on ${widget(target)}` : `drag ${widget(target)} to ${widget(action.to)}`;
    case "scroll": return target ? `scroll in ${widget(target)}` : "scroll the page";
    case "resize": return `make the window ${action.viewport.width} by ${action.viewport.height}`;
    case "navigate": return action.how === "load" ? "open another page" : "move in the history";
    default: return `${KINDS[kind] || kind} ${widget(target)}`;
  }
}
