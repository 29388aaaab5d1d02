// Package policytest runs test cases of policies. A case is a YAML file with the
// inputs of a policy and, byte for byte, its expected answers. Its steps are
// consecutive decisions: the state of one is part of the next input.
//
//	about: The addressed agent speaks next.
//	settings: {lookback: 4}
//	input:
//	  agents:
//	    - {id: sec, domains: [tls]}
//	    - {id: dba, domains: [postgres]}
//	steps:
//	  - about: sec hands over to dba
//	    input:
//	      events:
//	        - {from: sec, text: "dba: which locks?", addressed: [dba], mentions: [dba]}
//	    want: '{"action":"speak","agent":"dba","reason":"sec addressed dba"}'
//
// The keys of an input are those of the ABI. Missing keys have defaults: an agent
// is local, eligible and named like its id, an event is a message, numbers count
// up. The input of a step replaces the keys of the case's input. The input is
// encoded before a policy sees it, so the same cases test policies in every
// language, in this process and in the sandbox.
package policytest
