//! The kit for policies in Rust: what a host calls, a reader for the input and
//! a writer for the answer, without a crate.
//!
//! Texts are kept as they stand in the JSON, escapes included: two are equal
//! when their bytes are, and one that is copied into an answer needs no
//! escape. `unescape` gives the text itself.
//!
//! Every decision is made by a fresh instance, so nothing is freed.

#![allow(dead_code)] // a policy uses what it needs

/// What a room asks. Fields that the kit does not read are passed over.
#[derive(Default)]
pub struct Input<'a> {
    pub init: bool,
    pub decision: i64,
    pub turn: i64,
    pub now_ms: i64,
    pub objective: &'a str,
    pub agents: Vec<Agent<'a>>,
    pub events: Vec<Event<'a>>,
    pub state: &'a str, // any JSON
}

#[derive(Default)]
pub struct Agent<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub kind: &'a str,
    pub role: &'a str,
    pub domains: Vec<&'a str>,
    pub eligible: bool,
    pub ineligible_reason: &'a str,
    pub turns: i64,
    pub last_turn: i64,
    pub failures: i64,
    pub unread: i64,
}

#[derive(Default)]
pub struct Event<'a> {
    pub seq: i64,
    pub turn: i64,
    pub from: &'a str,
    pub to: Vec<&'a str>,
    pub kind: &'a str,
    pub text: &'a str,
    pub mentions: Vec<&'a str>,
    pub addressed: Vec<&'a str>,
}

impl<'a> Input<'a> {
    pub fn agent(&self, id: &str) -> Option<&Agent<'a>> {
        self.agents.iter().find(|a| a.id == id)
    }

    /// The newest event in which somebody spoke.
    pub fn last_said(&self) -> Option<&Event<'a>> {
        self.events.iter().rev().find(|e| e.kind == "message" || e.kind == "human")
    }
}

/// An answer. `state` is any JSON; None leaves it as it is.
pub struct Decision {
    json: String,
}

impl Decision {
    /// Gives the floor to `agent`; the reason is its parts joined.
    pub fn speak(agent: &str, reason: &[&str]) -> Decision {
        Decision::new(&["{\"action\":\"speak\",\"agent\":\"", agent, "\",\"reason\":\""], reason)
    }

    pub fn decline(reason: &[&str]) -> Decision {
        Decision::new(&["{\"action\":\"decline\",\"reason\":\""], reason)
    }

    fn new(head: &[&str], reason: &[&str]) -> Decision {
        let mut json = String::with_capacity(256);
        for part in head.iter().chain(reason) {
            json.push_str(part);
        }
        json.push('"');
        Decision { json }
    }

    /// Hands `state`, any JSON, to the next decision.
    pub fn with_state(mut self, state: &str) -> Decision {
        self.json.push_str(",\"state\":");
        self.json.push_str(state);
        self
    }
}

/// The text that a JSON string stands for.
pub fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                // A host escapes control characters only, so no pairs come.
                let hex: String = rest.by_ref().take(4).collect();
                let code = u32::from_str_radix(&hex, 16).unwrap_or(0xfffd);
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            Some(c) => out.push(c),
            None => {}
        }
    }
    out
}

