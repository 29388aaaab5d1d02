package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/folkmoot/moot/problem"
)

// Settings are the settings of the program. Folders are absolute paths.
type Settings struct {
	Data      string // folder of the rooms
	Cache     string // folder of compiled policies; may be deleted at any time
	LogURL    string // of the server that keeps the rooms, which may hold a password; "" keeps them in Data
	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json
	Relay     Relay
	Server    Server
	RelayURL  string // relay of this device; "" uses that of the invite
	// RelayTokens are this device's tokens. A token is for one relay and is sent
	// to no other.
	RelayTokens []RelayToken
	// PassphraseFile has the passphrase of the device's sealed keys, for services;
	// "" asks the user.
	PassphraseFile string
	TokenFile      string    // with the token for the relay at RelayURL; "" for none
	Profiles       []Profile // local agents that work with agents of other devices
	Notify         Notify    // what is run when something waits for a person
	File           string    // the settings file, whether it exists or not
	Warning        string    // what to change in the file, which still works; "" for nothing
}

// A Setting is one value and its origin.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // "flag --data", "env MOOT_DATA", a file or "default"
}

// SettingsName is the path of the settings file, relative to the configuration
// folder of the user.
const SettingsName = "moot/config.yaml"

// A settingKey is one setting with its name in the file, its variable and its
// flag.
type settingKey struct {
	name, env, flag string
	kind            valueKind
	allowed         []string // for isWord
	doc, def        string
	field           func(*Settings) *string
}

// A valueKind is the type of a setting.
type valueKind int

const (
	isFolder valueKind = iota
	isWord             // one of the allowed words
	isText             // any text, may be empty
	isFile             // a path, may be empty
	isURL              // may be empty, and may hold a password
)

var settingKeys = []settingKey{
	{name: "data", env: "MOOT_DATA", flag: "data", doc: "folder of the rooms", field: func(s *Settings) *string { return &s.Data }},
	{name: "cache", env: "MOOT_CACHE", doc: "folder of compiled policies; can be deleted at any time", field: func(s *Settings) *string { return &s.Cache }},
	{name: "log.level", env: "MOOT_LOG_LEVEL", flag: "log-level", kind: isWord, def: "warn", allowed: []string{"debug", "info", "warn", "error"}, doc: "lowest level that is logged to stderr", field: func(s *Settings) *string { return &s.LogLevel }},
	{name: "log.format", env: "MOOT_LOG_FORMAT", flag: "log-format", kind: isWord, def: "text", allowed: []string{"text", "json"}, doc: "format of the log", field: func(s *Settings) *string { return &s.LogFormat }},
	{name: "log.url", env: "MOOT_LOG", flag: "log", kind: isURL, doc: "URL of the server that keeps the rooms, such as postgres://host/db; without it they are in the data folder", field: func(s *Settings) *string { return &s.LogURL }},
	{name: "relay.listen", env: "MOOT_RELAY_LISTEN", kind: isText, def: DefaultRelayListen, doc: "address that `moot relay` listens on", field: func(s *Settings) *string { return &s.Relay.Listen }},
	{name: "relay.host", env: "MOOT_RELAY_HOST", kind: isText, doc: "host name of the relay for devices", field: func(s *Settings) *string { return &s.Relay.Host }},
	{name: tokensKey, env: "MOOT_RELAY_TOKENS", kind: isFile, doc: "file with the tokens that `moot relay` accepts; a mapping {HOST: FILE} has this device's tokens for relays", field: func(s *Settings) *string { return &s.Relay.Tokens }},
	{name: "relay.devices", env: "MOOT_RELAY_DEVICES", kind: isFile, doc: "file with the devices that the relay admits", field: func(s *Settings) *string { return &s.Relay.Devices }},
	{name: "relay.cert", env: "MOOT_RELAY_CERT", kind: isFile, doc: "file with the TLS certificate of the relay", field: func(s *Settings) *string { return &s.Relay.Cert }},
	{name: "relay.key", env: "MOOT_RELAY_KEY", kind: isFile, doc: "file with the key of the certificate", field: func(s *Settings) *string { return &s.Relay.Key }},
	{name: "relay.nats", env: "MOOT_RELAY_NATS", kind: isURL, doc: "URL of the NATS servers that connect several relays, such as nats://user:password@host:4222", field: func(s *Settings) *string { return &s.Relay.NATS }},
	{name: "relay.url", env: "MOOT_RELAY_URL", kind: isText, doc: "relay of this device", field: func(s *Settings) *string { return &s.RelayURL }},
	{name: "relay.token", env: "MOOT_RELAY_TOKEN", kind: isFile, doc: "file with the token for the relay of relay.url; better use relay.tokens", field: func(s *Settings) *string { return &s.TokenFile }},
	{name: "device.passphrase", env: "MOOT_DEVICE_PASSPHRASE", kind: isFile, doc: "file with the passphrase of the device's sealed keys; without it moot asks", field: func(s *Settings) *string { return &s.PassphraseFile }},
	{name: "server.listen", env: "MOOT_SERVER_LISTEN", kind: isText, def: DefaultListen, doc: "address that `moot serve` listens on; none is the socket only", field: func(s *Settings) *string { return &s.Server.Listen }},
	{name: "server.hosts", env: "MOOT_SERVER_HOSTS", kind: isText, doc: "names of `moot serve` besides its address, with a port if it is another one; separated by commas", field: func(s *Settings) *string { return &s.Server.Hosts }},
	{name: "server.cert", env: "MOOT_SERVER_CERT", kind: isFile, doc: "file with the TLS certificate of `moot serve`", field: func(s *Settings) *string { return &s.Server.Cert }},
	{name: "server.key", env: "MOOT_SERVER_KEY", kind: isFile, doc: "file with the key of the certificate", field: func(s *Settings) *string { return &s.Server.Key }},
	{name: "server.node", env: "MOOT_SERVER_NODE", kind: isText, doc: "address at which the other nodes reach this one, if several `moot serve` share the log at log.url", field: func(s *Settings) *string { return &s.Server.Node }},
	{name: "server.drain", env: "MOOT_SERVER_DRAIN", kind: isText, def: DefaultDrain, doc: "how long a node that ends waits for turns before it hands their rooms over", field: func(s *Settings) *string { return &s.Server.Drain }},
	{name: "server.roots", env: "MOOT_SERVER_ROOTS", kind: isText, doc: "folders in which agent sessions may work, separated by commas; without it no session can be created", field: func(s *Settings) *string { return &s.Server.RootList }},
	{name: "server.agent", env: "MOOT_SERVER_AGENT", kind: isText, doc: "agent of a session that names none: a known agent or a profile", field: func(s *Settings) *string { return &s.Server.Agent }},
	{name: "relay.metrics", env: "MOOT_RELAY_METRICS", kind: isText, doc: "address on which the relay serves its metrics", field: func(s *Settings) *string { return &s.Relay.Metrics }},
}

