package config

// DefaultRelayListen is where a relay listens unless it is told otherwise:
// where only this machine reaches it.
const DefaultRelayListen = "127.0.0.1:7447"

// Relay is what `moot relay` starts from; its flags win. Files are absolute
// paths, and "" stands for none.
type Relay struct {
	Listen  string // address
	Host    string // name in its URL; "" on loopback: the address
	Tokens  string // file
	Devices string // file
	Cert    string // file
	Key     string // file
	Metrics string // address; "" serves none
}

// relaySettings picks the relay's from all settings.
func relaySettings(list []Setting) (r Relay) {
	by := map[string]*string{
		"relay.listen": &r.Listen, "relay.host": &r.Host, "relay.tokens": &r.Tokens, "relay.devices": &r.Devices,
		"relay.cert": &r.Cert, "relay.key": &r.Key, "relay.metrics": &r.Metrics,
	}
	for _, s := range list {
		if p := by[s.Key]; p != nil {
			*p = s.Value
		}
	}
	return r
}
