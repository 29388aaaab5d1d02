package preset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/folkmoot/moot/problem"
)

const (
	ollamaPort    = "11434"
	ollamaTimeout = 3 * time.Second
	maxModelList  = 4 << 20 // bytes
)

// ErrNoModel is the error of an Ollama server without a model.
var ErrNoModel = errors.New("no model")

// OllamaURL returns the address of the Ollama server: that of OLLAMA_HOST, as
// Ollama reads it, or else the port 11434 of this machine.
func OllamaURL() string {
	host := strings.TrimRight(os.Getenv("OLLAMA_HOST"), "/")
	port := ollamaPort
	switch scheme, _, written := strings.Cut(host, "://"); {
	case !written:
		host = "http://" + host
	case scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	u, err := url.Parse(host)
	if err != nil {
		return "http://localhost:" + ollamaPort
	}
	name := u.Hostname()
	if ip := net.ParseIP(name); name == "" || ip != nil && ip.IsUnspecified() { // an address to listen on
		name = "localhost"
	}
	return u.Scheme + "://" + net.JoinHostPort(name, cmp.Or(u.Port(), port))
}

// OllamaModels asks the server at base for the models that can answer a chat, in
// its order. It waits for a few seconds at most.
func OllamaModels(ctx context.Context, base string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, ollamaTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/tags", nil)
	if err != nil {
		return nil, noOllama(base, err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, noOllama(base, err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return nil, noOllama(base, fmt.Errorf("it answers %s", r.Status))
	}
	return chatModels(base, io.LimitReader(r.Body, maxModelList))
}

// chatModels reads the answer of the server.
func chatModels(base string, body io.Reader) (names []string, err error) {
	var list struct {
		Models []struct{ Name string }
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return nil, noOllama(base, err)
	}
	for _, m := range list.Models {
		if m.Name != "" && !strings.Contains(m.Name, "embed") { // an embedding model answers no chat
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return nil, &problem.Error{Code: "INIT-AGENT", What: "ollama: the server at " + base + " has no model", Fix: "ollama pull llama3.2", Kind: ErrNoModel}
	}
	return names, nil
}

func noOllama(base string, err error) error {
	return &problem.Error{
		Code: "INIT-AGENT", What: "ollama: no Ollama server answers at " + base,
		Fix: "start it with `ollama serve`, or install it from https://ollama.com/download", Err: err,
	}
}