// A Variable is an environment variable that the program reads.
type Variable struct{ Name, Doc string }

// Variables returns the environment variables of the settings.
func Variables() []Variable {
	vs := []Variable{{"MOOT_CONFIG", "the settings file; default: moot/config.yaml in the user's configuration folder"}}
	for _, k := range settingKeys {
		vs = append(vs, Variable{k.env, k.doc})
	}
	return vs
}

// LoadSettings reads the settings. Flags have precedence over the environment,
// the settings file and the defaults, in this order. A missing settings file is
// an error only if MOOT_CONFIG names it. flags may be nil.
func LoadSettings(flags *pflag.FlagSet) (Settings, []Setting, error) {
	v := viper.New()
	file, err := settingsFile()
	if err != nil {
		return Settings{}, nil, err
	}
	s := Settings{File: file}
	if err := readSettings(v, &s); err != nil {
		return Settings{}, nil, err
	}
	for _, k := range settingKeys {
		v.SetDefault(k.name, k.defaultValue())
		if err := v.BindEnv(k.name, k.env); err != nil {
			return Settings{}, nil, fmt.Errorf("binding %s: %w", k.env, err)
		}
		if f := k.changedFlag(flags); f != nil {
			v.Set(k.name, f.Value.String())
		}
	}
	list := make([]Setting, len(settingKeys))
	for i, k := range settingKeys {
		if list[i], err = k.setting(v, flags, file); err != nil {
			return Settings{}, nil, err
		}
	}
	for i, k := range settingKeys {
		*k.field(&s) = list[i].Value
		if k.kind == isURL {
			list[i].Value = HidePassword(list[i].Value)
		}
	}
	if len(s.Notify.Command) > 0 {
		list = append(list, Setting{Key: notifyKey + ".command", Value: strings.Join(s.Notify.Command, " "), Origin: file}, Setting{Key: notifyKey + ".text", Value: strconv.FormatBool(s.Notify.Text), Origin: file})
	}
	for _, t := range s.RelayTokens {
		list = append(list, Setting{Key: tokensKey + "." + t.Host, Value: t.File, Origin: file})
	}
	return s, list, nil
}

