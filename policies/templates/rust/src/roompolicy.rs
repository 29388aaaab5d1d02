//! The SDK for policies in Rust: the exports for the host, a decoder of the
//! input and an encoder of the answer. It uses no crates.
//!
//! Texts keep the escapes of the JSON: two texts are equal if their bytes are
//! equal, and a text that is copied into an answer needs no further escape.
//! `unescape` returns the plain text.
//!
//! Each decision runs in a new instance, so nothing is freed.

#![allow(dead_code)] // a policy uses what it needs

use crate::reader::{self, Reader};
use std::alloc::{GlobalAlloc, Layout};

/// The input of a decision. The SDK skips fields that it does not know.
#[derive(Default)]
pub struct Input<'a> {
    pub init: bool,
    pub room: &'a str,
    pub decision: i64,
    pub turn: i64,
    pub now_ms: i64,
    pub seed: &'a str,
    pub objective: &'a str,
    pub constraints: Vec<&'a str>,
    pub config: &'a str, // any JSON
    pub limits: Limits,
    pub agents: Vec<Agent<'a>>,
    pub events: Vec<Event<'a>>,
    pub handoff: Option<Handoff<'a>>,
    pub replaced: &'a str, // the agent that the previous decision chose, if the room took another one; or ""
    pub truncated: bool,
    pub state: &'a str, // any JSON
}

/// The wish of an agent that another one goes on.
#[derive(Default)]
pub struct Handoff<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub reason: &'a str,
}

/// Limits; -1 means that there is no limit.
#[derive(Default)]
pub struct Limits {
    pub max_turns: i64,
    pub turns_left: i64,
    pub tokens_left: i64,
    pub ms_left: i64,
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
    pub presence: &'a str, // live, idle or away, of an agent session that comes by itself; "" for all others
    pub turns: i64,
    pub last_turn: i64,
    pub failures: i64,
    pub tokens: i64,
    pub avg_ms: i64,
    pub unread: i64,
    pub followed: Followed,
    pub tasks: Vec<Task<'a>>, // the open tasks that it owns
}

#[derive(Default)]
pub struct Task<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub state: &'a str,
    pub after: Vec<&'a str>, // ids of the tasks that it waits for
}

/// How often an agent spoke next after the last speaker, and after the last two.
#[derive(Default)]
pub struct Followed {
    pub last: i64,
    pub last_two: i64,
}

#[derive(Default)]
pub struct Event<'a> {
    pub seq: i64,
    pub turn: i64,
    pub from: &'a str,
    pub to: Vec<&'a str>,
    pub kind: &'a str,
    pub text: &'a str,
    pub truncated: bool,
    pub mentions: Vec<&'a str>,
    pub addressed: Vec<&'a str>,
    pub bytes: i64,
    pub silent: Vec<&'a str>, // participants that could have spoken here and did not
}

impl<'a> Input<'a> {
    pub fn agent(&self, id: &str) -> Option<&Agent<'a>> {
        self.agents.iter().find(|a| a.id == id)
    }

    /// The newest message event.
    pub fn last_said(&self) -> Option<&Event<'a>> {
        self.events.iter().rev().find(|e| e.kind == "message" || e.kind == "human")
    }
}

/// An answer. `state` is any JSON; None leaves it unchanged.
pub struct Decision {
    json: String,
}

impl Decision {
    /// Chooses `agent` as the next speaker; the reason is its parts joined.
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

    /// Stores `state`, any JSON, for the next decision.
    pub fn with_state(mut self, state: &str) -> Decision {
        self.json.push_str(",\"state\":");
        self.json.push_str(state);
        self
    }
}

/// Decodes the escapes of a JSON string.
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
                // A host escapes only control characters, so there are no pairs.
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

/// A bump allocator: it never frees, because a decision is short. It starts
/// with the free rest of the module's own pages, so that a small decision does
/// not grow the memory.
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

    /// The newest allocation grows in place.
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

    /// Memory that was never allocated is zero.
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.alloc(layout)
    }
}

#[global_allocator]
static ALLOCATOR: Bump = Bump;

#[link(wasm_import_module = "roompolicy")]
extern "C" {
    fn log(level: u32, at: *const u8, len: usize);
}

/// The host calls it once. From then on a panic leaves its text in the log,
/// and the host shows it.
#[no_mangle]
pub extern "C" fn _initialize() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => text,
            (_, Some(text)) => text.as_str(),
            _ => "unknown",
        };
        let line = match panic.location() {
            Some(at) => format!("{}, {}:{}", text, at.file(), at.line()),
            None => text.to_string(),
        };
        unsafe { log(3, line.as_ptr(), line.len()) }
    }));
}

#[no_mangle]
pub extern "C" fn roompolicy_abi_1() {}

#[no_mangle]
pub extern "C" fn roompolicy_alloc(size: u32) -> *mut u8 {
    let mut place = Vec::<u8>::with_capacity(size as usize + reader::BEHIND);
    let at = place.as_mut_ptr();
    std::mem::forget(place);
    at
}

/// Removes the spaces between values from a JSON text, fills the end with zeros
/// and returns the new length. A host of rooms writes no spaces, but another
/// host may.
fn squeeze(text: &mut [u8]) -> usize {
    let (mut to, mut from, mut inside) = (0, 0, false);
    while from < text.len() {
        let c = text[from];
        from += 1;
        if !inside && matches!(c, b' ' | b'\n' | b'\t' | b'\r') {
            continue;
        }
        inside ^= c == b'"';
        text[to] = c;
        to += 1;
        if c == b'\\' && from < text.len() {
            text[to] = text[from];
            to += 1;
            from += 1;
        }
    }
    text[to..].fill(0);
    to
}

/// # Safety
/// The host passes the offset that `roompolicy_alloc` returned, and its length.
#[no_mangle]
pub unsafe extern "C" fn roompolicy_decide(at: *mut u8, len: u32) -> u64 {
    let mut input = Reader::read(std::slice::from_raw_parts(at, len as usize));
    if input.is_none() {
        let dense = squeeze(std::slice::from_raw_parts_mut(at, len as usize));
        input = Reader::read(std::slice::from_raw_parts(at, dense));
    }
    let mut json = match input {
        Some(input) => super::decide(&input).json,
        None => return 0,
    };
    json.push('}');
    let answer = (json.as_ptr() as u64) << 32 | json.len() as u64;
    std::mem::forget(json);
    answer
}
