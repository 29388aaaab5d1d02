package problem

// relayCodes are about running a relay and connecting to one.
var relayCodes = []Meaning{
	{"RELAY-ACCESS", usage, "No device may log in: the relay is private by default and was given no tokens and no devices.", "Give --tokens FILE, --devices FILE or --allow ID. --open lets every device in."},
	{"RELAY-ADDRESS", usage, "An address, a network or a limit of the relay is not valid.", "An address is HOST:PORT, a network 10.0.0.0/8, a limit a whole number above 0."},
	{"RELAY-CERT", input, "The relay's certificate or key cannot be used.", "Both are PEM files. The file of the certificate includes its issuers."},
	{"RELAY-CONNECT", failure, "The relay cannot be reached.", "Check that `moot relay` runs there and that proxies forward WebSocket. moot tries again automatically."},
	{"RELAY-DEVICES", input, "The list of devices cannot be read.", "Write one device id per line. Lines that start with # are ignored."},
	{"RELAY-HOST", usage, "The relay must know the host in its URL, because logins are bound to it.", "Give --host relay.example.org, with the port if the URL has one."},
	{"RELAY-LISTEN", failure, "The relay cannot listen on its address.", "Choose another with --listen. Port 0 takes a free one."},
	{"RELAY-PLAIN", usage, "The connection would not be encrypted. Messages are, but the network would see which devices exchange them.", "Use TLS (wss://, with --cert and --key or a proxy in front), or allow it with --plain."},
	{"RELAY-REJECTED", denied, "The relay does not let this device in.", "auth: use the URL that the relay prints. token: ask the operator of the relay. version: use the relay's release of moot."},
	{"RELAY-TOKENS", input, "The file of tokens cannot be used.", "Write one token of 16 to 512 characters per line, in a file that only you can read: chmod 600."},
	{"RELAY-URL", input, "This is not the URL of a relay.", "Write it as wss://relay.example.org, with a port if it is not 443."},
}

// deviceCodes are about the keys of this device and its peers.
var deviceCodes = []Meaning{
	{"RELAY-FILE", failure, "A file with the device's keys, peers or invites is damaged or cannot be written.", "Restore it from a backup. Without it the devices must be paired again."},
	{"RELAY-FILE-MODE", denied, "Other users of the machine can read a file with secrets, or it is not a regular file.", "chmod 600 FILE. Make new keys if other people use the machine."},
	{"RELAY-PASSPHRASE", denied, "The key file is sealed with a passphrase, which is missing or wrong.", "Give the right passphrase. Without it the device needs new keys and must be paired again."},
	{"RELAY-PEER", input, "No paired device has this name or id.", "`moot peers ls` lists them. An invite pairs a new one."},
	{"RELAY-PEER-NAME", input, "This name is not allowed for a peer.", "Use up to 64 printable characters. No other peer may have the name, and it may not look like a device id."},
}

