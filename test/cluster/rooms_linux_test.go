package cluster

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// agent is a program that answers each prompt, and writes its turn to a file that all nodes
// share: $1 is the file, $2 the room, and $3 the seconds that a turn needs.
const agent = `while read -r line; do
	id=${line#*\"request_id\":\"} id=${id%%\"*}
	turn=${line#*\"turn_index\":} turn=${turn%%,*}
	case $line in *local_prompt.request*) ;; *) continue ;; esac
	echo "$2 $turn" >>"$1"
	sleep "$3"
	echo "{\"type\":\"desktop.local_prompt.response\",\"request_id\":\"$id\",\"status\":\"ok\",\"draft_message\":\"This is turn $turn.\",\"reason\":\"\"}"
done
`

const roomFile = `version: room/v1
name: %[1]s
policy: {use: round-robin}
onRestart: continue
limits: {maxTurns: 1000000, maxDuration: 300h, maxFailures: 1000000}
participants:
  - {id: A, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh, %[2]s, %[1]s, %[3]s]}}
  - {id: B, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh, %[2]s, %[1]s, %[3]s]}}
`

// A meeting is a room in which agents talk and a person posts.
type meeting struct {
	c    *cluster
	name string
	room string // its id
	rand *rand.Rand

	mu      sync.Mutex
	acked   []string      // messages
	last    time.Time     // when the last one was acknowledged
	longest time.Duration // between two acknowledgements since watch
}

func (c *cluster) turnsFile() string { return filepath.Join(c.dir, "turns") }

// startRooms makes rooms, and lets people post to them.
func (c *cluster) startRooms(count int) {
	c.end = make(chan struct{})
	for i := range count {
		m := &meeting{c: c, rand: rand.New(rand.NewPCG(c.seed, uint64(2+i)))}
		m.create(i)
		c.meetings = append(c.meetings, m)
	}
	c.t.Cleanup(c.people.Wait)
	for _, m := range c.meetings {
		c.people.Go(m.person)
	}
	c.progress("before the first fault")
	for began := time.Now(); len(c.handedTurns()) < count; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 3*time.Minute {
			c.t.Fatalf("agents have had turns in %d of %d rooms\n%s", len(c.handedTurns()), count, c.stderr())
		}
	}
}

// create makes the room, and tries again when servers that have just started do not answer. A try
// without an answer may have made a room: each has another name.
func (m *meeting) create(number int) {
	n := m.c.nodes[number%len(m.c.nodes)]
	ctx, cancel := context.WithTimeout(m.c.t.Context(), 3*time.Minute)
	defer cancel()
	for try := 0; ; try++ {
		m.name = fmt.Sprintf("room-%d-%d", number, try)
		var made api.Created
		file := api.Create{YAML: fmt.Sprintf(roomFile, m.name, m.c.turnsFile(), strconv.Quote(m.c.think)), Dir: n.dir}
		status, err := n.post(ctx, "/api/rooms", file, &made)
		if err == nil {
			m.room = made.Room
			return
		}
		if ctx.Err() != nil || status/100 != 5 {
			m.c.t.Fatalf("making a room: %v\n%s", err, m.c.stderr())
		}
	}
}

func (c *cluster) stopPeople() {
	close(c.end)
	c.people.Wait()
}

// refusals are the answers after which the same command is not given again.
var refusals = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity}

// Times of a person.
const (
	personWaits   = 1500 * time.Millisecond // for an answer of one node, before all are asked
	personWaitsOn = 5 * time.Second         // for an answer of any node, before all are asked again
	personRetries = 50 * time.Millisecond
	personThinks  = 200 * time.Millisecond // before the next message
)

// person posts one message after the other, each until it is acknowledged by some node.
func (m *meeting) person() {
	at := m.rand.IntN(len(m.c.nodes))
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", m.name, i)
		for acked := m.say(id, personWaits, m.c.nodes[at:at+1]); !acked; acked = m.say(id, personWaitsOn, m.c.nodes) {
			if m.ended() {
				return
			}
			at = m.rand.IntN(len(m.c.nodes))
			time.Sleep(personRetries)
		}
		m.note(id)
		if m.ended() {
			return
		}
		time.Sleep(personThinks)
	}
}

