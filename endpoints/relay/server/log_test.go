package server_test

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// A syncBuffer is a log that can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *syncBuffer) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *syncBuffer) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func (j *syncBuffer) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// encodings returns the forms in which bytes could appear in a log.
func encodings(b []byte) []string {
	lower := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
	return []string{
		string(b), hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)), lower, strings.ToUpper(lower),
		base64.StdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b), lower[:13], hex.EncodeToString(b)[:16],
	}
}

// TestLogHoldsNoSecrets triggers every log record at the lowest level and
// searches the log for secrets.
func TestLogHoldsNoSecrets(t *testing.T) {
	const payload = "the canary in the payload"
	for _, peers := range []bool{false, true} {
		var log syncBuffer
		limits := unlimited
		limits.PerAddress, limits.StrangerFramesPerMinute = 8, 1
		r := start(t, loopback(t), server.Config{Tokens: []string{token}, Log: log.logger(), LogPeers: peers, Limits: limits})
		join := func() *endpoint {
			e := r.dialHello()
			e.send(e.loginFrame(r.host, token))
			want[frame.Welcome](e)
			return e
		}
		a, b := join(), join()
		a.sendTo(b, payload)
		b.expectFrom(a, payload)
		stranger := join()
		for range 2 {
			stranger.sendTo(a, payload)
		}
		a.expectFrom(stranger, payload)
		stranger.expectGone(a, frame.GoneNotAllowed)
		bad := r.dialHello()
		bad.send(bad.loginFrame(r.host, "the canary in the token"))
		want[frame.Reject](bad)
		violator := join()
		if err := violator.WriteMessage(websocket.TextMessage, []byte(payload)); err != nil {
			t.Fatal(err)
		}
		violator.expectClose(websocket.ClosePolicyViolation)
		junk, err := net.Dial("tcp", r.host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := junk.Write([]byte("GET /" + strings.ReplaceAll(payload, " ", "") + " HTTP/9.9\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		junk.Close()
		res, err := http.Get("http://" + r.host + "/?" + strings.ReplaceAll(payload, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		r.stop()

		text := log.String()
		if strings.Count(text, "connection ended") != 5 {
			t.Errorf("not every connection is in the log:\n%s", text)
		}
		secrets := encodings([]byte(payload))
		secrets = append(secrets, strings.ReplaceAll(payload, " ", ""), "127.0.0.1")
		for _, s := range []string{token, "the canary in the token"} {
			secrets = append(secrets, encodings([]byte(s))...)
		}
		for _, e := range []*endpoint{a, b, bad, violator} {
			id := e.id()
			secrets = append(secrets, encodings(id[:])...)
			secrets = append(secrets, encodings(e.hello.Challenge[:])...)
		}
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("the log holds %q:\n%s", s, text)
			}
		}
		if pairs := strings.Contains(text, `"to"`); pairs != peers {
			t.Errorf("who sends to whom is in the log: %v, want %v", pairs, peers)
		}
	}
}

// TestDailyAliases: a device's alias is stable within a day and changes the
// next day.
func TestDailyAliases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true, Log: log.logger()})
		key := newKey(t)
		for _, wait := range []time.Duration{time.Hour, 23*time.Hour + time.Minute, 0} {
			r.loginAs(key).Close()
			synctest.Wait()
			time.Sleep(wait) // in synctest time, which starts at midnight
		}
		r.stop()
		names := regexp.MustCompile(`"login","conn":\d+,"device":"([0-9a-f]{8})"`).FindAllStringSubmatch(log.String(), -1)
		if len(names) != 3 || names[0][1] != names[1][1] || names[1][1] == names[2][1] {
			t.Errorf("%v in\n%s", names, log.String())
		}
	})
}
