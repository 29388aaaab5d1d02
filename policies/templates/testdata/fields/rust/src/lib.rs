//! Declines with all hand-offs, tasks and silences of the input.

mod reader;
mod roompolicy;

use roompolicy::{Decision, Input};

fn decide(input: &Input) -> Decision {
    let mut parts = Vec::new();
    if let Some(h) = &input.handoff {
        parts.extend([h.from, ">", h.to, ":", h.reason]);
    }
    for a in &input.agents {
        parts.extend([";", a.id]);
        for t in &a.tasks {
            parts.extend([" ", t.id, "/", t.title, "/", t.state]);
            for id in &t.after {
                parts.extend(["+", *id]);
            }
        }
    }
    parts.extend(["|", input.replaced]);
    for e in &input.events {
        for id in &e.silent {
            parts.extend(["-", *id]);
        }
        parts.push(e.kind);
    }
    Decision::decline(&parts)
}
