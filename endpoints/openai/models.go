package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// models returns the names of the server's models, nil if it does not list them.
func (e *Endpoint) models(ctx context.Context) ([]string, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/models", http.NoBody)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/json")
	if e.cfg.APIKey != "" {
		q.Header.Set("Authorization", "Bearer "+e.cfg.APIKey)
	}
	r, err := e.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	switch {
	case r.StatusCode == http.StatusNotFound, r.StatusCode == http.StatusMethodNotAllowed, r.StatusCode == http.StatusNotImplemented:
		return nil, nil
	case r.StatusCode != http.StatusOK:
		return nil, statusOf(r)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("%w: its list of models cannot be read: %w", endpoint.ErrProtocol, err)
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// has reports whether a list has a model. Ollama adds the tag latest to a name
// without one.
func has(models []string, name string) bool {
	return slices.Contains(models, name) || slices.Contains(models, name+":latest")
}

// maxNamed bounds the models that an error names.
const maxNamed = 10

// named lists models for a person.
func named(models []string) string {
	var all []string
	for _, m := range models[:min(len(models), maxNamed)] {
		all = append(all, endpoint.CleanLine(m, 80))
	}
	if n := len(models) - len(all); n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, ", ")
}
