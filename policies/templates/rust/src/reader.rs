//! Reads the JSON of an input, in which there are no spaces between values.

use crate::roompolicy::{Agent, Event, Followed, Handoff, Input, Limits, Task};

/// The number of zeros after the text, so that the reader needs no check for
/// the end at each byte. Invalid input ends at these zeros, which are invalid
/// at every position.
pub const BEHIND: usize = 16;

/// Reads one JSON text, which is UTF-8.
pub struct Reader<'a> {
    at: *const u8,
    end: *const u8,
    bad: bool,
    text: std::marker::PhantomData<&'a str>,
}

/// Eight bytes of a literal as one little-endian word: words compare faster
/// than texts.
#[inline(always)]
const fn packed(literal: &str, from: usize) -> u64 {
    let (b, mut w, mut i) = (literal.as_bytes(), 0, 0);
    while from + i < b.len() && i < 8 {
        w |= (b[from + i] as u64) << (8 * i);
        i += 1;
    }
    w
}

/// Sets the top bit of the first zero byte of w, and perhaps of some bytes
/// after it.
#[inline(always)]
fn zero(w: u64) -> u64 {
    w.wrapping_sub(0x0101010101010101) & !w & 0x8080808080808080
}

/// Reads the members of an object. A host writes them in a fixed order, so each
/// key first looks where the previous member ended. A further pass finds members
/// in another order. Members without a key here are skipped.
macro_rules! object {
    ($r:ident, $($key:literal => $read:expr),+ $(,)?) => {
        $r.open(b'{', b'}');
        while $r.byte() != b'}' {
            let member = $r.at;
            $(if $r.starts(1, concat!("\"", $key, "\":")) {
                $r.pass($key.len() + 4);
                $read;
                if $r.byte() != b',' {
                    break;
                }
            })+
            if $r.at == member {
                $r.other();
                if $r.byte() != b',' {
                    break;
                }
            }
        }
        $r.need(b'}');
    };
}

