package wire

import (
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/internal/strict"
)

// FuzzSeat decodes arbitrary messages about a seat. Each is refused or within its
// bounds.
func FuzzSeat(f *testing.F) {
	for _, s := range []string{
		`{"seat":"ann","wait_ms":20000}`, `{"seat":"ann","fresh":true}`, `{"seat":"","wait_ms":-1}`, `{"state":"again"}`, `{"state":"over","phase":"stopped"}`,
		`{"state":"over","phase":"live"}`, `{"state":"turn","request":"q","left_ms":5,"prompt":{"you":"ann","seats":[],"objective":"x","max_output_chars":1,"max_history_turns":1,"max_history_chars":1,"max_tool_rounds":0,"allow_tool_use":false,"timeout_ms":1}}`,
		`{"seat":"ann","request":"q","outcome":"said","text":"hello","confidence":0.5}`, `{"seat":"ann","outcome":"pass","reason":"no"}`, `{"outcome":"posted","seq":3}`, `{"outcome":"burnt","seq":3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var await SeatAwait
		if strict.Decode(b, envelope.MaxDepth, &await) == nil && await.Check() == nil && (await.Seat == "" || await.WaitMS < 0 || await.WaitMS > MaxAwait.Milliseconds()) {
			t.Fatalf("%+v", await)
		}
		var turn SeatTurn
		if strict.Decode(b, envelope.MaxDepth, &turn) == nil && turn.Check() == nil && turn.State == SeatHasTurn && (turn.Prompt == nil || turn.Request == "") {
			t.Fatalf("%+v", turn)
		}
		var answer SeatAnswer
		if strict.Decode(b, envelope.MaxDepth, &answer) == nil && answer.Check() == nil && (answer.Seat == "" || answer.Outcome == "") {
			t.Fatalf("%+v", answer)
		}
		var answered SeatAnswered
		if strict.Decode(b, envelope.MaxDepth, &answered) == nil && answered.Check() == nil && answered.Outcome == "" {
			t.Fatalf("%+v", answered)
		}
	})
}
