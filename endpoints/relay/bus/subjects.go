package bus

import (
	"cmp"
	"crypto/rand"
	"encoding/base32"
	"net/url"
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// subjects are the names that one relay of a group uses:
//
//	GROUP.relay.to.DEVICE            messages for a device
//	GROUP.relay.none.RELAY.FROM.TO   replies of the servers: no relay has the device
type subjects struct {
	mailboxes string // GROUP.relay.to.
	replies   string // GROUP.relay.none.RELAY.
}

func newSubjects(group string) subjects {
	return subjects{mailboxes: group + ".relay.to.", replies: group + ".relay.none." + rand.Text() + "."}
}

func (s subjects) mailbox(id frame.ID) string { return s.mailboxes + encodeID(id) }
func (s subjects) ownReplies() string         { return s.replies + "*.*" }
func (s subjects) replyTo(from, to frame.ID) string {
	return s.replies + encodeID(from) + "." + encodeID(to)
}

// device returns the device of a mailbox.
func (s subjects) device(subject string) (id frame.ID, ok bool) {
	text, ok := strings.CutPrefix(subject, s.mailboxes)
	if !ok {
		return id, false
	}
	return decodeID(text)
}

// reply returns the devices of a reply.
func (s subjects) reply(subject string) (from, to frame.ID, ok bool) {
	text, ok := strings.CutPrefix(subject, s.replies)
	if !ok {
		return from, to, false
	}
	first, second, _ := strings.Cut(text, ".")
	from, okFrom := decodeID(first)
	to, okTo := decodeID(second)
	return from, to, okFrom && okTo
}

// alphabet is base32 in lower case, as in the ids that people see.
var alphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func encodeID(id frame.ID) string { return alphabet.EncodeToString(id[:]) }

// decodeID accepts only what encodeID returns.
func decodeID(text string) (id frame.ID, ok bool) {
	if len(text) != alphabet.EncodedLen(len(id)) {
		return id, false
	}
	b, err := alphabet.DecodeString(text)
	if err != nil {
		return id, false
	}
	id = frame.ID(b)
	return id, encodeID(id) == text
}

// schemes are those of the addresses of NATS servers.
var schemes = []string{"nats", "tls", "ws", "wss"}

// splitURL returns the servers without a path, and the name of the group.
func splitURL(text string) (servers, group string, err error) {
	all := strings.Split(text, ",")
	for i, s := range all {
		u, err := url.Parse(strings.TrimSpace(s)) // its error has the password of the address
		if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
			return "", "", badURL("the URL is no address of NATS servers")
		}
		group = cmp.Or(group, strings.Trim(u.Path, "/"))
		u.Path = ""
		all[i] = u.String()
	}
	group = cmp.Or(group, "moot")
	if len(group) > maxGroup || strings.ContainsFunc(group, func(r rune) bool { return !strings.ContainsRune(groupLetters, r) }) {
		return "", "", badURL("the name of the group, which is the path of the URL, has up to 64 letters, digits, - and _ only")
	}
	return strings.Join(all, ","), group, nil
}

const (
	maxGroup     = 64
	groupLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
)
