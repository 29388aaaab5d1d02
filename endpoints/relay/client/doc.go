// Package client is a device's connection to its relay: it logs in, passes
// payloads on both ways, and comes back after cuts, restarts and refusals.
//
// It promises nothing about delivery. A payload may be lost, repeated or come
// out of order whenever the connection changes, and the relay's word about
// anything is not to be trusted; sessions above see to both.
//
//	c, err := client.New(client.Config{
//		URL: "wss://relay.example.org", Device: [32]byte(device.ID()), Signer: device,
//		Deliver: func(from frame.ID, payload []byte) { ... },
//	})
//	...
//	err = c.Run(ctx) // until ctx ends, or the relay will not have the device
//
// Run owns all goroutines: one reads, one writes while there is a connection.
package client