// changedFlag returns the flag of k if the user set it; nil otherwise.
func (k settingKey) changedFlag(flags *pflag.FlagSet) *pflag.Flag {
	if flags == nil || k.flag == "" {
		return nil
	}
	if f := flags.Lookup(k.flag); f != nil && f.Changed {
		return f
	}
	return nil
}

// setting returns the effective value and its origin.
func (k settingKey) setting(v *viper.Viper, flags *pflag.FlagSet, file string) (Setting, error) {
	s := Setting{Key: k.name, Value: v.GetString(k.name), Origin: "default"}
	base := "" // relative paths start at the working folder
	switch env := os.Getenv(k.env); {
	case k.changedFlag(flags) != nil:
		s.Origin = "flag --" + k.flag
	case env != "":
		s.Origin = "env " + k.env
	case v.InConfig(k.name):
		s.Origin, base = file, filepath.Dir(file)
	}
	switch k.kind {
	case isWord:
		return s, k.checkAllowed(s)
	case isText, isURL:
		return s, nil
	case isFile:
		if s.Value == "" {
			return s, nil
		}
	case isFolder:
	}
	return s, s.makeAbsolute(base)
}

// HidePassword returns the scheme, host and path of a URL, or of several with commas
// between them: what may be shown of one that can hold a password.
func HidePassword(address string) string {
	parts := []string{address}
	if strings.Count(address, "://") > 1 {
		parts = strings.Split(address, ",")
	}
	for i, part := range parts {
		u, err := url.Parse(part)
		if err != nil || len(parts) > 1 && u.Host == "" { // a password may have a comma
			scheme, _, _ := strings.Cut(address, "://")
			return scheme + "://..."
		}
		parts[i] = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	return strings.Join(parts, ",")
}

// checkAllowed checks that a word is allowed.
func (k settingKey) checkAllowed(s Setting) error {
	if slices.Contains(k.allowed, s.Value) {
		return nil
	}
	return &problem.Error{
		Code: "CONFIG-VALUE", What: fmt.Sprintf("%s is %q", k.name, s.Value), Where: s.Origin,
		Fix: strings.TrimPrefix(Suggest(s.Value, k.allowed)+" allowed are "+strings.Join(k.allowed, ", "), " "),
	}
}

// makeAbsolute makes the value an absolute path.
func (s *Setting) makeAbsolute(base string) error {
	if s.Value == "" {
		return &problem.Error{
			Code: "CONFIG-HOME", What: "no folder for " + s.Key + ": the user has no home folder",
			Fix: "set HOME, or MOOT_" + strings.ToUpper(s.Key),
		}
	}
	if rest, ok := strings.CutPrefix(s.Value, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return &problem.Error{Code: "CONFIG-HOME", What: "no home folder", Where: s.Origin, Fix: "set HOME", Err: err}
		}
		s.Value = filepath.Join(home, rest)
	}
	if base != "" {
		s.Value = absolutePath(base, s.Value)
	}
	abs, err := filepath.Abs(s.Value)
	if err != nil {
		return &problem.Error{Code: "CONFIG-VALUE", What: s.Key + " is not a path", Where: s.Origin, Err: err}
	}
	s.Value = abs
	return nil
}

// defaultValue returns the default. It is "" if it needs a home folder and the
// user has none.
func (k settingKey) defaultValue() string {
	switch k.name {
	case "data":
		if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "moot")
		}
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, ".local", "share", "moot")
		}
	case "cache":
		if dir, err := os.UserCacheDir(); err == nil {
			return filepath.Join(dir, "moot")
		}
	}
	return k.def
}

// settingsFile returns the path of the settings file; "" if the user has no
// home folder.
func settingsFile() (string, error) {
	if file := os.Getenv("MOOT_CONFIG"); file != "" {
		if _, err := os.Stat(file); err != nil {
			return "", &problem.Error{Code: "CONFIG-READ", What: "no settings file: " + reasonWithoutPath(err), Where: file, Fix: "unset MOOT_CONFIG, or set it to a file", Err: err}
		}
		return filepath.Abs(file)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", nil //nolint:nilerr // a user without a home folder has no settings file
	}
	return filepath.Join(dir, filepath.FromSlash(SettingsName)), nil
}

