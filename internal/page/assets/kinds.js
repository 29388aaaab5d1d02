// The kinds of messages, and what has become of a message, in words.

const kinds = new Set([
  "intent_brief", "clarification_request", "clarification_reply", "plan_update", "tool_intent", "tool_result", "build_update", "blocker", "decision",
  "status_check", "status_reply", "result_bundle", "final_response", "cancel", "ack", "call", "call_result", "utterance", "request",
]);

// kindOfMessage returns the kind of a message as a word that the page knows.
export const kindOfMessage = (m) => (kinds.has(m?.kind) ? m.kind : "message");

// kindName returns the kind of a message for people.
export const kindName = (m) => kindOfMessage(m).replaceAll("_", " ");

// isTyped reports whether a message is more than ordinary talk.
export const isTyped = (m) => kinds.has(m?.kind) && m.kind !== "utterance" && m.kind !== "request";

// The states of a delivery: a sign, a word and what it means. A message that was posted
// is in the room; only one that was delivered stood in a prompt.
const states = {
  posted: ["○", "posted", "It is in the room. Nothing says that it was read"],
  queued: ["◷", "queued", "It waits for the next prompt of its receiver"],
  held: ["‖", "held", "It is not handed over yet"],
  delivered: ["✓", "delivered", "It stood in a prompt that its receiver has answered"],
  acked: ["✓✓", "acknowledged", "Its receiver has acknowledged it"],
  refused: ["✗", "refused", "The room has not accepted it"],
  expired: ["⌛", "expired", "It was never acknowledged"],
};

// deliveryState returns the sign, the word and the meaning of a state.
export const deliveryState = (state) => states[stateName(state)];

// stateName returns a state as one that the page knows.
export const stateName = (state) => (Object.hasOwn(states, state) ? state : "posted");
