// polite: a hand-off is followed, or the addressed agent speaks next, otherwise
// the agent that has been silent for longest.

import { Agent, Event, Input, alloc, answer, decline, speak } from "./roompolicy";

// decide chooses the next speaker. It is a pure function of input.
function decide(input: Input): string {
  const e = input.lastSaid();
  const h = input.handoff;
  if (h !== null && (e === null || e.kind != "human")) {
    const a = input.agent(h.to);
    if (a !== null && a.eligible) return speak(a.id, h.from + " hands off to " + a.id + ": " + h.reason);
  }
  if (e !== null) {
    const a = addressed(input, e);
    if (a !== null) return speak(a.id, e.from + " addressed " + a.id);
  }
  const a = leastRecent(input, e === null ? "" : e.from);
  if (a !== null) return speak(a.id, a.id + " has been silent for longest");
  return decline("nobody else can speak now");
}

function addressed(input: Input, e: Event): Agent | null {
  for (let i = 0; i < e.addressed.length; i++) {
    const a = input.agent(e.addressed[i]);
    if (a !== null && a.eligible && a.id != e.from) return a;
  }
  return null;
}

function leastRecent(input: Input, except: string): Agent | null {
  let best: Agent | null = null;
  for (let i = 0; i < input.agents.length; i++) {
    const a = input.agents[i];
    if (a.eligible && a.id != except && (best === null || a.lastTurn < best.lastTurn)) best = a;
  }
  return best;
}

// The exports for the host.
export function roompolicy_abi_1(): void {}

export function roompolicy_alloc(size: u32): usize {
  return alloc(size);
}

export function roompolicy_decide(at: usize, len: u32): u64 {
  return answer(at, len, decide);
}
