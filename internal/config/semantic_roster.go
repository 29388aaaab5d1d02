package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
)

// agentIndexes returns the indexes of the participants that are not people.
func agentIndexes(w wireRoom) (agents []int) {
	for i, s := range w.Participants {
		if s == nil || s.Kind != policy.Human {
			agents = append(agents, i)
		}
	}
	return agents
}

// checkRoster checks the number of agents.
func (d *document) checkRoster(w wireRoom) {
	n := len(agentIndexes(w))
	switch {
	case len(w.Participants) == 0:
	case n == 0:
		d.reportUnlessBroken([]string{"participants"}, "ROOM-NOBODY", "no agent: the policy could choose no participant", "")
	case w.OneToOne && n != 2:
		d.reportUnlessBroken([]string{"oneToOne"}, "ROOM-ONE-TO-ONE", fmt.Sprintf("a one-to-one room has two agents; this one has %d", n), "people may take part in addition to the two")
	}
}

// checkBeginning warns of a room in which no agent can begin: the policy waits for a
// message, and none comes.
func (d *document) checkBeginning(w wireRoom, r *Room, o Options) {
	attended := slices.ContainsFunc(w.Participants, func(s *wireParticipant) bool { return s == nil || s.Kind == policy.Human })
	if attended && !o.Headless || !waitsForMessage(r.Policy.Use, w.Policy.Settings) || d.isBroken("participants") || d.isBroken("policy") {
		return
	}
	first, path := r.Opening, []string{"policy", "use"}
	if first == "" {
		first = r.Objective
	}
	switch {
	case first == "":
		d.warnUnlessBroken(path, "ROOM-SILENT", "no agent can begin: policy "+r.Policy.Use+" waits for a message, and there is no opening, no objective and no person", "add opening:, or give the first message: moot run FILE TEXT")
	case r.Policy.Use == "mention" && !slices.ContainsFunc(r.Participants, func(p Participant) bool { return isNamed(p, first) }):
		d.warnUnlessBroken(path, "ROOM-SILENT", "no agent can begin: policy mention waits for a message that names an agent or one of its domains, and the first one names none", "name an agent in opening:, or set policy.settings.fallback")
	}
}

// waitsForMessage reports whether a built-in policy gives no agent the floor
// before it has seen a message.
func waitsForMessage(use string, settings json.RawMessage) bool {
	var s struct {
		Fallback string `json:"fallback"`
	}
	if json.Unmarshal(settings, &s) != nil {
		s.Fallback = "" // the schema of the settings reports it
	}
	switch use {
	case "mention", "humanfirst", "inbox":
		return s.Fallback == "" || s.Fallback == "decline" || s.Fallback == "mention" || s.Fallback == "inbox"
	case "wasteguard":
		return s.Fallback == "decline" || waitsForMessage(s.Fallback, nil)
	}
	return false
}

// isNamed reports whether text could name an agent or one of its domains.
func isNamed(p Participant, text string) bool {
	text = strings.ToLower(text)
	return p.Seat.Kind != policy.Human && slices.ContainsFunc(append([]string{p.Seat.ID, p.Seat.Name}, p.Seat.Domains...), func(name string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name), isSeparator), func(word string) bool { return strings.Contains(text, word) })
	})
}

func isSeparator(r rune) bool { return r == ' ' || r == '-' || r == '_' }

// checkCooldowns reports cooldowns that would leave a turn without an eligible
// agent. An agent with cooldown c has at most one of c+1 turns, so 1/(c+1) over
// all agents must add up to at least 1.
func (d *document) checkCooldowns(w wireRoom) {
	sum, longest := new(big.Rat), -1
	seats := agentIndexes(w)
	for _, i := range seats {
		s := w.Participants[i]
		if s == nil || d.isBroken(participantPath(i, "cooldown")...) {
			return // a cooldown is unknown
		}
		sum.Add(sum, big.NewRat(1, int64(s.Cooldown)+1))
		if longest < 0 || s.Cooldown > w.Participants[longest].Cooldown {
			longest = i
		}
	}
	if longest < 0 || sum.Cmp(big.NewRat(1, 1)) >= 0 || w.Limits.MaxTurns == 1 {
		return
	}
	d.reportUnlessBroken(participantPath(longest, "cooldown"), "ROOM-COOLDOWN",
		fmt.Sprintf("with %d %s and these cooldowns, no agent is eligible for some turn", len(seats), plural(len(seats), "agent")),
		fmt.Sprintf("a cooldown counts turns of others; use at most %d for all agents", len(seats)-1))
}

