// Package relay compares the relay of moot with derper, the relay of Tailscale: frames a
// second over TLS with one core for each, and the memory of a connection.
//
// Each relay is a process of its own with GOMAXPROCS=1, and on the first core where the
// command taskset is there. The clients of both are in the process of the benchmark and
// send the same payloads, encrypted by TLS. Connections come in pairs: one client sends,
// the other receives.
//
//   - one load: four pairs. A pair has at most 16 frames on their way, fewer than a queue
//     of either relay, so no frame is dropped.
//   - three loads: twelve such pairs.
//
// The relays take turns in one run, so a ratio holds on a busy machine too. The processor
// time of a relay is the better measure there; wall time shows the clients as well.
//
// derper is built from its module with the Go command. The comparison is skipped if that
// fails.
//
//	bench/relay/run.sh
package relay
