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
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// agent is a program that answers each prompt, and writes its turn to a file that all nodes
// share: $1 is the file and $2 the room.
const agent = `while read -r line; do
	id=${line#*\"request_id\":\"} id=${id%%\"*}
	turn=${line#*\"turn_index\":} turn=${turn%%,*}
	case $line in *local_prompt.request*) ;; *) continue ;; esac
	echo "$2 $turn" >>"$1"
	sleep 0.2
	echo "{\"type\":\"desktop.local_prompt.response\",\"request_id\":\"$id\",\"status\":\"ok\",\"draft_message\":\"This is turn $turn.\",\"reason\":\"\"}"
done
`

const roomFile = `version: room/v1
name: %[1]s
policy: {use: round-robin}
onRestart: continue
limits: {maxTurns: 1000000, maxDuration: 300h, maxFailures: 1000000}
participants:
  - {id: A, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh, %[2]s, %[1]s]}}
  - {id: B, mode: full_auto, endpoint: {kind: ndjson, command: [sh, ./agent.sh, %[2]s, %[1]s]}}
`

// A meeting is a room in which agents talk and a person posts.
type meeting struct {
	c    *cluster
	name string
	room string // its id
	rand *rand.Rand

	mu    sync.Mutex
	acked []string  // messages
	begun time.Time // of the last acknowledged message
	last  time.Time // when it was acknowledged
}

func (c *cluster) turnsFile() string { return filepath.Join(c.dir, "turns") }

// startRooms makes rooms, and lets people post to them.
func (c *cluster) startRooms(count int) {
	c.end = make(chan struct{})
	for i := range count {
		m := &meeting{c: c, name: fmt.Sprint("room-", i), rand: rand.New(rand.NewPCG(uint64(i), 2))}
		n := c.nodes[i%len(c.nodes)]
		var made api.Created
		file := api.Create{YAML: fmt.Sprintf(roomFile, m.name, c.turnsFile()), Dir: n.dir}
		if _, err := n.post(3*time.Minute, "/api/rooms", file, &made); err != nil {
			c.t.Fatalf("making a room: %v\n%s", err, c.stderr())
		}
		m.room = made.Room
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

func (c *cluster) stopPeople() {
	close(c.end)
	c.people.Wait()
}

// refusals are the answers after which the same command is not given again.
var refusals = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity}

// personWaits is how long a person waits for an answer before the next try, at any node.
const personWaits = 1500 * time.Millisecond

// person posts one message after the other, each until it is acknowledged by some node.
func (m *meeting) person() {
	for i := 0; ; i++ {
		id, began := fmt.Sprintf("%s-%d", m.name, i), time.Now()
		for acked := false; !acked; {
			select {
			case <-m.c.end:
				return
			case <-m.c.t.Context().Done():
				return
			default:
			}
			n := m.c.nodes[m.rand.IntN(len(m.c.nodes))]
			status, err := n.post(personWaits, "/api/rooms/"+m.room+"/commands", api.Command{ID: id, Do: "say", Text: "message " + id}, nil)
			switch {
			case err == nil:
				acked = true
			case slices.Contains(refusals, status):
				m.c.t.Errorf("%s refuses %s: %v", n.name, id, err)
				return
			default:
				time.Sleep(50 * time.Millisecond) // the interval of its retries
			}
		}
		m.mu.Lock()
		m.acked, m.begun, m.last = append(m.acked, id), began, time.Now()
		m.mu.Unlock()
		time.Sleep(100 * time.Millisecond) // the person thinks
	}
}

func (m *meeting) ackedSince(t time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last.After(t)
}

func (m *meeting) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.acked)
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
			t.Errorf("%s: the acknowledged message %s is lost", m.name, id)
		}
	}
	for id, n := range said {
		if n > 1 {
			t.Errorf("%s: message %s is there %d times", m.name, id, n)
		}
	}
	for turn, n := range granted {
		if n > 1 {
			t.Errorf("%s: turn %s was granted %d times", m.name, turn, n)
		}
	}
	for turn, n := range handed {
		if n > 1 || granted[turn] == 0 {
			t.Errorf("%s: agents were handed turn %s %d times, and it was granted %d times", m.name, turn, n, granted[turn])
		}
	}
	t.Logf("%s: epoch %d, %d turns, %d messages acknowledged", m.name, epoch, len(granted), len(m.acked))
}
