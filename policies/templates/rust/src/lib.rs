//! polite: a hand-off is followed, or the addressed agent speaks next, otherwise
//! the agent that has been silent for longest.

mod reader;
mod roompolicy;

use roompolicy::{Agent, Decision, Event, Input};

/// Chooses the next speaker. The SDK calls it; it must be a pure function of
/// `input`.
fn decide(input: &Input) -> Decision {
    let said = input.last_said();
    if let Some(h) = input.handoff.as_ref().filter(|_| said.map_or(true, |e| e.kind != "human")) {
        if let Some(a) = input.agent(h.to).filter(|a| a.eligible) {
            return Decision::speak(a.id, &[h.from, " hands off to ", a.id, ": ", h.reason]);
        }
    }
    if let Some(e) = said {
        if let Some(a) = addressed(input, e) {
            return Decision::speak(a.id, &[e.from, " addressed ", a.id]);
        }
    }
    match least_recent(input, said.map_or("", |e| e.from)) {
        Some(a) => Decision::speak(a.id, &[a.id, " has been silent for longest"]),
        None => Decision::decline(&["nobody else can speak now"]),
    }
}

fn addressed<'a>(input: &'a Input<'a>, e: &Event<'a>) -> Option<&'a Agent<'a>> {
    let mut known = e.addressed.iter().filter_map(|id| input.agent(id));
    known.find(|a| a.eligible && a.id != e.from)
}

fn least_recent<'a>(input: &'a Input<'a>, except: &str) -> Option<&'a Agent<'a>> {
    let able = input.agents.iter().filter(|a| a.eligible && a.id != except);
    able.min_by_key(|a| a.last_turn) // the first of equals
}
