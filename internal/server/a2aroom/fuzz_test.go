package a2aroom_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/server/a2aroom"
	"github.com/folkmoot/moot/room"
)

// FuzzRequest checks that a body of any form gets an answer.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"},null]}}}`,
		`{"jsonrpc":"2.0","id":"x","method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"a":1}}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`, `{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":null}`, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":-1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{}}`, `[]`, `null`, ``, `{"jsonrpc":"2.0","id":{},"method":""}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		h := a2aroom.Handler(func(context.Context) (a2aroom.Room, error) {
			return &fakeRoom{id: "r", brief: true, script: map[string][]room.Body{"a": {posted("b", "c"), room.Completed{}}}}, nil
		}, slog.New(slog.DiscardHandler))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Body.Len() == 0 {
			t.Errorf("%q gets no answer", body)
		}
	})
}
