// Keys for the ticket browser: / searches, j and k go through the list, u goes up.
// They can be turned off, and they do nothing while somebody types.
"use strict";
(() => {
  const button = document.getElementById("keys");
  let on = true;
  try { on = localStorage.getItem("keys") !== "off"; } catch { /* kept for this page alone */ }
  const show = () => {
    if (!button) return;
    button.hidden = false;
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Keys are on" : "Keys are off";
  };
  show();
  button?.addEventListener("click", () => {
    on = !on;
    try { localStorage.setItem("keys", on ? "on" : "off"); } catch { /* see above */ }
    show();
  });

  // The way up leads to the list as it was: its address has the whole question.
  const up = document.querySelector("a[data-key=u]");
  try {
    if (document.getElementById("results")) {
      addEventListener("pagehide", () => sessionStorage.setItem("list", location.search));
    } else if (up) {
      up.href = "/" + (sessionStorage.getItem("list") ?? "");
    }
  } catch { /* it leads to the whole list */ }

  const move = (step) => {
    const links = [...document.querySelectorAll("a.ticket")];
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
    links[Math.max(0, Math.min(links.length - 1, next))].focus();
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && typing?.id === "search") {
      // Browsers would empty the field as well, and the list would change under the reader.
      event.preventDefault();
      typing.blur();
      return;
    }
    if (!on || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    switch (event.key) {
      case "/": {
        const search = document.getElementById("search");
        if (!search) return;
        search.focus();
        search.select();
        break;
      }
      case "j": move(1); break;
      case "k": move(-1); break;
      case "u":
        if (!up) return;
        up.click();
        break;
      default: return;
    }
    event.preventDefault();
  });
})();
