package processes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// geminiSettings have the agent keep to its model: no other service is told
// or asked anything, and it has no tools.
const geminiSettings = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "tools": {"core": ["none"]},
  "model": {"name": "gemini-2.5-flash"}
}
`

// A model is an agent's language model on loopback. It says which turns it was
// asked for, and answers when it is told to.
type model struct {
	*httptest.Server
	asked chan int

	mu    sync.Mutex
	turns map[int]int           // how often it was asked, by turn
	gates map[int]chan struct{} // closed when it may answer
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{asked: make(chan int, 100), turns: map[int]int{}, gates: map[int]chan struct{}{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := m.serve(w, r); err != nil {
			t.Errorf("the agent asks %s %s: %v", r.Method, r.URL, err)
			http.Error(w, err.Error(), http.StatusNotFound)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// ownTurn is in the prompt of moot.
var ownTurn = regexp.MustCompile(`The floor is yours \(turn (\d+)\)`)

// reply is what the model says to a turn.
func reply(turn int) string { return fmt.Sprintf("answer to turn %d", turn) }

// serve answers in the form of the Gemini API.
func (m *model) serve(w http.ResponseWriter, r *http.Request) error {
	if !strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		return fmt.Errorf("there is no such call here")
	}
	type content struct {
		Role  string              `json:"role"`
		Parts []map[string]string `json:"parts"`
	}
	var q struct{ Contents []content }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		return err
	}
	var text strings.Builder
	for _, c := range q.Contents {
		for _, p := range c.Parts {
			text.WriteString(p["text"])
		}
	}
	all := ownTurn.FindAllStringSubmatch(text.String(), -1)
	if len(all) == 0 {
		return fmt.Errorf("the prompt is of no turn: %s", text.String())
	}
	turn, err := strconv.Atoi(all[len(all)-1][1]) // the agent remembers the turns before
	if err != nil {
		return err
	}
	select {
	case <-m.ask(turn):
	case <-r.Context().Done(): // the agent was killed
		return nil
	}
	b, err := json.Marshal(map[string]any{
		"candidates":    []any{map[string]any{"content": content{"model", []map[string]string{{"text": reply(turn)}}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]int{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, err = fmt.Fprintf(w, "data: %s\n\n", b)
	return err
}

// ask notes that a turn has come, and returns what is closed when it may be
// answered.
func (m *model) ask(turn int) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns[turn]++
	m.asked <- turn
	return m.gate(turn)
}

// gate is what answers to a turn wait for. The caller holds mu.
func (m *model) gate(turn int) chan struct{} {
	if m.gates[turn] == nil {
		m.gates[turn] = make(chan struct{})
	}
	return m.gates[turn]
}

// answer lets the model answer a turn.
func (m *model) answer(turn int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.gate(turn):
	default:
		close(m.gate(turn))
	}
}

func (m *model) requests(turn int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.turns[turn]
}

func (m *model) total() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.turns {
		n += k
	}
	return n
}
