package processes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/relaytest"
)

// TestWatchRelayLearnsNothing: a relay holds none of the texts that a spectator
// sees or writes, neither in its memory nor in its log, in any of eight
// encodings.
func TestWatchRelayLearnsNothing(t *testing.T) {
	var canaries []string
	for i := range 4 {
		canaries = append(canaries, fmt.Sprintf("canary-%02d-%016x", i, rand.Uint64()))
	}
	w := newWatchers(t)
	bob := w.guest(canaries[0], "--grant", "observer")
	room := strings.NewReplacer("Try it.", canaries[1], "peer: bob", "peer: "+canaries[0]).Replace(watchedRoom)
	w.ann.write("room.yaml", room)
	w.ann.write("agent.sh", strings.Replace(steadyAgent, "answer ", canaries[2]+" ", 1))
	host := w.ann.start("run", "--headless", "-o", "jsonl")
	id := roomOf(t, []string{host.until(t, "room.opened")})
	v := bob.start("watch", "ann", "-o", "jsonl", "--say", canaries[3])
	v.until(t, canaries[3])
	w.answers(3)
	v.until(t, canaries[2])
	memory := memoryOf(t, w.relay.Process.Pid)
	if found := relaytest.FindCanaries(memory, append(canaries, id)...); found != nil {
		t.Errorf("its memory holds %q", found)
	}
	w.relay.kill(t)
	said := w.relay.stderr.Bytes()
	if found := relaytest.FindCanaries(said, append(canaries, id, w.ann.device(), bob.device())...); found != nil {
		t.Errorf("its log holds %q", found)
	}
	if len(said) == 0 {
		t.Error("it has logged nothing at all")
	}
}
