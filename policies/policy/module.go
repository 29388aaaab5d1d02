package policy

// A Named is a policy with the name that rooms use for it.
type Named struct {
	Name   string
	Policy Policy
}

// A Module is a set of policies that answers the calls of a host. It is
// configured at most once and then decodes inputs, asks the policy and encodes
// its decisions. Configure chooses one policy; a module with one policy needs
// no choice. It is not safe for concurrent use.
type Module struct {
	all    []Named
	chosen Policy
	failed error // why the policy rejected its settings
	in     Input
	texts  []byte // memory for strings with escapes
	out    []byte
}

// NewModule returns a Module of all. It allocates the memory that a decision
// needs in advance, because a host saves the memory of a configured module and
// starts each decision from that snapshot.
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

// Configure chooses a policy and gives it its settings. Text has the form
// {"policy":name,"settings":{...}} and must not change afterwards.
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

// Decide returns the encoded decision for an encoded input. The result is valid
// until the next call. It is never empty: a fault gives a decision with the
// action error.
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

// A phrase is an error without data. It avoids package errors in small modules.
type phrase string

func (p phrase) Error() string { return string(p) }
