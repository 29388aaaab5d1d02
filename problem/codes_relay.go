package problem

// relayCodes are about running a relay and connecting to one.
var relayCodes = []Meaning{
	{"RELAY-ACCESS", usage, "Nobody may log in: the relay is private by default, and was told of no token and no device.", "Give --tokens FILE, --devices FILE or --allow ID; --open lets every device in."},
	{"RELAY-ADDRESS", usage, "An address, a network or a limit of the relay is not written as one.", "An address is HOST:PORT, a network 10.0.0.0/8, a limit a whole number above 0."},
	{"RELAY-CERT", input, "The relay's certificate or its key cannot be used.", "Both are PEM files; the certificate's comes with those of its issuers."},
	{"RELAY-CONNECT", failure, "The relay cannot be reached.", "See that `moot relay` runs there, and that a proxy passes WebSocket on; it is tried again by itself."},
	{"RELAY-DEVICES", input, "The list of devices cannot be read.", "One device id a line; lines that start with # are passed over."},
	{"RELAY-HOST", usage, "The relay has to know the name in its URL, because logins are bound to it.", "Give --host relay.example.org, with the port when the URL has one."},
	{"RELAY-LISTEN", failure, "The relay cannot listen on its address.", "Choose another with --listen; port 0 takes any that is free."},
	{"RELAY-PLAIN", usage, "The connection would not be encrypted on its way: messages are, who writes to whom is not.", "Use TLS (wss://; --cert and --key, or a proxy in front), or allow it with --plain."},
	{"RELAY-REJECTED", denied, "The relay does not let this device in.", "auth: use the URL that the relay prints. token: ask who runs it. version: use its release of moot."},
	{"RELAY-TOKENS", input, "The file of tokens cannot be used.", "One token of 16 to 512 characters a line, in a file that only you can read: chmod 600."},
	{"RELAY-URL", input, "That is no URL of a relay.", "Write it as wss://relay.example.org, with a port when it is not 443."},
}