impl<'a> Reader<'a> {
    /// Decodes an input, and returns None if it is invalid.
    ///
    /// # Safety
    /// Zeros must follow the text.
    pub unsafe fn read(bytes: &'a [u8]) -> Option<Input<'a>> {
        let text = utf8(bytes)?;
        let from = text.as_ptr();
        let mut r = Reader { at: from, end: from.wrapping_add(text.len()), bad: false, text: std::marker::PhantomData };
        let input = r.input();
        if r.bad || r.at != r.end {
            return None;
        }
        Some(input)
    }

    #[inline(always)]
    fn byte(&self) -> u8 {
        unsafe { *self.at } // at is before end, or in the zeros
    }

    #[inline(always)]
    fn word(&self, from: usize) -> u64 {
        unsafe { (self.at.wrapping_add(from) as *const u64).read_unaligned() }
    }

    #[inline(always)]
    fn pass(&mut self, bytes: usize) {
        self.at = self.at.wrapping_add(bytes);
    }

    #[inline(always)]
    fn need(&mut self, c: u8) {
        if self.byte() == c {
            self.pass(1);
        } else {
            self.fail();
        }
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self) {
        self.bad = true;
        self.at = self.end;
    }

    /// Reports whether the literal is at this offset. The compiler reduces it to
    /// one or two comparisons of words.
    #[inline(always)]
    fn starts(&self, on: usize, literal: &str) -> bool {
        let len = literal.len();
        if len < 8 {
            return self.word(on) & ((1 << (8 * len)) - 1) == packed(literal, 0);
        }
        let mut i = 0;
        while i + 8 < len {
            if self.word(on + i) != packed(literal, i) {
                return false;
            }
            i += 8;
        }
        self.word(on + len - 8) == packed(literal, len - 8)
    }

    /// The text read since from. ASCII bytes precede and follow it, so it is
    /// valid UTF-8 if the whole text is.
    #[inline(always)]
    fn since(&self, from: *const u8) -> &'a str {
        let len = (self.at as usize).wrapping_sub(from as usize);
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(from, len)) }
    }

    /// Skips up to eight bytes before a " or a \.
    #[inline(always)]
    fn plain(&mut self) -> usize {
        let w = self.word(0);
        let stop = zero(w ^ 0x2222222222222222) | zero(w ^ 0x5c5c5c5c5c5c5c5c);
        let n = stop.trailing_zeros() as usize / 8; // 64 if there is none
        self.pass(n);
        n
    }

    #[inline(always)]
    fn string(&mut self) -> &'a str {
        self.need(b'"');
        let from = self.at;
        self.plain();
        if self.byte() != b'"' {
            return self.long_string(from);
        }
        let s = self.since(from);
        self.pass(1);
        s
    }

    #[inline(never)]
    fn long_string(&mut self, from: *const u8) -> &'a str {
        self.at = from;
        while self.at < self.end {
            if self.plain() == 8 {
                continue;
            }
            if self.byte() == b'"' {
                let s = self.since(from);
                self.pass(1);
                return s;
            }
            self.pass(2);
        }
        self.fail();
        ""
    }

    #[inline(always)]
    fn int(&mut self) -> i64 {
        let digit = self.byte().wrapping_sub(b'0');
        if digit > 9 || self.word(0) as u16 >> 8 != b',' as u16 {
            return self.long_int();
        }
        self.pass(1); // most numbers have one digit
        digit as i64
    }

    #[inline(never)]
    fn long_int(&mut self) -> i64 {
        let minus = self.byte() == b'-';
        self.pass(minus as usize);
        let (from, mut n) = (self.at, 0i64);
        while self.byte().is_ascii_digit() {
            n = n.wrapping_mul(10).wrapping_add((self.byte() - b'0') as i64);
            self.pass(1);
        }
        if self.at == from {
            self.fail();
        }
        if minus { n.wrapping_neg() } else { n }
    }

    #[inline(always)]
    fn bool(&mut self) -> bool {
        let yes = self.starts(0, "true");
        if yes {
            self.pass(4);
        } else if self.starts(0, "false") {
            self.pass(5);
        } else {
            self.fail();
        }
        yes
    }

    /// Skips a number, true, false or null.
    fn scalar(&mut self) {
        let from = self.at;
        while !matches!(self.byte(), b',' | b':' | b'}' | b']' | 0..=b' ') {
            self.pass(1);
        }
        if self.at == from {
            self.fail();
        }
    }

    /// Skips any value and returns its text.
    #[inline(never)]
    fn value(&mut self) -> &'a str {
        let (from, mut depth) = (self.at, 0usize);
        loop {
            match self.byte() {
                b'"' => drop(self.string()),
                b'{' | b'[' => {
                    depth += 1;
                    self.pass(1);
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.pass(1);
                }
                b',' | b':' if depth > 0 => self.pass(1),
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

    /// Skips a member that the SDK does not read.
    #[inline(never)]
    fn other(&mut self) {
        self.pass(1);
        self.string();
        self.need(b':');
        self.value();
    }

    /// Moves to the bracket before the first member of an object or array, or to
    /// the closing bracket if there are no members. A member follows that bracket
    /// or a comma.
    #[inline(always)]
    fn open(&mut self, open: u8, close: u8) {
        if self.byte() != open {
            self.fail();
        } else if self.word(0) as u16 >> 8 == close as u16 {
            self.pass(1);
        }
    }

    #[inline(always)]
    fn array(&mut self, mut element: impl FnMut(&mut Self)) {
        self.open(b'[', b']');
        while self.byte() != b']' {
            self.pass(1);
            element(self);
            if self.byte() != b',' {
                break;
            }
        }
        self.need(b']');
    }

    #[inline(always)]
    fn strings(&mut self) -> Vec<&'a str> {
        if self.starts(0, "[]") {
            self.pass(2);
            return Vec::new(); // most are empty
        }
        self.some_strings()
    }

    #[inline(never)]
    fn some_strings(&mut self) -> Vec<&'a str> {
        let mut all = Vec::new();
        self.array(|r| all.push(r.string()));
        all
    }

    #[inline(always)]
    fn followed(&mut self, f: &mut Followed) {
        object!(self, "last" => f.last = self.int(), "last_two" => f.last_two = self.int());
    }

    fn agent(&mut self, a: &mut Agent<'a>) {
        object!(self,
            "id" => a.id = self.string(),
            "name" => a.name = self.string(),
            "kind" => a.kind = self.string(),
            "role" => a.role = self.string(),
            "domains" => a.domains = self.strings(),
            "eligible" => a.eligible = self.bool(),
            "ineligible_reason" => a.ineligible_reason = self.string(),
            "presence" => a.presence = self.string(),
            "turns" => a.turns = self.int(),
            "last_turn" => a.last_turn = self.int(),
            "failures" => a.failures = self.int(),
            "tokens" => a.tokens = self.int(),
            "avg_ms" => a.avg_ms = self.int(),
            "unread" => a.unread = self.int(),
            "followed" => self.followed(&mut a.followed),
            "tasks" => self.tasks(&mut a.tasks),
        );
    }

    #[inline(never)]
    fn tasks(&mut self, all: &mut Vec<Task<'a>>) {
        self.array(|r| {
            let mut t = Task::default();
            object!(r,
                "id" => t.id = r.string(),
                "title" => t.title = r.string(),
                "state" => t.state = r.string(),
                "after" => t.after = r.strings(),
            );
            all.push(t);
        });
    }

    #[inline(never)]
    fn handoff(&mut self) -> Handoff<'a> {
        let mut h = Handoff::default();
        object!(self, "from" => h.from = self.string(), "to" => h.to = self.string(), "reason" => h.reason = self.string());
        h
    }

    fn event(&mut self, e: &mut Event<'a>) {
        object!(self,
            "seq" => e.seq = self.int(),
            "turn" => e.turn = self.int(),
            "from" => e.from = self.string(),
            "to" => e.to = self.strings(),
            "kind" => e.kind = self.string(),
            "text" => e.text = self.string(),
            "truncated" => e.truncated = self.bool(),
            "mentions" => e.mentions = self.strings(),
            "addressed" => e.addressed = self.strings(),
            "bytes" => e.bytes = self.int(),
            "silent" => e.silent = self.strings(),
        );
    }

    fn limits(&mut self, l: &mut Limits) {
        object!(self,
            "max_turns" => l.max_turns = self.int(),
            "turns_left" => l.turns_left = self.int(),
            "tokens_left" => l.tokens_left = self.int(),
            "ms_left" => l.ms_left = self.int(),
        );
    }

    fn input(&mut self) -> Input<'a> {
        let mut i = Input::default();
        object!(self,
            "abi" => self.scalar(),
            "init" => i.init = self.bool(),
            "room" => i.room = self.string(),
            "decision" => i.decision = self.int(),
            "turn" => i.turn = self.int(),
            "now_ms" => i.now_ms = self.int(),
            "seed" => i.seed = self.string(),
            "objective" => i.objective = self.string(),
            "constraints" => i.constraints = self.strings(),
            "config" => i.config = self.value(),
            "limits" => self.limits(&mut i.limits),
            "agents" => self.array(|r| {
                i.agents.push(Agent::default());
                let last = i.agents.len() - 1;
                r.agent(&mut i.agents[last]);
            }),
            "events" => self.array(|r| {
                i.events.push(Event::default());
                let last = i.events.len() - 1;
                r.event(&mut i.events[last]);
            }),
            "handoff" => i.handoff = Some(self.handoff()),
            "replaced" => i.replaced = self.string(),
            "truncated" => i.truncated = self.bool(),
            "state" => i.state = self.value(),
        );
        i
    }
}

/// The bytes as text. Most texts begin with many ASCII bytes.
fn utf8(bytes: &[u8]) -> Option<&str> {
    let word = |at| unsafe { (bytes.as_ptr().add(at) as *const u64).read_unaligned() };
    let mut at = 0;
    while at + 32 <= bytes.len() && (word(at) | word(at + 8) | word(at + 16) | word(at + 24)) & 0x8080808080808080 == 0 {
        at += 32;
    }
    std::str::from_utf8(&bytes[at..]).ok()?;
    Some(unsafe { std::str::from_utf8_unchecked(bytes) })
}