/// Reads one JSON text. The first mistake sticks and ends every loop.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    bad: bool,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> u8 {
        let b = self.text.as_bytes();
        while self.at < b.len() && b[self.at] <= b' ' {
            self.at += 1;
        }
        if self.at >= b.len() {
            self.bad = true;
        }
        if self.bad { 0 } else { b[self.at] }
    }

    fn eat(&mut self, c: u8) -> bool {
        let found = self.peek() == c;
        if found {
            self.at += 1;
        }
        found
    }

    fn need(&mut self, c: u8) {
        if !self.eat(c) {
            self.bad = true;
        }
    }

    fn string(&mut self) -> &'a str {
        self.need(b'"');
        let b = self.text.as_bytes();
        let from = self.at;
        while self.at < b.len() && b[self.at] != b'"' {
            self.at += if b[self.at] == b'\\' { 2 } else { 1 };
        }
        if self.bad || self.at >= b.len() {
            self.bad = true;
            return "";
        }
        self.at += 1;
        &self.text[from..self.at - 1]
    }

    fn int(&mut self) -> i64 {
        self.value().parse().unwrap_or_else(|_| {
            self.bad = true;
            0
        })
    }

    fn bool(&mut self) -> bool {
        self.value() == "true"
    }

    /// Passes any value and returns its text.
    fn value(&mut self) -> &'a str {
        let mut depth = 0usize;
        self.peek();
        let from = self.at;
        loop {
            match self.peek() {
                b'"' => drop(self.string()),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b',' | b':' => self.at += 1,
                _ => {
                    let b = self.text.as_bytes();
                    while self.at < b.len() && !matches!(b[self.at], b',' | b'}' | b']' | 0..=b' ') {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 || self.bad {
                break;
            }
        }
        if self.bad { "" } else { &self.text[from..self.at] }
    }

    fn array(&mut self, mut element: impl FnMut(&mut Self)) {
        self.walk(b'[', b']', |r| element(r));
    }

    fn object(&mut self, mut member: impl FnMut(&mut Self, &'a str)) {
        self.walk(b'{', b'}', |r| {
            let key = r.string();
            r.need(b':');
            member(r, key);
        });
    }

    fn walk(&mut self, open: u8, close: u8, mut one: impl FnMut(&mut Self)) {
        self.need(open);
        if self.bad || self.eat(close) {
            return;
        }
        while !self.bad {
            one(self);
            if self.eat(close) {
                return;
            }
            self.need(b',');
        }
    }

    fn strings(&mut self) -> Vec<&'a str> {
        let mut all = Vec::new();
        self.array(|r| all.push(r.string()));
        all
    }

    fn agent(&mut self) -> Agent<'a> {
        let mut a = Agent::default();
        self.object(|r, key| match key {
            "id" => a.id = r.string(),
            "name" => a.name = r.string(),
            "kind" => a.kind = r.string(),
            "role" => a.role = r.string(),
            "domains" => a.domains = r.strings(),
            "eligible" => a.eligible = r.bool(),
            "ineligible_reason" => a.ineligible_reason = r.string(),
            "turns" => a.turns = r.int(),
            "last_turn" => a.last_turn = r.int(),
            "failures" => a.failures = r.int(),
            "unread" => a.unread = r.int(),
            _ => drop(r.value()),
        });
        a
    }

    fn event(&mut self) -> Event<'a> {
        let mut e = Event::default();
        self.object(|r, key| match key {
            "seq" => e.seq = r.int(),
            "turn" => e.turn = r.int(),
            "from" => e.from = r.string(),
            "to" => e.to = r.strings(),
            "kind" => e.kind = r.string(),
            "text" => e.text = r.string(),
            "mentions" => e.mentions = r.strings(),
            "addressed" => e.addressed = r.strings(),
            _ => drop(r.value()),
        });
        e
    }

    fn input(&mut self) -> Input<'a> {
        let mut i = Input::default();
        self.object(|r, key| match key {
            "init" => i.init = r.bool(),
            "decision" => i.decision = r.int(),
            "turn" => i.turn = r.int(),
            "now_ms" => i.now_ms = r.int(),
            "objective" => i.objective = r.string(),
            "agents" => r.array(|r| i.agents.push(r.agent())),
            "events" => r.array(|r| i.events.push(r.event())),
            "state" => i.state = r.value(),
            _ => drop(r.value()),
        });
        i
    }
}

#[no_mangle]
pub extern "C" fn roompolicy_abi_1() {}

#[no_mangle]
pub extern "C" fn roompolicy_alloc(size: u32) -> *mut u8 {
    let mut place = Vec::<u8>::with_capacity(size as usize);
    let at = place.as_mut_ptr();
    std::mem::forget(place);
    at
}

/// # Safety
/// The host calls it with what it wrote where `roompolicy_alloc` said.
#[no_mangle]
pub unsafe extern "C" fn roompolicy_decide(at: *const u8, len: u32) -> u64 {
    let text = match std::str::from_utf8(std::slice::from_raw_parts(at, len as usize)) {
        Ok(text) => text,
        Err(_) => return 0,
    };
    let mut reader = Reader { text, at: 0, bad: false };
    let input = reader.input();
    if reader.bad {
        return 0;
    }
    let mut json = super::decide(&input).json;
    json.push('}');
    let answer = (json.as_ptr() as u64) << 32 | json.len() as u64;
    std::mem::forget(json);
    answer
}
