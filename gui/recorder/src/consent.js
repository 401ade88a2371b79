// <stunt-consent url="…">: after a failure it shows what was recorded, in words, and sends it only if the person says
// so: to `url`, once, without cookies; without `url` it can be saved as a file. <stunt-help>: a button by which a
// person asks for help. What happens inside both is not recorded. Nothing is sent before a press on *Send*.

import { inWords } from "./words.js";

const STYLE = `
:host { color-scheme: light dark; }
dialog { font: 1rem/1.5 system-ui, sans-serif; max-width: min(44rem, 92vw); max-height: 88vh; padding: 1.25rem 1.5rem; border: 1px solid #767676; border-radius: .5rem; color: #1b1b1b; background: #fff; }
dialog::backdrop { background: rgb(0 0 0 / .5); }
h2 { margin: 0 0 .5rem; font-size: 1.25rem; }
ol { max-height: 16rem; overflow: auto; margin: .75rem 0; padding: .5rem .5rem .5rem 2.25rem; border: 1px solid #767676; border-radius: .25rem; }
li { overflow-wrap: anywhere; }
p { margin: .5rem 0; }
.row { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1rem; }
button { font: inherit; padding: .4rem 1rem; border: 1px solid #5f5f5f; border-radius: .25rem; background: #f2f2f2; color: #1b1b1b; cursor: pointer; }
button.main { background: #0b57d0; border-color: #0b57d0; color: #fff; }
button:focus-visible, ol:focus-visible, summary:focus-visible { outline: 3px solid #0b57d0; outline-offset: 2px; }
pre { max-height: 14rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; }
@media (prefers-color-scheme: dark) {
  dialog { color: #ececec; background: #1e1f22; border-color: #8a8a8a; }
  button { background: #34363b; color: #ececec; border-color: #9a9a9a; }
  button.main { background: #a8c7fa; border-color: #a8c7fa; color: #062e6f; }
  button:focus-visible, ol:focus-visible, summary:focus-visible { outline-color: #a8c7fa; }
}`;

const PAGE = `<style>${STYLE}</style>
<dialog aria-labelledby="title" aria-describedby="about">
  <h2 id="title"><slot name="title">Something went wrong</slot></h2>
  <p id="about"><slot>This page failed. It would help its makers to know what led to it. Below is what would be sent, with the texts that you typed; passwords are never part of it.</slot></p>
  <ol tabindex="0" aria-label="Steps" data-stunt-ignore></ol>
  <p class="more"></p>
  <details><summary>Everything that would be sent</summary><pre tabindex="0" aria-label="Everything that would be sent"></pre></details>
  <p class="state" role="status"></p>
  <div class="row">
    <button type="button" class="main" name="send">Send</button>
    <button type="button" name="save">Save as a file</button>
    <button type="button" name="decline">Do not send</button>
  </div>
</dialog>`;

class Consent extends HTMLElement {
  #recording = null;
  #off = null;
  #root = this.attachShadow({ mode: "open" });

  connectedCallback() {
    this.setAttribute("data-stunt-ignore", "");
    this.#root.innerHTML = PAGE;
    this.#part("[name=send]").onclick = () => this.#send();
    this.#part("[name=save]").onclick = () => this.#save();
    this.#part("[name=decline]").onclick = () => this.#close("stunt-declined");
    this.#part("dialog").oncancel = () => this.#close("stunt-declined");
    this.#off = window.__stunt?.on((recording) => this.show(recording));
  }

  disconnectedCallback() {
    this.#off?.();
  }

  /** Shows a recording and asks; a question that is already open stays. */
  show(recording) {
    const dialog = this.#part("dialog");
    if (dialog.open || this.hasAttribute("declined")) return;
    this.#recording = recording;
    const steps = recording.actions.map((action) => {
      const item = document.createElement("li");
      item.textContent = inWords(action);
      return item;
    });
    this.#part("ol").replaceChildren(...steps);
    const { answers, environment, dropped } = recording;
    const also = [["answer", answers.length, "from the network"], ["stored value", environment.storage.length, "of this site"], ["earlier step", dropped, "that is no longer known"]];
    this.#part(".more").textContent = also.filter(([, count]) => count).map(([what, count, where]) => `${count} ${what}${count === 1 ? "" : "s"} ${where}`).join("; ");
    this.#part("pre").textContent = JSON.stringify(recording, null, 1);
    this.#part(".state").textContent = "";
    this.#part("[name=send]").hidden = !this.getAttribute("url");
    dialog.showModal();
  }

  async #send() {
    const button = this.#part("[name=send]");
    button.disabled = true;
    this.#part(".state").textContent = "Sending…";
    try {
      const answer = await fetch(this.getAttribute("url"), {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(this.#recording),
        credentials: "omit", referrerPolicy: "no-referrer", redirect: "error",
      });
      if (!answer.ok) throw new Error(String(answer.status));
      this.#close("stunt-sent");
    } catch {
      this.#part(".state").textContent = "It could not be sent. You can save it as a file instead.";
    }
    button.disabled = false;
  }

  #save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(this.#recording)], { type: "application/json" }));
    link.download = "stunt-recording.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    this.#part(".state").textContent = "Saved.";
  }

  #close(what) {
    this.#recording = null;
    this.#part("pre").textContent = "";
    this.#part("ol").replaceChildren();
    this.#part("dialog").close();
    // Who has said no once is not asked again by this page.
    if (what === "stunt-declined") this.setAttribute("declined", "");
    this.dispatchEvent(new CustomEvent(what, { bubbles: true }));
  }

  #part(css) {
    return this.#root.querySelector(css);
  }
}

class Help extends HTMLElement {
  connectedCallback() {
    this.setAttribute("data-stunt-ignore", "");
    const root = this.shadowRoot || this.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${STYLE}</style><button type="button"><slot>Report a problem</slot></button>`;
    root.querySelector("button").onclick = () => {
      document.querySelector("stunt-consent[declined]")?.removeAttribute("declined");
      window.__stunt?.assist();
    };
  }
}

if (!customElements.get("stunt-consent")) {
  customElements.define("stunt-consent", Consent);
  customElements.define("stunt-help", Help);
}