// shareCodes are about agents that owners share: pairing, requests, answers.
var shareCodes = []Meaning{
	{"RELAY-REVOKED", denied, "The device was revoked on this device, so it is not paired again.", "If it is safe again, run `moot device revoke --undo ID`."},
	{"RELAY-ROTATED", failure, "A paired device does not know the session key of the last rotation yet. Another rotation would cut it off.", "Connect to it twice first, as by two rooms, or add --force and pair it again."},
	{"INVITE-EXPIRED", denied, "The invite was not used or not accepted in time.", "Make another with `moot invite`, or ask for one."},
	{"INVITE-INVALID", input, "The text is not an invite, or is damaged.", "Copy all of it. It starts with mootinv1."},
	{"INVITE-NOBODY", usage, "A pairing needs a person on both sides who compares the digits, and there is no terminal.", "Run it in a terminal. `moot invite --auto` and `moot join --yes` ask no person."},
	{"INVITE-OLD", denied, "The other device has a release of moot without a commitment to the digits of a pairing. An attacker could forge them.", "Update moot on that device, then pair with a new invite."},
	{"INVITE-REFUSED", denied, "One of the owners refused to pair the devices.", "Ask the other owner, and compare the digits. If they differed, make another invite and send it on another way."},
	{"INVITE-UNREACHABLE", failure, "The device that made the invite does not answer.", "Check that `moot invite` waits there and that both devices reach the relay."},
	{"INVITE-USED", denied, "Another device has used the invite.", "Ask for another. If you do not know the device that used it, tell the other owner."},
	{"PEER-UNVERIFIED", denied, "The digits of a pairing were not confirmed.", "Compare them by voice. If they differ, run `moot peers rm` and pair again."},
	{"RELAY-BUSY", failure, "A profile has the maximum number of shared calls under way, here or on the other device.", "Wait for one to end, or raise maxConcurrentSharedCalls."},
	{"RELAY-DENIED", denied, "A profile's rules, here or on the other device, do not allow the call. By default nothing is allowed.", "Under profiles: of the settings file set allowSharedAgentCalls: true and add the device to allowedSharedDeviceIds, on both sides."},
	{"RELAY-EXITED", failure, "The process of the other owner's agent has ended more often than restart: N of its endpoint allows.", "Ask its owner, whose `moot share` has logged its last lines, to start the share again. Then restore the seat."},
	{"RELAY-FORGOT", failure, "The other owner's agent restarted since its last request, so it has lost what it was told.", "Nothing: it receives everything when it has the floor again."},
	{"RELAY-HOPS", denied, "A request has come through more devices than a profile allows.", "Use shorter chains of agents, or raise maxHopCount on all sides."},
	{"RELAY-INTERRUPTED", failure, "The other device restarted while its agent worked. The agent is not run a second time.", "Give it the floor again. A new turn is a new request."},
	{"RELAY-JOURNAL", failure, "The journal of requests and answers cannot be read.", "Restore it from a backup, or move it away. Repeated requests of the last day are then answered again."},
	{"RELAY-KEYS", denied, "The other device has other keys than before. Its seat is suspended until a person accepts them.", "Compare the digits with its owner, run `moot peers verify PEER`, then restore the seat."},
	{"RELAY-LOOP", denied, "Loop prevention: the request has been at a device before, or its trace is not valid.", "Take one of the agents out of the ring."},
	{"RELAY-MINUTES", failure, "A shared agent has worked as long for a device as its profile allows on one day.", "Wait until midnight UTC, or raise maxMinutes in the profile."},
	{"RELAY-NONE", usage, "This device knows no relay.", "Give --relay URL, or relay: {url: URL} in the settings file. Joining by an invite stores its relay."},
	{"RELAY-ONLINE", failure, "Another process of this data folder is online, and a relay accepts one connection per device.", "End that process, or use another data folder with --data. `moot run --share` runs a room and shares in one process."},
	{"RELAY-RATE", failure, "A profile has used its calls per minute with a device.", "Wait, or raise ratePerMinute on both sides."},
	{"RELAY-RESTARTS", failure, "The process of the other owner's agent ended during its turn. It starts again for its next turn and then receives everything.", "Nothing, if the floor is granted again. If it ends again, ask its owner for its last lines, which `moot share` logs."},
	{"RELAY-SIZE", failure, "A prompt does not fit into a message between devices, 256 KiB, and no part of it can be left out.", "Lower context.tokens."},
	{"RELAY-TIMEOUT", failure, "A remote agent did not answer in time.", "Give its seat a longer timeout, and check that `moot share` runs there."},
	{"RELAY-UNREACHABLE", failure, "The other owner's device does not answer.", "Check that `moot share` runs there and that both devices use the same relay."},
	{"ROOM-PEER", input, "A seat is on a device that is not paired with this one.", "`moot peers ls` lists the paired devices. `moot invite` pairs another."},
	{"WATCH-DENIED", denied, "The other owner's device runs no room that this device may watch, or not the requested one.", "Its owner makes an invite with `moot invite --grant observer` and lists this device under observers: of the room, or names the room in the invite."},
	{"WATCH-MUTED", denied, "The host of the room lets this device watch but not speak.", "Ask the host to unmute your seat."},
	{"WATCH-OVER", failure, "A message was not posted, because the room has ended.", "Ask its owner for another room."},
	{"WATCH-ROOM", input, "The other owner's device has several rooms that this device may watch.", "Name one: --room ID."},
	{"WATCH-SIZE", input, "A message to a watched room is longer than 12,000 characters.", "Split it into several."},
	{"SHARE-PROFILE", input, "No profile can be shared: none has an endpoint, or none has this name.", "Write it under profiles: of the settings file."},
}
