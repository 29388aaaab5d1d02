package openai

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// FuzzThoughts checks that the answer does not depend on how a text is split, and
// that nothing but blocks of thoughts is removed.
func FuzzThoughts(f *testing.F) {
	for _, s := range []string{"", "Yes.", "<think>", "<think>Hm.</think>Yes.", " <think></think>\n<think>x</think>y<think>", "<thin", "<think></thin", "</think>"} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		var whole, parts thoughtFilter
		want := whole.add(text) + whole.end()
		var got strings.Builder
		for rest := text; rest != ""; {
			n := min(len(rest), int(size)+1)
			got.WriteString(parts.add(rest[:n]))
			rest = rest[n:]
		}
		got.WriteString(parts.end())
		if strings.TrimRight(got.String(), " \t\r\n") != strings.TrimRight(want, " \t\r\n") || !strings.HasSuffix(text, want) {
			t.Fatalf("%q in parts is %q, as a whole %q", text, got.String(), want)
		}
		if !strings.Contains(text, thoughtBegin) && strings.TrimLeft(text, " \t\r\n") != want {
			t.Fatalf("%q is %q", text, want)
		}
	})
}

// An aStream answers each request with a stream.
type aStream struct{ text string }

func (s aStream) RoundTrip(*http.Request) (*http.Response, error) {
	body := io.NopCloser(iotest.HalfReader(strings.NewReader(s.text)))
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
}

// FuzzStream checks that every stream ends in a reply within the limits or in an
// error of a known kind.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"<think>x</think>PASS\"}}]}\r\n\r\n: x\ndata:{\"choices\":[{\"finish_reason\":\"length\"}]}",
		"data: {\"error\":{\"message\":\"x\",\"code\":5}}\n\n", "data: null\n", "data: [DONE]\n", "event: x\nid\n\n", "{\"error\":{\"message\":1}}", "data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"},\"finish_reason\":\"content_filter\"}]}\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := New(Config{BaseURL: "http://example.org/v1", Model: "m", Transport: aStream{text}})
		defer e.Close()
		r, err := e.Speak(t.Context(), endpoint.Prompt{Kind: endpoint.Turn, Text: "x", MaxOutputChars: 20}, nil)
		if err != nil {
			if !errors.Is(err, endpoint.ErrAgent) && !errors.Is(err, endpoint.ErrProtocol) && !errors.Is(err, endpoint.ErrTooLarge) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		said := r.Outcome == endpoint.Said && strings.TrimSpace(r.Text) != "" && utf8.ValidString(r.Text)
		silent := (r.Outcome == endpoint.Passed || r.Outcome == endpoint.Refused && r.Reason != "") && r.Text == ""
		if !said && !silent || utf8.RuneCountInString(r.Text) > 20 || r.Usage.OutOfRange() != "" {
			t.Fatalf("got %+v", r)
		}
	})
}
