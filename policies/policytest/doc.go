// Package policytest runs policies over cases: YAML files that say what a
// policy is asked and, byte for byte, what it must answer. A case is a short
// room: its steps are decisions in a row, and the state of one is handed to
// the next.
//
//	about: Whoever is addressed speaks next.
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
// The keys of an input are those of the ABI. What a case leaves out has a
// plain value: an agent is local, eligible and called by its id, an event is a
// message, numbers count up. A step's input replaces the keys of the case's
// input that it holds. Because a case becomes ABI bytes before a policy sees
// it, the same cases hold policies in every language, natively and in the
// sandbox.
package policytest
