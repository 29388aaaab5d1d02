package policy

// A Finder returns the policy of a name, or nil when there is none.
type Finder func(name string) Policy

// A Fallback is the policy that another follows when it has nothing to say
// itself. It is chosen by two settings of that other policy: "fallback", a
// name, and "fallbackSettings". The name "decline" stands for none.
type Fallback struct {
	Find     Finder
	Default  string // "" is "decline"
	name     string
	settings JSON
	next     Policy
}

// Reset goes back to the default.
func (f *Fallback) Reset() { f.name, f.settings, f.next = f.Default, nil, nil }

// Setting reads the setting k and fails when it is not one of a fallback.
func (f *Fallback) Setting(k string, r *Reader) {
	switch k {
	case "fallback":
		f.name = r.String()
	case "fallbackSettings":
		f.settings = r.Raw()
	default:
		r.Unknown(k)
	}
}

// Apply makes the chosen policy, once all settings are read, and fails r when
// there is none of that name or it refuses its settings.
func (f *Fallback) Apply(r *Reader) {
	f.next = nil
	if r.err != nil || f.name == "" || f.name == "decline" {
		return
	}
	if f.Find != nil {
		f.next = f.Find(f.name)
	}
	if f.next == nil {
		r.Fail("no policy " + f.name + " to fall back on")
		return
	}
	settings := f.settings
	if settings == nil {
		settings = JSON("{}")
	}
	if c, ok := f.next.(Configurer); ok {
		if err := c.Configure(settings); err != nil {
			r.Fail("fallbackSettings: " + err.Error())
		}
	}
}

// Decide asks the fallback, which has state for its own, and declines with
// reason when there is none. The Decision's State is the fallback's.
func (f *Fallback) Decide(in *Input, state JSON, reason string) Decision {
	if f.next == nil {
		return Decline(reason)
	}
	own := in.State
	in.State = state
	d := f.next.Decide(in)
	in.State = own
	return d
}
