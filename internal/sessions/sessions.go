// Package sessions runs agent sessions: an agent that works in one folder, alone in
// a room of its own, and gets its messages over the API. Agents of other rooms may
// create sessions and send messages to them, and sessions may answer.
//
// A session has an id: its room, or ROOM.SEAT, which the seats of other rooms have
// too. The sender of a message is always known from its credential.
package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// Config says how sessions are run. Host is required.
type Config struct {
	Host     *moot.Host
	Settings config.Settings // server.roots, server.agent and the profiles
	// Path is the file that lists the sessions; "" keeps the list in memory.
	Path string
	// TTL is how long a session lives after its last message; 0 is a day.
	TTL time.Duration
	Log *slog.Logger // nil discards it
}

// Bounds of sessions.
const (
	defaultTTL = 24 * time.Hour
	maxDepth   = 5  // of sessions that sessions create
	maxLive    = 64 // on a device
	seatID     = "agent"
	keepEnded  = 24 * time.Hour // of the reason why a session has ended
)

// Sessions are the sessions of one Host. It is safe for concurrent use. Close it
// before the Host.
type Sessions struct {
	cfg   Config
	roots []string
	rates rates
	ctx   context.Context
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu   sync.Mutex
	list list
	live map[string]*watcher // by room
}

// A Sender is who uses a session, as its credential says.
type Sender struct {
	Name    string // of the credential
	Room    string // the only room of the credential; "" is any
	Seat    string // the seat that the credential acts as; "" is a person or a program
	Control bool   // it may see internal messages
	Via     string // how its requests come
}

// rules reports whether the sender may do all that a person at the host may.
func (f Sender) rules() bool { return f.Room == "" && f.Control }

