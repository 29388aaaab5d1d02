// The panel with which a room leaves the page: exports, and read-only links.
import { del, get, post } from "./api.js";
import { el } from "./dom.js";

const forms = [["md", "Markdown", "for people"], ["html", "HTML", "one file for people"], ["jsonl", "JSON lines", "for moot: import, replay, verify"], ["csv", "CSV", "for tables"], ["openai", "JSON", "messages of chat programs"], ["otel", "JSON", "spans of OpenTelemetry"], ["neutral", "JSON lines", "the conversation, for data sets"]];
const levels = [["user_visible", "what is visible to all"], ["user_redacted", "and redacted messages whole"], ["internal", "and internal messages"], ["all", "everything, with secrets"]];
const ends = [["1h", "an hour"], ["24h", "a day"], ["168h", "a week"]];

const options = (list) => list.map(([value, text]) => el("option", { value }, text));

export class SharePanel {
  title = "Share";
  #drawn = false;

  connect(room, body) {
    this.room = room;
    this.body = body;
  }

  show() {
    if (this.#drawn) return;
    this.#drawn = true;
    this.body.append(...this.#exports(), ...(this.room.may("admin") ? this.#links() : []));
  }

  #exports() {
    const may = levels.filter(([level]) => level === "user_visible" || this.room.may(level === "all" ? "admin" : "control"));
    const level = el("select", {}, ...options(may));
    const list = el("ul", { class: "exports" });
    const show = () => list.replaceChildren(...forms.map(([form, name, use]) => el("li", {},
      el("a", { href: `${this.room.path}/export?form=${form}&level=${level.value}`, download: "" }, name), el("span", { class: "hint" }, ` ${use}`))));
    level.addEventListener("change", show);
    show();
    return [el("h2", {}, "Download the transcript"), el("label", { class: "field" }, "With", level), list];
  }

  // links make, list and revoke links of spectators, which read this room only.
  #links() {
    const name = el("input", { type: "text", value: "spectators", maxlength: 100, required: true });
    const end = el("select", {}, ...options(ends));
    end.value = "24h";
    const made = el("div", { "aria-live": "polite" });
    const list = el("ul", { class: "links" });
    const refresh = async () => {
      try {
        const now = Date.now();
        const tokens = (await get("/api/tokens")).filter((t) => t.room === this.room.id && t.scope === "read" && !t.revoked && !(t.expires && new Date(t.expires) < now));
        list.replaceChildren(...tokens.map((t) => el("li", {}, `${t.name}, until ${t.expires ? new Date(t.expires).toLocaleString() : "it is revoked"} `,
          el("button", { type: "button", class: "link danger", "aria-label": `Revoke the link ${t.name}`, onclick: async () => { await del(`/api/tokens/${encodeURIComponent(t.id)}`).catch((p) => this.room.fail(p)); refresh(); } }, "Revoke"))));
      } catch (problem) {
        this.room.fail(problem);
      }
    };
    const form = el("form", { class: "link-form", onsubmit: async (e) => {
      e.preventDefault();
      try {
        const t = await post("/api/tokens", { name: name.value, scope: "read", room: this.room.id, expires: end.value });
        made.replaceChildren(...this.#made(`${location.origin}/launch#${t.token}`));
        refresh();
      } catch (problem) {
        this.room.fail(problem);
      }
    } }, el("label", { class: "field" }, "For", name), el("label", { class: "field" }, "Works for", end), el("button", { type: "submit" }, "Make a link"));
    refresh();
    return [el("h2", {}, "Read-only links"), el("p", { class: "quiet" }, "Everybody with the link reads this room, without what is internal, and can do nothing in it."), form, made, list];
  }

  #made(url) {
    const field = el("input", { type: "text", readonly: true, value: url, "aria-label": "The link", onfocus: (e) => e.target.select() });
    const copy = el("button", { type: "button", onclick: async () => {
      field.select();
      await navigator.clipboard?.writeText(url).then(() => { copy.textContent = "Copied"; }, () => {}); // it is selected, to be copied by hand
    } }, "Copy");
    return [field, copy, el("p", { class: "hint" }, "It is shown once.")];
  }
}
