// Command polite is a policy for Folkmoot rooms: a hand-off is followed, or the
// addressed agent speaks next, otherwise the agent that has been silent for longest.
package main

import "github.com/folkmoot/moot/policies/policy"

var _ = policy.Serve(policy.Named{Name: "polite", Policy: policy.Func(decide)})

// main is never called: a host calls what Serve exports.
func main() {}
