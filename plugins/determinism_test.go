package plugins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

const answersEnv = "PLUGINS_TEST_ANSWERS"

// answersOf runs every guest on random inputs. It returns the digest of all
// answers, logs and fuel.
func answersOf(t *testing.T, interpreter bool) string {
	t.Helper()
	h := newHost(t, Config{CacheDir: cacheDir(t), Interpreter: interpreter})
	sum := sha256.New()
	for _, g := range w.Guests(t, root) {
		p := loadGuest(t, h, g, nil)
		r := rand.New(rand.NewSource(7))
		for range 6 {
			in := w.RandomInput(r, 200+r.Intn(4000), "MARK")
			res, err := p.run(context.Background(), request{room: "r", nowMS: in.NowMS, seed: in.Seed, input: in.AppendJSON(nil)})
			fmt.Fprintf(sum, "%s %q %q %d %v\n", g.Name, res.Output, res.Log, res.Fuel, err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// TestSameEverywhere: both engines, and another process, give the same bytes and
// use the same fuel for every guest.
func TestSameEverywhere(t *testing.T) {
	if os.Getenv(answersEnv) != "" {
		fmt.Printf("answers %s\n", answersOf(t, false))
		return
	}
	compiled := answersOf(t, false)
	if interpreted := answersOf(t, true); interpreted != compiled {
		t.Errorf("compiler %s, interpreter %s", compiled, interpreted)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSameEverywhere$")
	cmd.Env = append(os.Environ(), answersEnv+"=1")
	out, err := cmd.CombinedOutput()
	_, other, _ := strings.Cut(string(out), "answers ")
	if err != nil || !strings.HasPrefix(other, compiled) {
		t.Errorf("%v: here %s, elsewhere %s", err, compiled, out)
	}
}

// TestSameTwentyTimes: the same input gives the same bytes twenty times, from
// several goroutines.
func TestSameTwentyTimes(t *testing.T) {
	h := newHost(t, Config{CacheDir: cacheDir(t), Parallel: 4, AuditEvery: 5})
	for _, g := range w.Guests(t, root) {
		t.Run(g.Name, func(t *testing.T) {
			p := loadGuest(t, h, g, nil)
			in := w.RandomInput(rand.New(rand.NewSource(3)), 2000, "x")
			input := in.AppendJSON(nil)
			input = append(input, bytes.Repeat([]byte(" "), (3*7+1-len(input)%21)%21)...) // nasty traps at multiples of 7
			c := request{room: "r", input: input}
			want, err := p.run(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for i := range 4 {
				c := c
				c.room = fmt.Sprint(i)
				wg.Go(func() {
					for range 5 {
						got, err := p.run(context.Background(), c)
						if err != nil || !bytes.Equal(got.Output, want.Output) || got.Fuel != want.Fuel || got.Log != want.Log {
							t.Errorf("%+v %v, want %+v", got, err, want)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestEndlessRoom: with one place, a room whose policy never ends and a room with
// a good policy alternate.
func TestEndlessRoom(t *testing.T) {
	h := newHost(t, Config{Parallel: 1})
	endless, err := loadUntrusted(t, h, decides("", nil, forever, zero64)())
	if err != nil {
		t.Fatal(err)
	}
	good := load(t, h, w.Counting())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			in := roster
			in.Room = "endless"
			_, _, err := endless.Propose(context.Background(), in)
			if codeOf(err) != CodeFuel {
				t.Error(err)
			}
		})
	}
	wg.Go(func() {
		if _, _, err := good.Propose(context.Background(), roster); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
}
