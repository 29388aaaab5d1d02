// Package calls compares what a room sends when one agent does a job alone with what it
// sends when the same agent gives the steps of the job to agents that it calls.
//
// There are three fixed jobs: a review by three specialists, a migration in three steps
// of which two belong to a database specialist, and a question in three parts. Each is
// run twice as a real room, with the same participants, the same messages before the
// request, and the same texts as the work:
//
//   - alone: the lead does a step in each of its turns, and ends with a turn for the
//     conclusion.
//   - calls: the lead calls an agent for each step, with a task and a context filter,
//     and concludes.
//
// Counted are the bytes that the endpoints are given, of all prompts and of all answers to
// calls, in the room and in its child rooms together. Divided by four they are an estimate
// of tokens. Files that agents read by themselves are not sent by a room and not counted;
// nor are the descriptions of tools, which an agent gets once a session.
//
// Texts are fixed and time is virtual, so these figures are the same in every run. The test
// prints the table and fails above the limit. It also prints, without a limit, what two
// other ways cost: the lead is told results by messages, or does all in its first turn.
//
//	cd bench && go test ./calls -v
package calls
