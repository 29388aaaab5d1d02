// Package identity implements the identity of a device: its keys and key file,
// its DeviceID, the signed records that allow its session key to change, the
// invites that it has issued and the peers that it is paired with.
//
// A device has two key pairs. The Ed25519 key is its permanent name; it signs
// logins at relays and key records. The X25519 key is for sessions and can be
// replaced; a KeyRecord states which one is valid. All profiles of a device
// share both.
//
// Private keys, invites and the secrets of pairs are stored in files of mode
// 0600, which are replaced atomically. A file that others can read is refused
// with advice and not corrected: its content may already be known.
//
//	device, err := identity.LoadOrGenerate(filepath.Join(data, "device.json"), nil, time.Now())
//	peers, err := identity.OpenPeers(filepath.Join(data, "peers.json"))
//	invites, err := identity.OpenInvites(filepath.Join(data, "invites.json"))
//	fmt.Println(device.ID().Display())
//
//	in, err := identity.NewInvite(device, identity.Invite{Relay: "wss://relay.example"}, time.Now())
//	err = invites.Add(in, time.Now())
//	fmt.Println(in) // a secret: give it to one person
//
// Everything here is safe for concurrent use, except Device.Rotate.
package identity
