package acp_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/test/agents/model"
)

// geminiSettings let Gemini CLI run with a key and without updates.
const geminiSettings = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "model": {"name": "gemini-2.5-flash"}
}`

// TestGemini has three turns with the real Gemini CLI on a fake model: its usage is
// what the model has reported, and a file is there only after its owner's yes.
func TestGemini(t *testing.T) {
	if _, err := exec.LookPath("gemini"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("gemini is needed in CI: %v", err)
		}
		t.Skip("gemini is not installed here; npm install -g @google/gemini-cli@0.61.0")
	}
	llm := model.New(model.Config{})
	server := httptest.NewServer(llm)
	defer server.Close()
	home, dir := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".gemini", "settings.json"), []byte(geminiSettings), 0o600); err != nil {
		t.Fatal(err)
	}
	preset, _ := acp.PresetOf("gemini")
	e := acp.New(acp.Config{Preset: preset, Dir: dir, Env: []string{"HOME=" + home, "GOOGLE_GEMINI_BASE_URL=" + server.URL, "GEMINI_API_KEY=no-key-at-all"}})
	defer e.Close()
	start, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	room := newRoom()
	if err := e.Start(start, room); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "plan.txt")
	var before model.Count
	for i, c := range []struct {
		order, says string
		allowed     bool
	}{
		{order: "SAY: Four.", says: "Four."},
		{order: `WRITE:{"path":"` + file + `","content":"hello"}`, says: "the tool says"},
		{order: `WRITE:{"path":"` + file + `","content":"hello"}`, says: "the tool says", allowed: true},
	} {
		room.answer = func(_ context.Context, p endpoint.Permission) (endpoint.Answer, error) {
			t.Logf("asked: %+v", p)
			if _, err := os.Stat(file); err == nil {
				t.Error("the file was written before the permission")
			}
			return endpoint.Answer{Allowed: c.allowed}, nil
		}
		p := ask(c.order)
		p.Timeout = 5 * time.Minute
		r, err := e.Speak(t.Context(), p, room)
		if err != nil || !strings.Contains(r.Text, c.says) {
			t.Fatalf("turn %d: %+v and %v", i, r, err)
		}
		if _, err := os.Stat(file); (err == nil) != c.allowed {
			t.Errorf("turn %d: the file: %v", i, err)
		}
		now := llm.Stats().Total
		told := endpoint.Usage{Known: true, Input: int64(now.Input - before.Input), Output: int64(now.Output - before.Output - now.Reasoning + before.Reasoning)}
		if r.Usage != told {
			t.Errorf("turn %d: usage %+v, and the model reported %+v", i, r.Usage, told)
		}
		before = now
	}
	if n := room.count(endpoint.SignalViolation); n > 0 {
		t.Errorf("%d violations: %v", n, room.seen)
	}
}