// Open returns the sessions that the file at cfg.Path lists, and watches those that
// have not ended.
func Open(cfg Config) (*Sessions, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.TTL = cmp.Or(cfg.TTL, defaultTTL)
	s := &Sessions{cfg: cfg, live: map[string]*watcher{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	var err error
	if s.roots, err = cfg.Settings.Server.Roots(); err != nil {
		return nil, err
	}
	if s.list, err = readList(cfg.Path); err != nil {
		return nil, err
	}
	for _, x := range s.list.Sessions {
		if x.Ended == "" {
			s.watch(x)
		}
	}
	return s, nil
}

// Close stops watching the sessions and waits for that. The sessions themselves end
// with the Host, and go on with the next one.
func (s *Sessions) Close() {
	if s == nil {
		return
	}
	s.stop()
	s.done.Wait()
}

// A New describes a session to create.
type New struct {
	Folder  string // absolute; in one of the settings' roots
	Agent   string // a known agent or a profile; "" is that of the settings
	Model   string // "" is the agent's own choice
	Message string // the first message; "" sends none
}

// Create creates a session and returns its id.
func (s *Sessions) Create(ctx context.Context, from Sender, n New) (string, error) {
	if from.Seat == "" && !from.rules() {
		return "", &problem.Error{Code: "API-FORBIDDEN", What: from.Name + " may not create sessions", Fix: "use a token of the scope control for all rooms, or one of a seat"}
	}
	folder, err := s.folder(n.Folder)
	if err != nil {
		return "", err
	}
	p, dir, err := s.participant(n, folder)
	if err != nil {
		return "", err
	}
	if err := s.narrow(ctx, from, &p); err != nil {
		return "", err
	}
	if err := s.rates.allow(from, "create", createRate); err != nil {
		return "", err
	}
	x := record{ID: coordinator.NewRoomID(), By: s.IDOf(from), Folder: folder, Agent: p.Name, Created: now(), Until: now().Add(s.cfg.TTL)}
	if err := s.add(from, &x); err != nil {
		return "", err
	}
	spec := moot.Spec{
		Room: x.ID, Name: "session in " + folder, Dir: dir, Policy: room.PolicyRef{Use: "inbox"}, OnRestart: room.RestartContinue, Limits: limits,
	}
	if _, err := s.cfg.Host.Create(ctx, moot.Source{Spec: &spec, Participants: []moot.Participant{p}, Dir: dir}, moot.Options{}); err != nil {
		s.remove(x.ID)
		return "", err
	}
	s.mu.Lock()
	s.watch(x)
	s.mu.Unlock()
	if n.Message == "" {
		return x.ID, nil
	}
	source := room.SourceUser
	if from.Seat != "" {
		source = room.SourceAgent
	}
	_, err = s.say(ctx, from, target{x.ID, seatID}, Message{Text: n.Message, Source: source})
	return x.ID, err
}

// limits are those of a session's room. A session works longer than a seat of a room
// with others, and ends by its TTL.
var limits = room.Limits{
	MaxTurns: 500, MaxDuration: 30 * 24 * time.Hour, MaxOutput: 100_000, MaxToolRounds: 100, SameText: 8,
	TurnTimeout: turnTime, ToolTurnTimeout: turnTime,
}

const turnTime = 30 * time.Minute

// add lists a new session of from, unless there are too many or it is too deep.
func (s *Sessions) add(from Sender, x *record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := 0
	for _, y := range s.list.Sessions {
		if y.Ended == "" {
			live++
		}
		if y.ID == from.Room {
			x.Depth = y.Depth + 1
		}
	}
	switch {
	case live >= maxLive:
		return &problem.Error{Code: "SESSION-RATE", What: fmt.Sprintf("%d sessions are open", live), Fix: "end some, or wait until they end"}
	case x.Depth >= maxDepth:
		return &problem.Error{Code: "SESSION-DEPTH", What: fmt.Sprintf("sessions are nested at most %d deep", maxDepth), Fix: "let this session do the work itself"}
	}
	return s.list.change(s.cfg.Path, func(l *list) { l.Sessions = append(l.Sessions, *x) })
}

func (s *Sessions) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.list.change(s.cfg.Path, func(l *list) { l.drop(id) }); err != nil {
		s.cfg.Log.Warn("the list of sessions is out of date", "error", err)
	}
}

// find returns the session with that room.
func (s *Sessions) find(id string) (record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list.find(id)
}

// IDOf returns the id of the sender's own session, "" if it is no agent.
func (s *Sessions) IDOf(from Sender) string {
	if from.Seat == "" {
		return ""
	}
	if _, ok := s.find(from.Room); ok && from.Seat == seatID {
		return from.Room
	}
	return from.Room + "." + from.Seat
}

// A target is the seat that an id of a session names.
type target struct{ room, seat string }

// target returns the seat that id names, for a sender who may know of it. A sender
// that is bound to a room knows the seats of this room, the sessions that people have
// created, and the sessions and the room of its own tree.
func (s *Sessions) target(ctx context.Context, from Sender, id string) (target, error) {
	r, seat, _ := strings.Cut(id, ".")
	x, session := s.find(r)
	known := from.Room == "" || from.Room == r || session && x.By == "" || s.root(from.Room) == s.root(r)
	if !known {
		return target{}, unknown(id)
	}
	v, err := s.cfg.Host.View(ctx, r, room.Internal)
	if err != nil {
		if isUnknown(err) {
			err = unknown(id)
		}
		return target{}, err
	}
	var agents []string
	for _, y := range v.Seats {
		if y.Kind != "human" {
			agents = append(agents, y.ID)
		}
	}
	if seat == "" && len(agents) == 1 {
		seat = agents[0]
	}
	for _, a := range agents {
		if a == seat {
			return target{r, seat}, nil
		}
	}
	return target{}, unknown(id)
}

func unknown(id string) error {
	return &problem.Error{Code: "SESSION-UNKNOWN", What: fmt.Sprintf("there is no session %.80q", id), Fix: "use an id that the creation of a session has returned, or ROOM.SEAT"}
}

func isUnknown(err error) bool {
	var p *problem.Error
	return errors.As(err, &p) && p.Code == "ROOM-UNKNOWN"
}

// root returns the room at the root of the tree of sessions that the room id is in.
func (s *Sessions) root(id string) string {
	for range maxDepth + 1 {
		x, ok := s.find(id)
		if !ok || x.By == "" {
			break
		}
		id, _, _ = strings.Cut(x.By, ".")
	}
	return id
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
