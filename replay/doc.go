// Package replay runs policies over recorded rooms and conversations, and
// reports how often, and how, each of them decides otherwise.
//
// A replay sends nothing, starts nothing and opens no network. Its work is done
// by four packages, in this order:
//
//   - history reads transcripts into decision points.
//   - drive asks the policies for decisions.
//   - score turns the decisions into figures.
//   - report renders the figures.
//
// A what-if gives each policy the true history before every decision. After its
// first different choice, the later decision points still show what really
// followed. A simulation lets the policy run the room instead. Agreement is not
// quality: the recorded choice is what happened, not what was best.
package replay
