// Package identity holds who a device is to others: its keys and the file
// that they are in, its name (a DeviceID), the records by which its session
// key can change, the invites that it gives and the peers that it has.
//
// A device has two key pairs. The Ed25519 key is its name for ever: it signs
// logins at relays and key records. The X25519 key is for sessions and may
// be replaced; a KeyRecord says which one is good. Every profile of a device
// shares them.
//
// Private keys, invites and the secrets shared with peers are in files of mode
// 0600, which are replaced in one step. A file that others can read is refused
// with what to do about it, not mended: what was readable may have been read.
//
//	device, err := identity.LoadOrGenerate(filepath.Join(data, "device.json"), nil, time.Now())
//	peers, err := identity.OpenPeers(filepath.Join(data, "peers.json"))
//	invites, err := identity.OpenInvites(filepath.Join(data, "invites.json"))
//	fmt.Println(device.ID().Spoken())
//
//	in, err := identity.NewInvite(device, identity.Invite{Relay: "wss://relay.example"}, time.Now())
//	err = invites.Add(in, time.Now())
//	fmt.Println(in) // a secret: give it to one person
//
// Everything here is safe for concurrent use but Device.Rotate.
package identity
