// What the page understands of a payload: names, and whether something has ended.

// field returns the first of the fields of a payload that is a text or a number, as a
// text of a line, "" for none.
export function field(message, ...names) {
  const p = message?.payload;
  if (p === null || typeof p !== "object" || Array.isArray(p)) return "";
  for (const name of names) {
    const v = Object.hasOwn(p, name) ? p[name] : undefined;
    if (typeof v === "string" && v.trim() || typeof v === "number") return String(v).split("\n", 1)[0].slice(0, 120);
  }
  return "";
}

const words = {
  failed: ["failed", "failure", "error", "errored", "denied", "refused", "rejected", "cancelled", "canceled", "timeout", "timed_out"],
  done: ["ok", "passed", "pass", "success", "succeeded", "done", "completed", "complete", "built", "finished"],
  running: ["started", "running", "queued", "building", "pending", "in_progress", "working"],
};

// progress returns running, done or failed, as a payload states it, "" if it does not.
export function progress(message) {
  const said = field(message, "status", "state", "outcome", "result").toLowerCase().replace(/[ -]/g, "_");
  for (const [state, all] of Object.entries(words)) if (all.includes(said)) return state;
  const p = message?.payload;
  if (p === null || typeof p !== "object") return "";
  if (p.ok === false || p.success === false || p.error) return "failed";
  if (p.ok === true || p.success === true) return "done";
  const code = p.exit_code ?? p.exitCode;
  return Number.isInteger(code) ? (code === 0 ? "done" : "failed") : "";
}
