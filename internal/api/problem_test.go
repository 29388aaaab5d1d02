package api_test

import (
	"net/http"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
)

// TestRefusalsAreNoFailures checks the statuses of what a room refuses: none is a failure
// of the server.
func TestRefusalsAreNoFailures(t *testing.T) {
	for code, want := range map[string]int{
		"ROOM-TASK": http.StatusConflict, "ROOM-CLAIMED": http.StatusConflict, "ROOM-UNMET": http.StatusConflict, "ROOM-PLAN": http.StatusUnprocessableEntity,
		"ROOM-KIND": http.StatusUnprocessableEntity, "ROOM-ACK": http.StatusUnprocessableEntity, "ROOM-ASIDES": http.StatusTooManyRequests, "ROOM-HOPS": http.StatusConflict,
		"ROOM-CALL-ASKED": http.StatusConflict, "ROOM-CALL-BUDGET": http.StatusConflict, "ROOM-CALL-PATH": http.StatusConflict, "ROOM-CALL-UNKNOWN": http.StatusNotFound, "ROOM-CALL-DENIED": http.StatusForbidden,
		"ROOM-MODE": http.StatusConflict, "ROOM-STANDING": http.StatusConflict, "ROOM-SEATS": http.StatusConflict, "ROOM-ANSWERED": http.StatusConflict,
	} {
		if _, known := problem.Lookup(code); !known {
			t.Errorf("there is no code %s", code)
		}
		if got := api.ProblemOf(0, &problem.Error{Code: code, What: "x"}).Status; got != want {
			t.Errorf("%s has the status %d, want %d", code, got, want)
		}
	}
}