// checkHandOffs reports hand-offs to participants that the room does not have.
func (d *document) checkHandOffs(w wireRoom) {
	for i, seat := range w.Participants {
		if seat == nil {
			continue
		}
		for n, id := range seat.HandoffTo {
			if !slices.ContainsFunc(w.Participants, func(p *wireParticipant) bool { return p != nil && p.ID == id && p != seat }) {
				d.reportUnlessBroken(participantPath(i, "handoffTo", strconv.Itoa(n)), "ROOM-HANDOFF", strconv.Quote(id)+" is no other participant of the room", "name ids of participants")
			}
		}
	}
}

// checkManagers refuses a second participant with the role of the manager. The manager
// alone decides and talks to people, and "manager" is an address.
func (d *document) checkManagers(w wireRoom) {
	first := -1
	for i, seat := range w.Participants {
		switch {
		case seat == nil || kinds.PartyOf(seat.Kind == policy.Human, seat.Role)&kinds.Manager == 0:
		case first < 0:
			first = i
		default:
			d.reportUnlessBroken(participantPath(i, "role"), "ROOM-MANAGERS",
				fmt.Sprintf("a room has one manager, and %s is it (%s)", strconv.Quote(w.Participants[first].ID), d.positionOf(first)),
				"make this one a worker or specialist:NAME, or describe its role in other words")
		}
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// checkEndpoint checks that the files and programs of an endpoint exist.
func (d *document) checkEndpoint(i int, w *wireEndpoint, o Options) {
	if w == nil || d.isBroken(participantPath(i, "endpoint")...) {
		return
	}
	e := w.resolve(d.sourceOf(i).dir)
	d.checkSecrets(i, w)
	switch e.Kind {
	case KindNDJSON, KindACP, KindCommand:
		d.checkCwd(i, w, e)
		if len(e.Command) > 0 {
			d.checkCommand(i, e)
		} else if o.AgentProgram != nil {
			d.checkAgent(i, e, o)
		}
	case KindOpenAI:
		d.checkServer(i, w, e)
	case KindA2A:
		if fault := agentURLFault(e.URL); fault != "" {
			d.reportUnlessBroken(participantPath(i, "endpoint", "url"), "ROOM-VALUE", "the URL "+fault, "write it as https://agents.example.org, without /.well-known")
		}
		d.checkSecret(i, "token", w.Token, "A2A_TOKEN")
	case KindScripted:
		if e.Script != "" {
			d.checkScript(i, e, o)
		}
	case KindGo:
		d.checkGo(i, e, o)
	}
}

// checkServer checks how a model server is reached.
func (d *document) checkServer(i int, w *wireEndpoint, e Endpoint) {
	if fault := urlFault(e.BaseURL); fault != "" {
		d.reportUnlessBroken(participantPath(i, "endpoint", "baseURL"), "ROOM-VALUE", "the URL "+fault, "write it as http://localhost:11434/v1")
	} else if strings.HasPrefix(e.BaseURL, "http://") && w.APIKey != "" && !isLoopback(e.BaseURL) {
		d.warnUnlessBroken(participantPath(i, "endpoint", "baseURL"), "ROOM-SECRET", "the key and all prompts go through the network without encryption", "use https://")
	}
	d.checkSecret(i, "apiKey", w.APIKey, "OPENAI_API_KEY")
}

// checkSecret checks that a secret of an endpoint is a variable, such as example.
func (d *document) checkSecret(i int, key, value, example string) {
	path := participantPath(i, "endpoint", key)
	if n, _ := d.find(path); value != "" && !isVariable(follow(n).Value) {
		d.report(n, path, "ROOM-SECRET", "a secret is written in the file and would be part of the log of the room", "export the variable and write "+key+": \"${"+example+"}\"")
		d.secrets = append(d.secrets, value, follow(n).Value)
	}
}

// agentURLFault says what is wrong with the URL of an A2A agent, "" for nothing.
func agentURLFault(base string) string {
	if fault := urlFault(base); fault != "" {
		return fault
	}
	if strings.HasPrefix(base, "http://") && !isLoopback(base) {
		return "would send the room through the network without encryption; only an agent on this machine may have http://"
	}
	return ""
}

// urlFault says what is wrong with the URL of a server, "" for nothing.
func urlFault(base string) string {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "cannot be read"
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "does not begin with http:// or https:// and a host"
	case u.User != nil:
		return "has a user name; a secret has its own key"
	case u.RawQuery != "" || u.Fragment != "":
		return "has a query or a fragment"
	}
	return ""
}

// isLoopback reports whether a URL is of this machine.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// oneVariable matches a reference to a variable without a default value.
var oneVariable = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*(:-|:\?[^{}]*)?\}$`)

// isVariable reports whether a text as written is a variable, and has no secret.
func isVariable(written string) bool { return oneVariable.MatchString(written) }

// checkGo checks that the program has the agent in Go.
func (d *document) checkGo(i int, e Endpoint, o Options) {
	err := &problem.Error{What: "this program has no agents in Go"}
	if o.GoEndpoint != nil && !errors.As(o.GoEndpoint(e.Name), &err) {
		return
	}
	d.reportUnlessBroken(participantPath(i, "endpoint", "name"), "ROOM-ENDPOINT", err.What, err.Fix)
}

// checkScript reads and checks the script of a scripted agent.
func (d *document) checkScript(i int, e Endpoint, o Options) {
	path := participantPath(i, "endpoint", "script")
	text, err := readBounded(e.Script, true)
	switch {
	case err != nil:
		d.reportUnlessBroken(path, "ROOM-SCRIPT", "no script at "+d.relativePath(e.Script)+": "+reasonWithoutPath(err), d.suggestFile(e.Script))
	case len(text) > MaxFileBytes:
		d.reportUnlessBroken(path, "ROOM-SCRIPT", fmt.Sprintf("%s is over %d bytes", d.relativePath(e.Script), MaxFileBytes), "")
	case o.CheckScript != nil:
		err := o.CheckScript(d.relativePath(e.Script), text)
		if p, ok := errors.AsType[*problem.Error](err); ok {
			d.reportUnlessBroken(path, "ROOM-SCRIPT", p.Where+": "+p.What, p.Fix)
		} else if err != nil {
			d.reportUnlessBroken(path, "ROOM-SCRIPT", err.Error(), "")
		}
	}
}

// maxInstructions bounds the instructions of an agent, in characters. The schema has
// the same bound.
const maxInstructions = 32_768

// resolveInstructions sets the instructions of agents, from their files if they are
// not in room.yaml.
func (d *document) resolveInstructions(w wireRoom, r *Room) {
	for list, seats := range map[int][]*wireParticipant{0: w.Participants, firstAgent: w.Agents} {
		k, built := 0, r.Participants
		if list == firstAgent {
			built = r.Agents
		}
		for i, seat := range seats {
			if seat != nil {
				d.resolveInstructionsOf(list+i, seat, &built[k].Seat)
				k++
			}
		}
	}
}

func (d *document) resolveInstructionsOf(i int, seat *wireParticipant, p *room.Participant) {
	path := participantPath(i, "instructions")
	if seat.Instructions == (wireText{}) || p.Kind == policy.Human || d.isBroken(path...) {
		return
	}
	if p.Kind == policy.Remote {
		d.reportUnlessBroken(path, "ROOM-INSTRUCTIONS", "another owner's agent gets instructions from its owner only", "remove them; the owner may write them under profiles: of the settings there")
		return
	}
	text, err := seat.Instructions.read(d.sourceOf(i).dir)
	if err != nil {
		d.reportUnlessBroken(path, "ROOM-INSTRUCTIONS", err.What, err.Fix)
	}
	p.Instructions = text
}

// read returns the text. The path of a file is relative to dir.
func (t wireText) read(dir string) (string, *problem.Error) {
	text, name := []byte(t.Text), "the text"
	if t.File != "" {
		var err error
		name = t.File
		if text, err = readBounded(absolutePath(dir, t.File), true); err != nil {
			return "", &problem.Error{What: "no text at " + name + ": " + reasonWithoutPath(err), Fix: "the path is relative to the file that names it"}
		}
	}
	s := &source{name: name, text: bytes.TrimPrefix(text, []byte("\ufeff"))}
	if n := utf8.RuneCount(s.text); n > maxInstructions {
		return "", &problem.Error{What: fmt.Sprintf("%s has over %d characters", name, maxInstructions), Fix: "shorten it: the agent gets it with each prompt"}
	}
	if p := s.checkText(); p != nil {
		return "", &problem.Error{What: p.Position.String() + ": " + p.What, Fix: cmp.Or(p.Hint, "remove the character")}
	}
	if text = bytes.TrimSpace(s.text); len(text) == 0 {
		return "", &problem.Error{What: name + " is empty", Fix: "write what the agent needs to know, or remove instructions"}
	}
	return string(text), nil
}

func (d *document) checkCwd(i int, w *wireEndpoint, e Endpoint) {
	if w.Cwd == "" {
		return
	}
	path := participantPath(i, "endpoint", "cwd")
	if st, err := os.Stat(e.Dir); err != nil {
		d.reportUnlessBroken(path, "ROOM-CWD", "no folder "+d.relativePath(e.Dir)+": "+reasonWithoutPath(err), "mkdir -p "+d.relativePath(e.Dir))
	} else if !st.IsDir() {
		d.reportUnlessBroken(path, "ROOM-CWD", d.relativePath(e.Dir)+" is not a folder", "")
	}
}

// checkCommand checks that the program can be started.
func (d *document) checkCommand(i int, e Endpoint) {
	prog, path := e.Command[0], participantPath(i, "endpoint", "command", "0")
	if !filepath.IsAbs(prog) {
		if _, err := exec.LookPath(prog); err != nil {
			d.reportUnlessBroken(path, "ROOM-COMMAND", fmt.Sprintf("no program %q in PATH", prog), "a path starts with ./")
		}
	} else if st, err := os.Stat(prog); errors.Is(err, fs.ErrNotExist) {
		d.reportUnlessBroken(path, "ROOM-COMMAND", "no program at "+d.relativePath(prog), d.suggestFile(prog))
	} else if err != nil {
		d.reportUnlessBroken(path, "ROOM-COMMAND", d.relativePath(prog)+": "+reasonWithoutPath(err), "")
	} else if st.IsDir() {
		d.reportUnlessBroken(path, "ROOM-COMMAND", d.relativePath(prog)+" is a folder", "")
	} else if st.Mode()&0o111 == 0 && runtime.GOOS != "windows" {
		d.reportUnlessBroken(path, "ROOM-COMMAND", d.relativePath(prog)+" is not executable", "chmod +x "+d.relativePath(prog))
	}
	for k, arg := range e.Command[1:] {
		if !strings.HasPrefix(arg, "./") && !strings.HasPrefix(arg, "../") {
			continue
		}
		if _, err := os.Stat(filepath.Join(e.Dir, arg)); errors.Is(err, fs.ErrNotExist) {
			d.warnUnlessBroken(participantPath(i, "endpoint", "command", strconv.Itoa(k+1)), "ROOM-COMMAND", "no file "+arg+" in the working folder of the agent", d.suggestFile(filepath.Join(e.Dir, arg)))
		}
	}
}

// checkAgent checks that the program of a known agent is installed.
func (d *document) checkAgent(i int, e Endpoint, o Options) {
	program, install := o.AgentProgram(e.Agent)
	if _, err := exec.LookPath(program); err != nil {
		d.reportUnlessBroken(participantPath(i, "endpoint", "agent"), "ROOM-COMMAND", fmt.Sprintf("no program %q in PATH", program), install)
	}
}

// checkSecrets reports secrets that are written in the file, because endpoints
// are logged as written.
func (d *document) checkSecrets(i int, w *wireEndpoint) {
	for name, val := range w.Env {
		path := participantPath(i, "endpoint", "env", name)
		n, _ := d.find(path)
		if n = follow(n); !secretName(name) || val == "" || n == nil || len(variables(n.Value)) > 0 {
			continue
		}
		d.report(n, path, "ROOM-SECRET", "a secret is written in the file and would be part of the log of the room", "export the variable and write "+name+": \"${"+name+"}\"")
		d.secrets = append(d.secrets, val)
	}
}
