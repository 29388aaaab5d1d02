package policy

// A Finder returns the policy with a name, or nil.
type Finder func(name string) Policy

// A Fallback is the policy that another policy asks when it has no candidate of
// its own. Two settings of the other policy choose it: "fallback", a name, and
// "fallbackSettings". The name "decline" means no fallback.
type Fallback struct {
	Find     Finder
	Default  string // name of the policy without a setting; "" means "decline"
	name     string
	settings JSON
	next     Policy
}

// Reset chooses the default.
func (f *Fallback) Reset() { f.name, f.settings, f.next = f.Default, nil, nil }

// Setting reads the setting k. It fails r if k is no setting of a fallback.
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

// Apply finds and configures the chosen policy. Call it after all settings are
// read. It fails r if no policy has the name or the policy rejects its
// settings.
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

// Decide asks the fallback, whose own state is state. Without a fallback it
// declines with reason. The State of the result belongs to the fallback.
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
