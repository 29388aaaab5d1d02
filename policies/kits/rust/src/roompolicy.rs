//! The kit for policies in Rust: what a host calls, a reader for the input and
//! a writer for the answer, without a crate.
//!
//! Texts are kept as they stand in the JSON, escapes included: two are equal
//! when their bytes are, and one that is copied into an answer needs no
//! escape. `unescape` gives the text itself.
//!
//! Every decision is made by a fresh instance, so nothing is freed.

#![allow(dead_code)] // a policy uses what it needs

use std::alloc::{GlobalAlloc, Layout};

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

/// Reads one JSON text, which is UTF-8 and has BEHIND zeros behind it: so nobody
/// has to ask at every byte whether it is the last one. What is wrong leads to
/// these zeros, which are wrong everywhere.
struct Reader<'a> {
    at: *const u8,
    end: *const u8,
    bad: bool,
    text: std::marker::PhantomData<&'a str>,
}

const BEHIND: usize = 16;

/// The first eight bytes of a key as one word, the first one lowest: to compare
/// words is quicker than to compare texts.
const fn word(key: &str) -> u64 {
    let (b, mut w, mut i) = (key.as_bytes(), 0, 0);
    while i < b.len() && i < 8 {
        w |= (b[i] as u64) << (8 * i);
        i += 1;
    }
    w
}

/// Marks the first byte of w that is zero by its top bit, and perhaps some
/// behind it.
#[inline(always)]
fn zero(w: u64) -> u64 {
    w.wrapping_sub(0x0101010101010101) & !w & 0x8080808080808080
}

impl<'a> Reader<'a> {
    #[inline(always)]
    fn byte(&self) -> u8 {
        unsafe { *self.at } // at is before end, or among the zeros
    }

    #[inline(always)]
    fn pass(&mut self, bytes: usize) {
        self.at = self.at.wrapping_add(bytes);
    }

    #[inline(always)]
    fn peek(&mut self) -> u8 {
        while self.byte() <= b' ' && matches!(self.byte(), b' ' | b'\n' | b'\t' | b'\r') {
            self.pass(1);
        }
        self.byte()
    }

    #[inline(always)]
    fn eat(&mut self, c: u8) -> bool {
        let found = self.peek() == c;
        self.pass(found as usize);
        found
    }

    #[inline(always)]
    fn need(&mut self, c: u8) {
        if !self.eat(c) {
            self.fail();
        }
    }

    #[cold]
    fn fail(&mut self) {
        self.bad = true;
        self.at = self.end;
    }

