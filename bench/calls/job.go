package calls

// limit is how much more calls may send than one agent, as a part of what it is sent.
const limit = 0.20

// A job is a request to the lead of a room, after a discussion of people and agents.
type job struct {
	name        string
	objective   string
	constraints []string
	people      []string // ids
	agents      []agent  // that the lead can call
	talk        []message
	rounds      [][]step // the steps of a round are called at once
	conclusion  string
}

type agent struct{ id, role string }

// A message is one of the discussion. The last one is the request to the lead.
type message struct{ from, text string }

// A step is a part of a job. Alone, the lead says the result in a turn of its own.
type step struct {
	agent   string
	task    string
	context string // the filter, JSON; "" hands nothing over
	seconds int    // that it takes
	result  string
}

// jobs are those that are measured.
func jobs() []job { return []job{review, migration, research} }
