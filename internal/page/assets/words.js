// What the states of a room and of its seats are called on every page.

const phases = {
  live: ["Live", "good"], paused: ["Paused", "warn"], completed: ["Completed", "calm"], stopped: ["Stopped", "calm"],
  error: ["Error", "bad"], interrupted: ["Interrupted", "warn"], damaged: ["Damaged", "bad"], unopened: ["Opening", "calm"],
};

// phaseWord returns the word for the phase of a room.
export const phaseWord = (phase) => phases[phase]?.[0] ?? phase;

// phaseTone returns good, warn, bad or calm. A room that a person has stopped is calm: it
// is no error.
export const phaseTone = (phase) => phases[phase]?.[1] ?? "calm";

// The states of a one-to-one room, as its view names them.
const states = {
  idle: "idle", planning: "planning", waiting_local: "waiting for the local agent", ready_to_send: "ready to send: your answer is needed",
  waiting_remote: "waiting for the remote agent", processing_remote: "processing the remote answer",
};

// stateWord returns what a state of a one-to-one room means, "" for those that its phase
// says too.
export const stateWord = (state) => states[state] ?? "";

const modes = {
  manual: ["asks first", "You approve each of its messages before it is sent"],
  semi_auto: ["asks at times", "You approve its messages that a rule of the room selects"],
  full_auto: ["auto-sends", "Its messages are sent without approval"],
};

// modeWord returns the word for an approval mode, and modeMeans what it means.
export const modeWord = (mode) => modes[mode]?.[0] ?? "";
export const modeMeans = (mode) => modes[mode]?.[1] ?? "";

// kindOf returns what a seat is: a local or shared agent, a session, you or a person.
export function kindOf(seat, you) {
  if (seat.badge === "human") return seat.id === you ? "you" : "person";
  if (seat.badge === "shared") return "shared";
  return seat.presence ? "session" : "local";
}

// kindWord returns the badge of a seat. In a one-to-one room the two agents are called as
// its note calls them.
export function kindWord(seat, you, oneToOne) {
  const kind = kindOf(seat, you);
  if (kind === "you") return "You";
  if (kind === "shared") return (oneToOne ? "Remote Agent" : "shared") + (seat.owner ? ` · ${seat.owner}` : "");
  return oneToOne && kind === "local" ? "Local Agent" : kind;
}

// initials returns two letters for the name of a room.
export function initials(name) {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.length > 1 ? [...words[0]][0] + [...words[1]][0] : [...(words[0] ?? "?")].slice(0, 2).join("");
  return letters.toUpperCase();
}
