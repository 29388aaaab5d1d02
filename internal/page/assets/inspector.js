// The inspector: why the room has decided as it has.
customElements.define("moot-inspector", class extends HTMLElement {
  connect(room) {
    this.setAttribute("aria-label", "Details");
  }
});
