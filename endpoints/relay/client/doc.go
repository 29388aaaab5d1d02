// Package client connects a device to its relay: it logs in, passes payloads in
// both directions, and reconnects after outages, restarts and refusals.
//
// It does not guarantee delivery. A payload may be lost, repeated or reordered
// whenever the connection changes, and statements of the relay are not
// trustworthy. Package session handles both.
//
//	c, err := client.New(client.Config{
//	    URL: "wss://relay.example.org", Device: [32]byte(device.ID()), Signer: device,
//	    Deliver: func(from frame.ID, payload []byte) { ... },
//	})
//	...
//	err = c.Run(ctx) // until ctx ends, or the relay refuses the device
//
// Run owns all goroutines. While connected, one reads and one writes.
package client
