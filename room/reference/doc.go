// Package reference is a reference model of rooms for tests. It states the rules of a room
// once more: the life of a turn, the start of agents, bids, drafts, limits, budgets, pause,
// hand-offs, calls and endings. It is naive and shares no code with package room.
//
// A command changes the model step by step, and each step notes its event. Tests give the
// same commands to a model and to a room, and compare the answers, the events and the
// states; see [Model.Compare]. The model does not know deliveries, redactions, plans
// and the rooms of calls.
package reference
