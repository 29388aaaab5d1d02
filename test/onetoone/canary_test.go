package onetoone

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// canaries returns 32 texts that occur nowhere else.
func canaries() (all []string) {
	for i := range 32 {
		all = append(all, fmt.Sprintf("canary-%02d-%x", i, 0x9e3779b97f4a7c15*uint64(i+1)))
	}
	return all
}

// encodings returns eight encodings in which a text could leak.
func encodings(s string) [8][]byte {
	quoted, _ := json.Marshal(s)
	var wide, reversed []byte
	for i := range len(s) {
		wide = append(wide, s[i], 0)
		reversed = append(reversed, s[len(s)-1-i])
	}
	return [8][]byte{
		[]byte(s), []byte(strings.ToUpper(s)), []byte(hex.EncodeToString([]byte(s))), []byte(base64.RawStdEncoding.EncodeToString([]byte(s))),
		[]byte(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(s))), []byte(url.QueryEscape(s) + string(quoted)), wide, reversed,
	}
}

// TestCanary fills a room with unique texts and checks that none of them appears
// on the wire or in the host log of either side.
func TestCanary(t *testing.T) {
	c := canaries()
	f := newFlow(t)
	next := 6
	say := func(p endpoint.Prompt) string {
		text := c[next%len(c)] + " " + c[(next+1)%len(c)]
		next += 2
		return text
	}
	f.mine, f.theirs = says(say), says(say)
	f.bob.start(share.AgentConfig{Profile: rename(f.bobRules, c[0][:9]), Open: func(context.Context) (share.Agent, error) { return f.theirs, nil }})
	f.ann.start()
	cfg := f.config()
	cfg.Endpoint = func(_ context.Context, _ room.Spec, p room.Participant) (coordinator.Endpoint, error) {
		if p.Device != "" {
			return f.ann.seat(f.bob, c[0][:9], f.annRules), nil
		}
		return f.mine, nil
	}
	r, err := coordinator.Open(t.Context(), cfg, room.Spec{
		Room: "r1", Name: c[1], Objective: c[2], Constraints: []string{c[3]}, OneToOne: true, Secret: c[4], Limits: room.Limits{MaxTurns: 28},
		Policy: room.PolicyRef{Use: "alternate", Name: "alternate"},
	}, []room.Participant{
		{ID: "mine", Name: c[5], Kind: policy.Local, Mode: room.FullAuto, Domains: []string{c[4]}},
		{ID: "theirs", Kind: policy.Remote, Owner: "bob", Device: f.bob.self.ID().String(), Mode: room.FullAuto, Role: c[1], Endpoint: []byte(`{}`)},
	})
	must(t, err)
	must(t, r.Run(t.Context()))
	if n := len(find[room.MessagePosted](f.events())); n != 28 {
		t.Fatalf("%d messages, want 28", n)
	}
	f.wire.mu.Lock()
	var seen []byte
	for _, s := range f.wire.seen {
		seen = append(seen, s.payload...)
	}
	f.wire.mu.Unlock()
	for _, o := range []*owner{f.ann, f.bob} {
		for _, file := range []string{"audit.jsonl"} {
			b, err := os.ReadFile(filepath.Join(o.dir, file))
			must(t, err)
			seen = append(seen, b...)
		}
	}
	folded, hits := bytes.ToLower(seen), 0
	for _, text := range c {
		for i, form := range encodings(text) {
			if bytes.Contains(seen, form) || i < 3 && bytes.Contains(folded, bytes.ToLower(form)) {
				hits++
				t.Errorf("%s is there in form %d", text, i)
			}
		}
	}
	if hits != 0 || len(seen) < 20_000 {
		t.Errorf("%d hits in %d bytes", hits, len(seen))
	}
}

func rename(p quota.Profile, name string) quota.Profile {
	p.Name = name
	return p
}
