// Package replay runs policies over what has happened and says how often, and
// how, each would have chosen otherwise.
//
// What it does is called what-if: at every decision point the policy is given
// the true history so far and asked. After its first different choice the
// later points are still judged on what truly followed, not on what would
// have. A room recorded by moot is replayed at its recorded rounds with its
// recorded inputs; a talk from elsewhere at its merged turns (see [Talk]).
//
// Agreement is not quality: the truth is what happened, not what was best.
//
// Replay sends nothing, starts nothing and opens no network. Transcripts are
// worked on side by side, each policy on each alone, and the report does not
// depend on who was first.
package replay
