// Package policy is the contract between a room and the policy that decides
// who speaks next. It is also the SDK for writing a policy in Go.
//
// # Model
//
// A policy is a function from an [Input] to a [Decision]. The input holds the
// agents of the room, the events since the previous decision, and the state
// that the policy returned then. The decision grants the next turn to an
// agent, declines the round, or finishes the room. It also holds the next
// state, an opaque JSON value. A policy has no other memory: each decision is
// made by a fresh instance, and the same input bytes always give the same
// output bytes.
//
// # Order
//
// A module of policies is loaded, configured at most once, and then asked for
// decisions:
//
//	host                        guest
//	load                     -> Serve registers the policies of the module
//	roompolicy_configure     -> Module.Configure chooses one of them and gives it its settings
//	(the host saves the memory of the instance)
//	roompolicy_decide        -> Module.Decide, from the saved memory, for each decision
//
// [Input] and [Decision] have their own JSON codec, because the package builds
// for WebAssembly, where encoding/json and reflect would make a policy large.
//
// # Failure
//
// A decision with the action error pauses the room and shows the message; so
// does an answer that [DecodeDecision] rejects, a trap, or a call that exceeds
// its limits. Errors of the decoders are of type *[DecodeError] and give the
// place of the fault. The zero Decision declines with the reason "no decision".
//
// # Example
//
//	package main
//
//	import "github.com/folkmoot/moot/policies/policy"
//
//	var _ = policy.Serve(policy.Named{Name: "polite", Policy: policy.Func(decide)})
//
//	func decide(in *policy.Input) policy.Decision {
//		if said := in.LastSaid(); said != nil {
//			for _, id := range said.Addressed {
//				if a := in.Agent(id); a != nil && a.Eligible {
//					return policy.Speak(a.ID, "addressed by "+said.From)
//				}
//			}
//		}
//		if a := in.LeastRecent(""); a != nil {
//			return policy.Speak(a.ID, "silent for longest")
//		}
//		return policy.Decline("no agent can speak now")
//	}
//
//	func main() {}
//
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o policy.wasm .
package policy
