package browser

import "testing"

// exploring is a room that draws each turn.
const exploring = `version: room/v1
name: exploring
objective: Try others.
policy: {use: roundrobin, explore: 1}
limits: {maxTurns: 20, maxPingPong: 100, maxRing: 100}
participants:
  - {id: ann, kind: human}
  - {id: bot, mode: full_auto, endpoint: {kind: scripted, lines: [b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, b20]}}
  - {id: pal, mode: full_auto, endpoint: {kind: scripted, lines: [p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20]}}
  - {id: tim, mode: full_auto, endpoint: {kind: scripted, lines: [t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20]}}
`

// TestPageExplored: the timeline and the panel of a decision say that the room took
// another agent than the policy chose, and with which probability a turn was drawn.
func TestPageExplored(t *testing.T) {
	s := serve(t)
	id := s.room(exploring)
	s.until(id, func(v view) bool { return v.Phase == "stopped" })
	b := start(t)
	s.signIn(b, "admin")
	s.show(b, id)
	b.until(t, `document.querySelector("#panel-decision .facts")?.textContent.includes("Drawn with") && /probability [0-9.]+ %/.test(document.querySelector("#panel-decision").textContent)`)
	b.until(t, `document.body.textContent.includes("explored; the policy chose ")`)
}