    /// What was read since from. It starts behind one byte of ASCII and ends
    /// before another, and so is UTF-8 as the whole is.
    #[inline(always)]
    fn since(&self, from: *const u8) -> &'a str {
        let len = (self.at as usize).wrapping_sub(from as usize);
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(from, len)) }
    }

    fn string(&mut self) -> &'a str {
        self.need(b'"');
        let from = self.at;
        while self.at < self.end {
            let w = unsafe { (self.at as *const u64).read_unaligned() };
            let stop = zero(w ^ 0x2222222222222222) | zero(w ^ 0x5c5c5c5c5c5c5c5c); // " and \
            self.pass(stop.trailing_zeros() as usize / 8); // 64 when there is none
            if stop == 0 {
                continue;
            }
            if self.byte() == b'"' && self.at < self.end {
                let s = self.since(from);
                self.pass(1);
                return s;
            }
            self.pass(2);
        }
        self.fail();
        ""
    }

    /// The next key of an object, and its word.
    #[inline(always)]
    fn key(&mut self) -> (&'a str, u64) {
        let k = self.string();
        self.need(b':');
        if self.bad {
            return ("", 0);
        }
        let w = unsafe { (k.as_ptr() as *const u64).read_unaligned() };
        (k, if k.len() < 8 { w & ((1 << (8 * k.len())) - 1) } else { w })
    }

    fn int(&mut self) -> i64 {
        let minus = self.eat(b'-');
        let (from, mut n) = (self.at, 0i64);
        while self.byte().is_ascii_digit() {
            n = n.wrapping_mul(10).wrapping_add((self.byte() - b'0') as i64);
            self.pass(1);
        }
        if self.at == from {
            self.fail();
        }
        if minus { -n } else { n }
    }

    fn bool(&mut self) -> bool {
        let yes = self.peek() == b't';
        self.scalar();
        yes
    }

    /// Passes a number, true, false or null.
    #[inline(always)]
    fn scalar(&mut self) {
        let from = self.at;
        while !matches!(self.byte(), b',' | b'}' | b']' | 0..=b' ') {
            self.pass(1);
        }
        if self.at == from {
            self.fail();
        }
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
                    self.pass(1);
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.pass(1);
                }
                b',' | b':' => self.pass(1),
                _ => self.scalar(),
            }
            if self.bad {
                return "";
            }
            if depth == 0 {
                return self.since(from);
            }
        }
    }

    #[inline(always)]
    fn array(&mut self, element: impl FnMut(&mut Self)) {
        self.walk(b'[', b']', element);
    }

    #[inline(always)]
    fn object(&mut self, mut member: impl FnMut(&mut Self, &'a str, u64)) {
        self.walk(b'{', b'}', |r| {
            let (key, word) = r.key();
            member(r, key, word);
        });
    }

    #[inline(always)]
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

    fn agent(&mut self, a: &mut Agent<'a>) {
        const ID: u64 = word("id");
        const NAME: u64 = word("name");
        const KIND: u64 = word("kind");
        const ROLE: u64 = word("role");
        const DOMAINS: u64 = word("domains");
        const ELIGIBLE: u64 = word("eligible");
        const INELIGIBLE: u64 = word("ineligible_reason");
        const TURNS: u64 = word("turns");
        const LAST_TURN: u64 = word("last_turn");
        const FAILURES: u64 = word("failures");
        const UNREAD: u64 = word("unread");
        self.object(|r, key, word| match word {
            ID => a.id = r.string(),
            NAME => a.name = r.string(),
            KIND => a.kind = r.string(),
            ROLE => a.role = r.string(),
            DOMAINS => a.domains = r.strings(),
            ELIGIBLE if key == "eligible" => a.eligible = r.bool(),
            INELIGIBLE if key == "ineligible_reason" => a.ineligible_reason = r.string(),
            TURNS => a.turns = r.int(),
            LAST_TURN if key == "last_turn" => a.last_turn = r.int(),
            FAILURES if key == "failures" => a.failures = r.int(),
            UNREAD => a.unread = r.int(),
            _ => drop(r.value()),
        });
    }

    fn event(&mut self, e: &mut Event<'a>) {
        const SEQ: u64 = word("seq");
        const TURN: u64 = word("turn");
        const FROM: u64 = word("from");
        const TO: u64 = word("to");
        const KIND: u64 = word("kind");
        const TEXT: u64 = word("text");
        const MENTIONS: u64 = word("mentions");
        const ADDRESSED: u64 = word("addressed");
        self.object(|r, key, word| match word {
            SEQ => e.seq = r.int(),
            TURN => e.turn = r.int(),
            FROM => e.from = r.string(),
            TO => e.to = r.strings(),
            KIND => e.kind = r.string(),
            TEXT => e.text = r.string(),
            MENTIONS if key == "mentions" => e.mentions = r.strings(),
            ADDRESSED if key == "addressed" => e.addressed = r.strings(),
            _ => drop(r.value()),
        });
    }

    fn input(&mut self) -> Input<'a> {
        const INIT: u64 = word("init");
        const DECISION: u64 = word("decision");
        const TURN: u64 = word("turn");
        const NOW_MS: u64 = word("now_ms");
        const OBJECTIVE: u64 = word("objective");
        const AGENTS: u64 = word("agents");
        const EVENTS: u64 = word("events");
        const STATE: u64 = word("state");
        let mut i = Input::default();
        self.object(|r, key, word| match word {
            INIT => i.init = r.bool(),
            DECISION if key == "decision" => i.decision = r.int(),
            TURN => i.turn = r.int(),
            NOW_MS => i.now_ms = r.int(),
            OBJECTIVE if key == "objective" => i.objective = r.string(),
            AGENTS => r.array(|r| {
                i.agents.push(Agent::default());
                let last = i.agents.len() - 1;
                r.agent(&mut i.agents[last]);
            }),
            EVENTS => r.array(|r| {
                i.events.push(Event::default());
                let last = i.events.len() - 1;
                r.event(&mut i.events[last]);
            }),
            STATE => i.state = r.value(),
            _ => drop(r.value()),
        });
        i
    }
}

/// Hands out memory and takes none back: a decision ends before that pays. It
/// starts with what the module's own pages leave, so that a small decision
/// grows no memory.
struct Bump;

static mut TOP: usize = 0;

extern "C" {
    static __heap_base: u8;
}

unsafe impl GlobalAlloc for Bump {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        const PAGE: usize = 1 << 16;
        if TOP == 0 {
            TOP = &__heap_base as *const u8 as usize;
        }
        let at = (TOP + layout.align() - 1) & !(layout.align() - 1);
        let end = match at.checked_add(layout.size()) {
            Some(end) if end <= isize::MAX as usize => end,
            _ => return std::ptr::null_mut(),
        };
        let have = core::arch::wasm32::memory_size(0) * PAGE;
        if end > have && core::arch::wasm32::memory_grow(0, (end - have + PAGE - 1) / PAGE) == usize::MAX {
            return std::ptr::null_mut();
        }
        TOP = end;
        at as *mut u8
    }

    #[inline]
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}

    /// What was handed out last grows where it is.
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if place as usize + layout.size() == TOP && size > layout.size() {
            TOP = place as usize;
            let same = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if same.is_null() {
                TOP = place as usize + layout.size();
            }
            return same;
        }
        let more = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
        if !more.is_null() {
            std::ptr::copy_nonoverlapping(place, more, layout.size().min(size));
        }
        more
    }

    /// Memory that was never handed out is zero.
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.alloc(layout)
    }
}

#[global_allocator]
static ALLOCATOR: Bump = Bump;

#[no_mangle]
pub extern "C" fn roompolicy_abi_1() {}

#[no_mangle]
pub extern "C" fn roompolicy_alloc(size: u32) -> *mut u8 {
    let mut place = Vec::<u8>::with_capacity(size as usize + BEHIND);
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
    let from = text.as_ptr();
    let mut reader = Reader { at: from, end: from.wrapping_add(text.len()), bad: false, text: std::marker::PhantomData };
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