func (m *meeting) ended() bool {
	select {
	case <-m.c.end:
		return true
	default:
		return m.c.t.Failed() || m.c.t.Context().Err() != nil
	}
}

// say gives the same command to some nodes at the same time, and reports whether one of them
// has acknowledged it.
func (m *meeting) say(id string, waits time.Duration, nodes []*node) bool {
	ctx, cancel := context.WithTimeout(m.c.t.Context(), waits)
	defer cancel()
	answers := make(chan bool, len(nodes))
	for _, n := range nodes {
		m.c.people.Go(func() {
			status, err := n.post(ctx, "/api/rooms/"+m.room+"/commands", api.Command{ID: id, Do: "say", Text: "message " + id}, nil)
			if slices.Contains(refusals, status) {
				m.c.t.Errorf("%s refuses %s: %v", n.name, id, err)
			}
			answers <- err == nil
		})
	}
	for range nodes {
		if <-answers {
			return true
		}
	}
	return false
}

// note notes a message that was acknowledged.
func (m *meeting) note(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.longest = max(m.longest, now.Sub(m.last))
	m.acked, m.last = append(m.acked, id), now
}

// watch begins to measure stalls.
func (m *meeting) watch() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.longest = 0
}

// stall returns the longest time between two acknowledgements since watch.
func (m *meeting) stall() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.longest
}

func (m *meeting) ackedSince(t time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last.After(t)
}

// A roomLog is a log that is open for reading.
type roomLog interface {
	log.Reader
	Close() error
}

// check compares the log with what people and agents have seen.
func (c *cluster) check() {
	l := c.servers.open()
	defer l.Close()
	handed := c.handedTurns()
	for _, m := range c.meetings {
		if _, err := log.Verify(c.t.Context(), l, m.room, log.Mark{}); err != nil {
			c.report.forks++
			c.t.Errorf("%s: %v", m.name, err)
			continue
		}
		m.check(l, handed[m.name])
	}
}

// handedTurns returns how often an agent was handed each turn, by room.
func (c *cluster) handedTurns() map[string]map[string]int {
	f, err := os.OpenFile(c.turnsFile(), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	all := map[string]map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, turn, _ := strings.Cut(lines.Text(), " ")
		if all[name] == nil {
			all[name] = map[string]int{}
		}
		all[name][turn]++
	}
	return all
}

func (m *meeting) check(l log.Reader, handed map[string]int) {
	t := m.c.t
	said, granted := map[string]int{}, map[string]int{}
	var epoch uint64
	for e, err := range log.Scan(context.Background(), l, m.room, log.Pos{}) {
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			return
		}
		if e.Event.Epoch < epoch {
			m.c.report.forks++
			t.Errorf("%s: event %d is of epoch %d after epoch %d", m.name, e.Seq, e.Event.Epoch, epoch)
		}
		epoch = e.Event.Epoch
		switch b := e.Event.Body.(type) {
		case room.MessagePosted:
			if id, ok := strings.CutPrefix(b.Message.Text, "message "); ok {
				said[id]++
			}
		case room.TurnGranted:
			granted[fmt.Sprint(b.Turn)]++
		}
	}
	for _, id := range m.acked {
		if said[id] == 0 {
			m.c.report.lost++
			t.Errorf("%s: the acknowledged message %s is lost", m.name, id)
		}
	}
	for id, n := range said {
		if n > 1 {
			m.c.report.doubled++
			t.Errorf("%s: message %s is there %d times", m.name, id, n)
		}
	}
	for turn, n := range granted {
		if n > 1 {
			m.c.report.twice++
			t.Errorf("%s: turn %s was granted %d times", m.name, turn, n)
		}
	}
	for turn, n := range handed {
		if n > 1 || granted[turn] == 0 {
			m.c.report.twice++
			t.Errorf("%s: agents were handed turn %s %d times, and it was granted %d times", m.name, turn, n, granted[turn])
		}
	}
	m.c.report.acked += len(m.acked)
	m.c.report.turns += len(granted)
	t.Logf("%s: epoch %d, %d turns, %d messages acknowledged", m.name, epoch, len(granted), len(m.acked))
}
