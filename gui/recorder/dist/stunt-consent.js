/*! stunt 0.2.0, MIT OR Apache-2.0 */
(()=>{var g={button:"button",link:"link",textbox:"field",searchbox:"field",spinbutton:"field",checkbox:"box",radio:"choice",combobox:"list",listbox:"list",cell:"cell",option:"option",heading:"heading"},y={click:"click",dblclick:"double-click",contextmenu:"open the menu of",auxclick:"click with another button on",hover:"move onto",wheel:"turn the wheel over",cut:"cut from",copy:"copy from"};function s(o){let e=g[o.role]||(o.editable?"field":o.tag);return o.name?`“${o.name}” (${e})`:`a ${e}`}function m(o,e){return`${o} ${e}${o===1?"":"s"}`}function d({text:o,value:e,secret:t}){return t?`a secret of ${t.length} characters`:`“${o??e}”`}function b(o){let{kind:e,target:t}=o,n=o.dialogs.map(({type:c,answer:l})=>c==="alert"?"close a message":l===!1||l===null?"refuse a question":"accept a question"),a=n.length?"; then "+n.join(", "):"";return k(e,t,o)+a}function k(o,e,t){switch(o){case"type":return`type ${d(t)} into ${s(e)}`;case"paste":return`paste ${t.text||t.secret?d(t):m((t.files||[]).length,"file")} into ${s(e)}`;case"change":return t.values?`choose ${t.values.map(n=>`“${n}”`).join(", ")||"nothing"} in ${s(e)}`:`set ${s(e)} to ${d(t)}`;case"key":return`press ${[...t.modifiers.map(n=>n[0].toUpperCase()+n.slice(1)),t.key===" "?"Space":t.key].join("+")}${t.repeat>1?` ${t.repeat} times`:""}`;case"file":return`choose ${t.files.map(n=>`“${n.name}”, with its contents`).join(", ")||"no file"} in ${s(e)}`;case"drag":return t.files?`drop ${m(t.files.length,"file")}, with contents, on ${s(e)}`:`drag ${s(e)} to ${s(t.to)}`;case"scroll":return e?`scroll in ${s(e)}`:"scroll the page";case"resize":return`make the window ${t.viewport.width} by ${t.viewport.height}`;case"navigate":return t.how==="load"?"open another page":"move in the history";default:return`${y[o]||o} ${s(e)}`}}var p=`
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
}`,v=`<style>${p}</style>
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
</dialog>`,u=class extends HTMLElement{#t=null;#n=null;#s=this.attachShadow({mode:"open"});connectedCallback(){this.setAttribute("data-stunt-ignore",""),this.#s.innerHTML=v,this.#e("[name=send]").onclick=()=>this.#i(),this.#e("[name=save]").onclick=()=>this.#r(),this.#e("[name=decline]").onclick=()=>this.#o("stunt-declined"),this.#e("dialog").oncancel=()=>this.#o("stunt-declined"),this.#n=window.__stunt?.on(e=>this.show(e))}disconnectedCallback(){this.#n?.()}show(e){let t=this.#e("dialog");if(t.open||this.hasAttribute("declined"))return;this.#t=e;let n=e.actions.map(i=>{let r=document.createElement("li");return r.textContent=b(i),r});this.#e("ol").replaceChildren(...n);let{answers:a,environment:c,dropped:l}=e,f=[["answer",a.length,"from the network"],["stored value",c.storage.length,"of this site"],["earlier step",l,"that is no longer known"]];this.#e(".more").textContent=f.filter(([,i])=>i).map(([i,r,w])=>`${r} ${i}${r===1?"":"s"} ${w}`).join("; "),this.#e("pre").textContent=JSON.stringify(e,null,1),this.#e(".state").textContent="",this.#e("[name=send]").hidden=!this.getAttribute("url"),t.showModal()}async#i(){let e=this.#e("[name=send]");e.disabled=!0,this.#e(".state").textContent="Sending…";try{let t=await fetch(this.getAttribute("url"),{method:"POST",headers:{"content-type":"application/json"},body:JSON.stringify(this.#t),credentials:"omit",referrerPolicy:"no-referrer",redirect:"error"});if(!t.ok)throw new Error(String(t.status));this.#o("stunt-sent")}catch{this.#e(".state").textContent="It could not be sent. You can save it as a file instead."}e.disabled=!1}#r(){let e=document.createElement("a");e.href=URL.createObjectURL(new Blob([JSON.stringify(this.#t)],{type:"application/json"})),e.download="stunt-recording.json",e.click(),setTimeout(()=>URL.revokeObjectURL(e.href),1e3),this.#e(".state").textContent="Saved."}#o(e){this.#t=null,this.#e("pre").textContent="",this.#e("ol").replaceChildren(),this.#e("dialog").close(),e==="stunt-declined"&&this.setAttribute("declined",""),this.dispatchEvent(new CustomEvent(e,{bubbles:!0}))}#e(e){return this.#s.querySelector(e)}},h=class extends HTMLElement{connectedCallback(){this.setAttribute("data-stunt-ignore","");let e=this.shadowRoot||this.attachShadow({mode:"open"});e.innerHTML=`<style>${p}</style><button type="button"><slot>Report a problem</slot></button>`,e.querySelector("button").onclick=()=>{document.querySelector("stunt-consent[declined]")?.removeAttribute("declined"),window.__stunt?.assist()}}};customElements.get("stunt-consent")||(customElements.define("stunt-consent",u),customElements.define("stunt-help",h));})();
//# sourceMappingURL=stunt-consent.js.map
//# sourceURL=stunt-consent.js
