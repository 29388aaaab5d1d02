package webclient

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A busyServer answers with the statuses in turn, the last for ever, and records when
// it was asked.
type busyServer struct {
	statuses []int
	header   string // Retry-After
	began    time.Time
	asked    []time.Duration
	bodies   []string
	open     int // bodies that are not closed
}

func (s *busyServer) RoundTrip(q *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	s.bodies = append(s.bodies, string(b))
	s.asked = append(s.asked, time.Since(s.began))
	status := s.statuses[min(len(s.asked), len(s.statuses))-1]
	s.open++
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: &countedBody{strings.NewReader(strconv.Itoa(status)), &s.open}}
	if s.header != "" {
		r.Header.Set("Retry-After", s.header)
	}
	return r, nil
}

type countedBody struct {
	io.Reader
	open *int
}

func (b *countedBody) Close() error { *b.open--; return nil }

// TestRetries checks when a request is sent again: only for a server that is busy or
// fails, after the time that it states, and within the time of the turn.
func TestRetries(t *testing.T) {
	year := strconv.Itoa(365 * 24 * 3600)
	for name, c := range map[string]struct {
		statuses []int
		header   string
		timeout  time.Duration
		asks     int
		status   int
		least    time.Duration // of all delays
		most     time.Duration
	}{
		"fine":                     {[]int{200}, "", time.Minute, 1, 200, 0, 0},
		"busy once":                {[]int{429, 200}, "3", time.Minute, 2, 200, 3 * time.Second, 3 * time.Second},
		"every status":             {[]int{500, 502, 503, 504, 200}, "1", time.Minute, 5, 200, 4 * time.Second, 4 * time.Second},
		"no header":                {[]int{503, 503, 503, 503, 200}, "", time.Minute, 5, 200, 7500 * time.Millisecond, 11250 * time.Millisecond},
		"a header that is no time": {[]int{503, 200}, "soon", time.Minute, 2, 200, 500 * time.Millisecond, 750 * time.Millisecond},
		"a negative time":          {[]int{503, 200}, "-5", time.Minute, 2, 200, 500 * time.Millisecond, 750 * time.Millisecond},
		"at once":                  {[]int{503, 200}, "0", time.Minute, 2, 200, 0, 0},
		"a date":                   {[]int{429, 200}, "Sat, 01 Jan 2000 00:00:10 GMT", time.Minute, 2, 200, 10 * time.Second, 10 * time.Second},
		"a date that has passed":   {[]int{429, 200}, "Fri, 31 Dec 1999 00:00:00 GMT", time.Minute, 2, 200, 0, 0},
		"429 for ever":             {[]int{429}, "1", time.Minute, 5, 429, 4 * time.Second, 4 * time.Second},
		"a year":                   {[]int{429}, year, time.Minute, 1, 429, 0, 0},
		"a year without deadline":  {[]int{429}, year, 0, 1, 429, 0, 0},
		"more than a number":       {[]int{429}, year + year + year, time.Minute, 5, 429, 7500 * time.Millisecond, 11250 * time.Millisecond},
		"time is up":               {[]int{503}, "4", 10 * time.Second, 3, 503, 8 * time.Second, 8 * time.Second},
		"not its fault":            {[]int{400}, "1", time.Minute, 1, 400, 0, 0},
		"not implemented":          {[]int{501}, "1", time.Minute, 1, 501, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &busyServer{statuses: c.statuses, header: c.header, began: time.Now()}
				ctx := t.Context()
				if c.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.timeout)
					defer cancel()
				}
				q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://example.org", strings.NewReader("the prompt"))
				if err != nil {
					t.Fatal(err)
				}
				r, err := Transport{Base: s}.RoundTrip(q)
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(r.Body)
				if err != nil || r.StatusCode != c.status || string(b) != strconv.Itoa(c.status) {
					t.Errorf("got status %d with %q, %v", r.StatusCode, b, err)
				}
				r.Body.Close()
				if last := s.asked[len(s.asked)-1]; len(s.asked) != c.asks || last < c.least || last > c.most {
					t.Errorf("asked at %v, want %d times within %v to %v", s.asked, c.asks, c.least, c.most)
				}
				for _, body := range s.bodies {
					if body != "the prompt" {
						t.Errorf("the server got %q", body)
					}
				}
				if s.open != 0 {
					t.Errorf("%d bodies are open", s.open)
				}
			})
		})
	}
}

// TestRetryCancelled checks that a turn that is cancelled does not wait on.
func TestRetryCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://example.org", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		s := &busyServer{statuses: []int{503}, header: "30", began: time.Now()}
		if r, err := (Transport{Base: s}).RoundTrip(q); err != context.Canceled || r != nil || time.Since(s.began) != time.Second || s.open != 0 {
			t.Errorf("got %v after %v, %d bodies are open", err, time.Since(s.began), s.open)
		}
	})
}
