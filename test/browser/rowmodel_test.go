package browser

import (
	"strings"
	"testing"
)

// modelScript makes rows of events and returns them as lines. An event is [type, body];
// the last word of a line says what is special about the row.
const modelScript = `import("/assets/test/rowmodel.js").then(async ({ RowModel }) => {
	const model = new RowModel();
	let seq = 0;
	const add = (type, body, actor = "room", html = "") => model.add({ html, event: { type, body, actor, seq: ++seq, at: "2026-11-23T10:00:00Z" } });
	const grant = (turn, participant) => add("turn.granted", { turn, participant, reason: "next" }, "policy");
	const said = (turn, from_agent, more) => ({ turn, message: { from_agent, text: "text", visibility: "user_visible", ...more } });
	EVENTS;
	return model.rows.map((r) => [r.key, r.state ?? r.kind, ...(r.items ?? []).map((i) => i.key ?? i.reason), r.late ? "late" : "", r.removed ? "removed" : ""].filter(Boolean).join(" ")).join("\n");
})`

// TestRowModel checks which rows events become.
func TestRowModel(t *testing.T) {
	s, b := serve(t), start(t)
	s.signIn(b, "admin")
	for _, c := range []struct{ name, events, want string }{
		{
			"a message during a turn stands before it", `grant(1, "a"); add("message.posted", said(0, "me")); add("message.posted", said(1, "a"))`,
			"day-1 day\nevent-2 message\nturn-1 posted",
		},
		{
			"turns without a message", `grant(1, "a"); add("turn.passed", { turn: 1 }); grant(2, "a"); add("turn.failed", { turn: 2 }); grant(3, "a"); add("turn.interrupted", { turn: 3 })`,
			"day-1 day\nturn-1 passed\nturn-2 failed\nturn-3 interrupted",
		},
		{"a draft that is refused", `grant(1, "a"); add("turn.drafted", said(1, "a")); add("turn.rejected", { turn: 1 })`, "day-1 day\nturn-1 rejected"},
		{"a late reply", `grant(1, "a"); add("turn.interrupted", { turn: 1 }); add("reply.late", { turn: 1, participant: "a", bytes: 3 })`, "day-1 day\nturn-1 interrupted late"},
		{"an end that the reader does not see", `grant(1, "a"); grant(2, "b")`, "day-1 day\nturn-1 hidden\nturn-2 speaking"},
		{"declined rounds", `add("round.declined", { reason: "x" }); add("bid.posted", {}); add("round.declined", { reason: "y" })`, "day-1 day\ndeclined-1 declined x y"},
		{
			"internal messages", `grant(1, "a"); add("message.posted", said(1, "a", { visibility: "internal" })); grant(2, "b"); add("message.posted", said(2, "b", { visibility: "internal" })); grant(3, "a")`,
			"day-1 day\nturn-3 speaking",
		},
		{"a text that is removed", `add("message.posted", said(0, "me")); add("message.redacted", { target: 1 })`, "day-1 day\nevent-1 message removed\nevent-2 note"},
		{
			"a session that comes and goes", `add("participant.joined", { participant: { id: "a", session: true } }); for (const presence of ["live", "idle", "live", "away"]) add("presence.changed", { participant: "a", presence })`,
			"day-1 day\nevent-1 note\nevent-2 note\nevent-5 note",
		},
		{
			"budgets", `for (const level of ["near", "used", "free"]) add("budget.changed", { participant: "a", window: "hour", level, what: "tokens", used: 8, limit: 10, share: 80 })`,
			"day-1 day\nevent-1 note\nevent-2 note\nevent-3 note",
		},
		{
			"a hand-off, and one that is refused",
			`grant(1, "a"); add("handoff.asked", { turn: 1, from: "a", to: "b", reason: "x" }); add("handoff.asked", { turn: 1, from: "a", to: "b", refused: "y" });
			const { note } = await import("/assets/test/notes.js"), lines = model.rows.filter((r) => r.kind === "note").map((r) => note(r.event, String).text).join("; ");
			if (lines !== "a hands off to b: x; a may not hand off to b: y") throw new Error(lines)`,
			"day-1 day\nevent-2 note\nevent-3 note\nturn-1 speaking",
		},
		{"the end of a turn that began before", `add("message.posted", said(7, "a"))`, "day-1 day\nturn-7 posted"},
		{
			"live text and its tools", `grant(1, "a"); model.live({ participant: "a", delta: "x" }); model.live({ participant: "b", delta: "y" });
			for (const status of ["pending", "completed"]) model.live({ participant: "a", tool: { id: "1", status } });
			if (model.open.live !== "x" || model.open.tools.length !== 1 || model.open.tools[0].status !== "completed") throw new Error(JSON.stringify(model.open))`,
			"day-1 day\nturn-1 speaking",
		},
		{
			"rows that are forgotten", `for (let n = 1; n < 10; n++) add("message.posted", said(0, "me")); if (model.trim(2) !== 8) throw new Error("the first is another")`,
			"event-8 message\nevent-9 message",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := b.value(t, strings.Replace(modelScript, "EVENTS", c.events, 1)); got != c.want {
				t.Errorf("the rows are\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
