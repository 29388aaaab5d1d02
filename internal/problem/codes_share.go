package problem

// shareCodes are about agents that owners share: pairing, asking, answering.
var shareCodes = []Meaning{
	{"INVITE-EXPIRED", denied, "The invite was not used, or not accepted, in time.", "Make another with `moot invite`, or ask for one."},
	{"INVITE-INVALID", input, "The text is no invite, or is damaged.", "Copy the whole of it; it starts with mootinv1."},
	{"INVITE-NOBODY", usage, "An invite needs somebody who accepts the other device, and nobody is there.", "Run it in a terminal, or add --auto."},
	{"INVITE-REFUSED", denied, "The other owner has refused to pair the devices.", "Ask them, and compare the digits."},
	{"INVITE-UNREACHABLE", failure, "The device that made the invite does not answer.", "See that `moot invite` waits there and that both reach the relay."},
	{"INVITE-USED", denied, "The invite has been used by another device.", "Ask for another; if it was nobody you know, tell the other owner."},
	{"PEER-UNVERIFIED", denied, "The digits of a pairing were not confirmed.", "Compare them by voice; if they differ, `moot peers rm` and pair again."},
	{"RELAY-BUSY", failure, "A profile has as many shared calls under way as it may, here or on the other device.", "Wait for one to end, or raise max_concurrent_shared_calls."},
	{"RELAY-DENIED", denied, "A profile's rules, here or on the other device, do not allow the call. Nothing is allowed unless they say so.", "Under profiles: of the settings file set allow_shared_agent_calls: true and add the device to allowed_shared_device_ids, on both sides."},
	{"RELAY-HOPS", denied, "A request has come through more devices than a profile allows.", "Let agents of fewer owners ask one another, or raise max_hop_count on all sides."},
	{"RELAY-INTERRUPTED", failure, "The other device was started again while its agent worked; the agent is not run a second time.", "Give it the floor again: a new turn is a new request."},
	{"RELAY-JOURNAL", failure, "The record of what was asked and answered cannot be read.", "Restore it from a backup, or move it away: requests of the last day that are repeated are then answered anew."},
	{"RELAY-KEYS", denied, "The other device has other keys than before. Its seat is suspended until a person accepts them.", "Compare the digits with its owner, `moot peers verify PEER`, then restore the seat."},
	{"RELAY-LOOP", denied, "Loop prevention: the request has been at a device before, or its trace is not true.", "Take one of the agents out of the ring."},
	{"RELAY-NONE", usage, "This device knows no relay.", "--relay URL, or relay: {url: URL} in the settings file; joining by an invite brings its relay."},
	{"RELAY-ONLINE", failure, "Another process of this data folder is online, and a relay lets a device in once.", "End that process, or use another data folder: --data. `moot run --share` runs a room and shares in one process."},
	{"RELAY-RATE", failure, "A profile has had its calls a minute with a device.", "Wait, or raise rate_per_minute on both sides."},
	{"RELAY-SIZE", failure, "A prompt does not fit into a message between devices, 256 KiB, and nothing of it can be left out.", "Lower context.tokens."},
	{"RELAY-TIMEOUT", failure, "A remote agent gave no answer in time.", "Give its seat a longer timeout; see that `moot share` runs there."},
	{"RELAY-UNREACHABLE", failure, "The other owner's device does not answer.", "See that `moot share` runs there and that both use the same relay."},
	{"ROOM-PEER", input, "A seat is on a device that is not paired with this one.", "`moot peers ls` lists those that are; `moot invite` pairs another."},
	{"SHARE-PROFILE", input, "No profile can be shared: there is none with an endpoint, or none of that name.", "Write it under profiles: of the settings file."},
}
