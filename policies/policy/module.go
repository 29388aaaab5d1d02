package policy

// A Named is a policy under the name that rooms use it by.
type Named struct {
	Name   string
	Policy Policy
}

// A Module is what a policy module does, apart from WebAssembly: it is
// configured at most once and then turns input bytes into answer bytes. A
// module of several policies is one of them from Configure on; a module of
// one is that one from the start. It is not safe for concurrent use.
type Module struct {
	all    []Named
	chosen Policy
	failed error // why Configure, or the settings that nobody gave, were refused
	in     Input
	texts  []byte // where strings with escapes are written
	out    []byte
}

// NewModule returns a Module of all. It makes the room that a decision needs
// beforehand, because a host bakes the memory of a module that has been loaded
// and configured into the image that every decision starts from.
func NewModule(all ...Named) *Module {
	m := &Module{all: all, texts: make([]byte, 0, 8<<10), out: make([]byte, 0, 4<<10)}
	m.in.Agents = make([]Agent, 32)
	for i := range m.in.Agents {
		m.in.Agents[i].Domains = make([]string, 0, 4)
	}
	m.in.Events = make([]Event, 16)
	m.in.Constraints = make([]string, 0, 8)
	for i := range m.in.Events {
		e, names := &m.in.Events[i], make([]string, 6)
		e.To, e.Mentions, e.Addressed = names[0:0:2], names[2:2:4], names[4:4:6]
	}
	if len(all) == 1 {
		m.choose(all[0].Policy, nil)
	}
	return m
}

// Configure takes {"policy":name,"settings":{...}}. It keeps memory of text.
func (m *Module) Configure(text []byte) error {
	var name string
	var settings JSON
	r := NewReader(text)
	for r.Object(); r.More(); {
		switch r.Key() {
		case "policy":
			name = r.String()
		case "settings":
			if !r.Null() {
				settings = r.Raw()
			}
		default:
			r.Skip()
		}
	}
	r.End()
	if r.err != nil {
		return r.err
	}
	for i := range m.all {
		if m.all[i].Name == name || len(m.all) == 1 {
			m.choose(m.all[i].Policy, settings)
			return m.failed
		}
	}
	m.failed = phrase("this module has no policy " + name)
	return m.failed
}

func (m *Module) choose(p Policy, settings JSON) {
	m.chosen, m.failed = p, nil
	if settings == nil {
		settings = JSON("{}")
	}
	if c, ok := p.(Configurer); ok {
		m.failed = c.Configure(settings)
	} else if string(compact(settings)) != "{}" {
		m.failed = phrase("this policy takes no settings")
	}
}

// Decide answers one input. The answer is valid until the next call. It is
// never empty: what goes wrong is an answer with the action error.
func (m *Module) Decide(input []byte) []byte {
	d := m.decide(input)
	d.Reason, d.Message = clip(d.Reason, MaxReason-3), clip(d.Message, MaxReason-3)
	m.out = d.AppendJSON(m.out[:0])
	return m.out
}

func (m *Module) decide(input []byte) Decision {
	switch {
	case m.failed != nil:
		return Fail("settings: " + m.failed.Error())
	case m.chosen == nil:
		return Fail("this module holds several policies; roompolicy_configure must choose one")
	}
	if err := m.in.decode(input, m.texts); err != nil {
		return Fail("reading the input: " + err.Error())
	}
	if m.in.ABI != ABI {
		return Fail("the input is of another ABI")
	}
	return m.chosen.Decide(&m.in)
}

// A phrase is an error that is only a text.
type phrase string

func (p phrase) Error() string { return string(p) }