// readSettings reads the settings file into v and the lists of s, and rejects
// unknown keys.
func readSettings(v *viper.Viper, into *Settings) error {
	file := into.File
	if file == "" {
		return nil
	}
	text, err := readBounded(file, false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &problem.Error{Code: "CONFIG-READ", What: "cannot be read: " + reasonWithoutPath(err), Where: file, Err: err}
	case len(text) > MaxFileBytes:
		return &problem.Error{Code: "CONFIG-READ", What: fmt.Sprintf("over %d bytes", MaxFileBytes), Where: file}
	case len(bytes.TrimSpace(text)) == 0:
		return nil
	}
	s, p := newSource(file, filepath.Dir(file), text)
	if p == nil {
		p = checkSettingsKeys(s, s.root, "")
	}
	if p == nil {
		into.Profiles, into.Warning, p = readProfiles(s)
	}
	if p == nil {
		into.RelayTokens, p = readRelayTokens(s)
	}
	if p == nil {
		into.Notify, p = readNotify(s)
	}
	if p != nil {
		return &problem.Error{Code: p.Code, What: p.What, Where: p.Position.String(), Fix: p.Hint}
	}
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		return &problem.Error{Code: "CONFIG-READ", What: "cannot be read", Where: file, Err: err}
	}
	return nil
}

// checkSettingsKeys rejects keys that viper would ignore or merge with another
// key.
func checkSettingsKeys(s *source, n *yaml.Node, prefix string) *Problem {
	var names []string
	for _, k := range settingKeys {
		names = append(names, k.name)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		full := prefix + k.Value
		known, group := slices.Contains(names, full), slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, full+".") })
		p := s.problemAt(k.Line, k.Column, "CONFIG-KEY", "")
		switch {
		case seen[full]:
			p.What = fmt.Sprintf("%q is set twice", full)
			return p
		case full == profilesKey: // see readProfiles
		case full == notifyKey: // see readNotify
		case full == tokensKey && follow(val).Kind == yaml.MappingNode: // see readRelayTokens
		case group && val.Kind == yaml.MappingNode:
			if q := checkSettingsKeys(s, val, full+"."); q != nil {
				return q
			}
		case !known:
			p.What, p.Hint = fmt.Sprintf("unknown setting %q", full), hintKey(full, append(names, profilesKey, notifyKey))
			return p
		case val.Kind != yaml.ScalarNode:
			p.Code, p.What = "CONFIG-VALUE", full+" is "+kindOf(val)+", want a text"
			return p
		}
		seen[full] = true
	}
	return nil
}

// DefaultDrain is how long a node that ends waits for turns.
const DefaultDrain = "2m"

// DefaultListen is the default address of a server. Only this machine can reach it.
const DefaultListen = "127.0.0.1:8420"

// ListenNone is the address of a server that listens on its socket only.
const ListenNone = "none"

// DefaultRelayListen is the default address of a relay. Only this machine can
// reach it.
const DefaultRelayListen = "127.0.0.1:7447"

// Relay holds the defaults of the flags of `moot relay`. Files are absolute
// paths; "" means none.
type Relay struct {
	Listen  string // address
	Host    string // name in its URL; on loopback "" means the address
	Tokens  string // file
	Devices string // file
	Cert    string // file
	Key     string // file
	Metrics string // address; "" disables metrics
	NATS    string // URL of the servers of a group of relays; "" for a relay alone
}

// Server holds the settings of `moot serve`. Files are absolute paths; "" means
// none.
type Server struct {
	Listen string // address, or ListenNone
	Hosts  string // names, separated by commas
	Cert   string // file
	Key    string // file
	Node   string // address for other nodes; "" is none
	Drain  string // a duration

	RootList string // folders of sessions, separated by commas
	Agent    string // of a session that names none
}

// Roots returns the folders in which sessions may work. A folder that is not
// absolute is an error.
func (s Server) Roots() (roots []string, err error) {
	for item := range strings.SplitSeq(s.RootList, ",") {
		item = strings.TrimSpace(item)
		if rest, ok := strings.CutPrefix(item, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, err
			}
			item = filepath.Join(home, rest)
		}
		switch {
		case item == "":
		case !filepath.IsAbs(item):
			return nil, &problem.Error{Code: "CONFIG-VALUE", What: fmt.Sprintf("server.roots has %q, which is no absolute path", item), Fix: "write absolute paths, or paths that begin with ~/"}
		default:
			roots = append(roots, filepath.Clean(item))
		}
	}
	return roots, nil
}
