// The SDK for policies in AssemblyScript: the exports for the host, a decoder of
// the input and an encoder of the answer.
//
// Each decision runs in a new instance, so memory is never freed and the
// smallest runtime ("stub") is enough.
//
// Each access to a text decodes it again: keep a text that you use often in a
// variable.

/** The input of a decision. The SDK skips fields that it does not know. */
export class Input {
  init: bool = false;
  decision: i64 = 0;
  turn: i64 = 0;
  nowMs: i64 = 0;
  agents: Agent[] = [];
  events: Event[] = [];
  /** The wish of an agent that another one goes on; null if there is none. */
  handoff: Handoff | null = null;
  rawReplaced: Raw = 0;
  rawObjective: Raw = 0;
  rawState: Raw = 0;

  /** The agent that the previous decision chose, if the room took another one; or "". */
  get replaced(): string { return text(this.rawReplaced); }
  get objective(): string { return text(this.rawObjective); }
  /** Any JSON, unchanged. */
  get state(): string { return this.rawState == 0 ? "null" : asItStands(this.rawState); }

  agent(id: string): Agent | null {
    for (let i = 0; i < this.agents.length; i++) {
      if (this.agents[i].id == id) return this.agents[i];
    }
    return null;
  }

  /** The newest message event. */
  lastSaid(): Event | null {
    for (let i = this.events.length - 1; i >= 0; i--) {
      const kind = this.events[i].kind;
      if (kind == "message" || kind == "human") return this.events[i];
    }
    return null;
  }
}

export class Handoff {
  rawFrom: Raw = 0;
  rawTo: Raw = 0;
  rawReason: Raw = 0;

  get from(): string { return text(this.rawFrom); }
  get to(): string { return text(this.rawTo); }
  get reason(): string { return text(this.rawReason); }
}

/** An open task. */
export class Task {
  rawId: Raw = 0;
  rawTitle: Raw = 0;
  rawState: Raw = 0;
  rawAfter: Raw = 0;

  get id(): string { return text(this.rawId); }
  get title(): string { return text(this.rawTitle); }
  get state(): string { return text(this.rawState); }
  /** The ids of the tasks that it waits for. */
  get after(): string[] { return texts(this.rawAfter); }
}

export class Agent {
  eligible: bool = false;
  turns: i64 = 0;
  lastTurn: i64 = 0;
  failures: i64 = 0;
  unread: i64 = 0;
  rawId: Raw = 0;
  rawName: Raw = 0;
  rawKind: Raw = 0;
  rawRole: Raw = 0;
  rawIneligibleReason: Raw = 0;
  rawPresence: Raw = 0;
  rawDomains: Raw = 0;
  rawTasks: Raw = 0;

  get id(): string { return text(this.rawId); }
  get name(): string { return text(this.rawName); }
  get kind(): string { return text(this.rawKind); }
  get role(): string { return text(this.rawRole); }
  get ineligibleReason(): string { return text(this.rawIneligibleReason); }
  /** live, idle or away, of an agent session that comes by itself; empty for all others. */
  get presence(): string { return text(this.rawPresence); }
  get domains(): string[] { return texts(this.rawDomains); }
  /** The open tasks that it owns. */
  get tasks(): Task[] { return tasks(this.rawTasks); }
}

export class Event {
  seq: i64 = 0;
  turn: i64 = 0;
  rawFrom: Raw = 0;
  rawTo: Raw = 0;
  rawKind: Raw = 0;
  rawText: Raw = 0;
  rawMentions: Raw = 0;
  rawAddressed: Raw = 0;
  rawSilent: Raw = 0;

  get from(): string { return text(this.rawFrom); }
  get to(): string[] { return texts(this.rawTo); }
  get kind(): string { return text(this.rawKind); }
  get text(): string { return text(this.rawText); }
  get mentions(): string[] { return texts(this.rawMentions); }
  get addressed(): string[] { return texts(this.rawAddressed); }
  /** Participants that could have spoken here and did not. */
  get silent(): string[] { return texts(this.rawSilent); }
}

/** A value in the input: its offset in the low half, its length in the high half. */
type Raw = u64;

function raw(from: usize, to: usize): Raw {
  return (<u64>(to - from) << 32) | <u64>from;
}

function asItStands(r: Raw): string {
  return String.UTF8.decodeUnsafe(<usize>(r & 0xffffffff), <usize>(r >> 32));
}

function text(r: Raw): string {
  const s = asItStands(r);
  return s.indexOf("\\") < 0 ? s : unescape(s);
}

function texts(r: Raw): string[] {
  const from = <usize>(r & 0xffffffff);
  return r == 0 ? [] : new Reader(from, from + <usize>(r >> 32)).strings();
}

function tasks(r: Raw): Task[] {
  const from = <usize>(r & 0xffffffff);
  return r == 0 ? [] : new Reader(from, from + <usize>(r >> 32)).tasks();
}

/** Chooses the next speaker. state is any JSON; "" leaves it unchanged. */
export function speak(agent: string, reason: string, state: string = ""): string {
  return '{"action":"speak","agent":' + quote(agent) + ',"reason":' + quote(reason) + tail(state);
}

export function decline(reason: string, state: string = ""): string {
  return '{"action":"decline","reason":' + quote(reason) + tail(state);
}

function tail(state: string): string {
  return state.length > 0 ? ',"state":' + state + "}" : "}";
}

/** Writes a JSON string in the form that the host uses. */
export function quote(s: string): string {
  let out = '"';
  let from = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (c >= 0x20 && c != 0x22 && c != 0x5c) continue;
    out += s.substring(from, i) + escaped(c);
    from = i + 1;
  }
  return out + s.substring(from) + '"';
}

function escaped(c: i32): string {
  switch (c) {
    case 0x22: return '\\"';
    case 0x5c: return "\\\\";
    case 0x08: return "\\b";
    case 0x0c: return "\\f";
    case 0x0a: return "\\n";
    case 0x0d: return "\\r";
    case 0x09: return "\\t";
  }
  const hex = "0123456789abcdef";
  return "\\u00" + hex.charAt(c >> 4) + hex.charAt(c & 15);
}

/** The number of zeros after the text of a Reader. */
const BEHIND: u32 = 16;

/** The first eight bytes of a key as one little-endian number: numbers compare
 * faster than texts. */
function word(key: string): u64 {
  let w: u64 = 0;
  for (let i = 0; i < key.length && i < 8; i++) w |= <u64>key.charCodeAt(i) << (8 * i);
  return w;
}

const ADDRESSED = word("addressed");
const AFTER = word("after");
const AGENTS = word("agents");
const DECISION = word("decision");
const DOMAINS = word("domains");
const ELIGIBLE = word("eligible");
const EVENTS = word("events");
const FAILURES = word("failures");
const FROM = word("from");
const HANDOFF = word("handoff");
const ID = word("id");
const INELIGIBLE_REASON = word("ineligible_reason");
const INIT = word("init");
const KIND = word("kind");
const LAST_TURN = word("last_turn");
const MENTIONS = word("mentions");
const NAME = word("name");
const NOW_MS = word("now_ms");
const OBJECTIVE = word("objective");
const PRESENCE = word("presence");
const REASON = word("reason");
const REPLACED = word("replaced");
const ROLE = word("role");
const SEQ = word("seq");
const SILENT = word("silent");
const STATE = word("state");
const TASKS = word("tasks");
const TEXT = word("text");
const TITLE = word("title");
const TO = word("to");
const TURN = word("turn");
const TURNS = word("turns");
const UNREAD = word("unread");

/** Sets the top bit of the first zero byte of w, and perhaps of some bytes
 * after it. */
// @ts-ignore: decorator
@inline
function zero(w: u64): u64 {
  return (w - 0x0101010101010101) & ~w & 0x8080808080808080;
}

/** Reads one JSON text. Invalid input ends at the zeros after it. They are
 * invalid at every position, so every loop ends there. */
class Reader {
  bad: bool = false;
  /** Length of the last key. */
  keyLength: usize = 0;

  constructor(private at: usize, private end: usize) {}

  fail(): void {
    this.bad = true;
    this.at = this.end;
  }

  // @ts-ignore: decorator
  @inline
  peek(): u8 {
    let at = this.at;
    let c = load<u8>(at);
    while (c <= 0x20 && c != 0) c = load<u8>(++at);
    this.at = at;
    return c;
  }

  // @ts-ignore: decorator
  @inline
  eat(c: u8): bool {
    if (this.peek() != c) return false;
    this.at++;
    return true;
  }

  // @ts-ignore: decorator
  @inline
  need(c: u8): void {
    if (!this.eat(c)) this.fail();
  }

  /** Walks an object or array: while (r.more(first, close)) first = false. */
  more(first: bool, close: u8): bool {
    const c = this.peek();
    if (this.bad) return false;
    if (c == close) {
      this.at++;
      return false;
    }
    if (first) return true;
    if (c != 0x2c) this.fail();
    else this.at++;
    return !this.bad;
  }

  /** Skips a string. */
  string(): Raw {
    this.need(0x22);
    const from = this.at;
    const end = this.end;
    let at = from;
    while (at < end) {
      const w = load<u64>(at);
      const stop = zero(w ^ 0x2222222222222222) | zero(w ^ 0x5c5c5c5c5c5c5c5c); // " and \
      at += <usize>(ctz(stop) >> 3); // 64 if there is none
      if (stop == 0) continue;
      if (load<u8>(at) == 0x22 && at < end) {
        this.at = at + 1;
        return raw(from, at);
      }
      at += 2;
    }
    this.fail();
    return 0;
  }

  /** Skips a key and returns its word. */
  key(): u64 {
    const k = this.string();
    this.need(0x3a);
    if (this.bad) return 0;
    const n = <usize>(k >> 32);
    const w = load<u64>(<usize>(k & 0xffffffff));
    this.keyLength = n;
    return n < 8 ? w & (((<u64>1) << (8 * <u64>n)) - 1) : w;
  }

  int(): i64 {
    const minus = this.eat(0x2d);
    let n: i64 = 0;
    let at = this.at;
    for (let c = load<u8>(at) - 0x30; <u8>c <= 9; c = load<u8>(++at) - 0x30) n = n * 10 + <i64>(<u8>c);
    this.at = at;
    return minus ? -n : n;
  }

  bool(): bool {
    const yes = this.peek() == 0x74;
    this.scalar();
    return yes;
  }

  /** Skips any value. */
  skip(): Raw {
    let depth = 0;
    this.peek();
    const from = this.at;
    do {
      const c = this.peek();
      if (c == 0x22) this.string();
      else if (c == 0x7b || c == 0x5b) { depth++; this.at++; }
      else if (c == 0x7d || c == 0x5d) { depth--; this.at++; }
      else if (c == 0x2c || c == 0x3a) this.at++;
      else this.scalar();
    } while (depth > 0 && !this.bad);
    return raw(from, this.at);
  }

  /** Skips a number, true, false or null. */
  private scalar(): void {
    const from = this.at;
    let at = from;
    let c = load<u8>(at);
    while (c > 0x20 && c != 0x2c && c != 0x7d && c != 0x5d) c = load<u8>(++at);
    this.at = at;
    if (at == from) this.fail();
  }

  strings(): string[] {
    const all: string[] = [];
    this.need(0x5b);
    for (let first = true; this.more(first, 0x5d); first = false) all.push(text(this.string()));
    return all;
  }

  agent(): Agent {
    const a = new Agent();
    this.need(0x7b);
    for (let first = true; this.more(first, 0x7d); first = false) {
      const k = this.key();
      const n = this.keyLength;
      if (k == ID) a.rawId = this.string();
      else if (k == NAME) a.rawName = this.string();
      else if (k == KIND) a.rawKind = this.string();
      else if (k == ROLE) a.rawRole = this.string();
      else if (k == DOMAINS) a.rawDomains = this.skip();
      else if (k == ELIGIBLE && n == 8) a.eligible = this.bool();
      else if (k == INELIGIBLE_REASON && n == 17) a.rawIneligibleReason = this.string();
      else if (k == PRESENCE && n == 8) a.rawPresence = this.string();
      else if (k == TURNS) a.turns = this.int();
      else if (k == LAST_TURN && n == 9) a.lastTurn = this.int();
      else if (k == FAILURES && n == 8) a.failures = this.int();
      else if (k == UNREAD) a.unread = this.int();
      else if (k == TASKS) a.rawTasks = this.skip();
      else this.skip();
    }
    return a;
  }

  tasks(): Task[] {
    const all: Task[] = [];
    this.need(0x5b);
    for (let first = true; this.more(first, 0x5d); first = false) all.push(this.task());
    return all;
  }

  task(): Task {
    const t = new Task();
    this.need(0x7b);
    for (let first = true; this.more(first, 0x7d); first = false) {
      const k = this.key();
      if (k == ID) t.rawId = this.string();
      else if (k == TITLE) t.rawTitle = this.string();
      else if (k == STATE) t.rawState = this.string();
      else if (k == AFTER) t.rawAfter = this.skip();
      else this.skip();
    }
    return t;
  }

  handoff(): Handoff {
    const h = new Handoff();
    this.need(0x7b);
    for (let first = true; this.more(first, 0x7d); first = false) {
      const k = this.key();
      if (k == FROM) h.rawFrom = this.string();
      else if (k == TO) h.rawTo = this.string();
      else if (k == REASON) h.rawReason = this.string();
      else this.skip();
    }
    return h;
  }

  event(): Event {
    const e = new Event();
    this.need(0x7b);
    for (let first = true; this.more(first, 0x7d); first = false) {
      const k = this.key();
      const n = this.keyLength;
      if (k == SEQ) e.seq = this.int();
      else if (k == TURN) e.turn = this.int();
      else if (k == FROM) e.rawFrom = this.string();
      else if (k == TO) e.rawTo = this.skip();
      else if (k == KIND) e.rawKind = this.string();
      else if (k == TEXT) e.rawText = this.string();
      else if (k == MENTIONS && n == 8) e.rawMentions = this.skip();
      else if (k == ADDRESSED && n == 9) e.rawAddressed = this.skip();
      else if (k == SILENT) e.rawSilent = this.skip();
      else this.skip();
    }
    return e;
  }

  input(): Input {
    const i = new Input();
    this.need(0x7b);
    for (let first = true; this.more(first, 0x7d); first = false) {
      const k = this.key();
      const n = this.keyLength;
      if (k == INIT) i.init = this.bool();
      else if (k == DECISION && n == 8) i.decision = this.int();
      else if (k == TURN) i.turn = this.int();
      else if (k == NOW_MS) i.nowMs = this.int();
      else if (k == OBJECTIVE && n == 9) i.rawObjective = this.string();
      else if (k == STATE) i.rawState = this.skip();
      else if (k == HANDOFF) i.handoff = this.handoff();
      else if (k == REPLACED && n == 8) i.rawReplaced = this.string();
      else if (k == AGENTS) {
        this.need(0x5b);
        for (let one = true; this.more(one, 0x5d); one = false) i.agents.push(this.agent());
      } else if (k == EVENTS) {
        this.need(0x5b);
        for (let one = true; this.more(one, 0x5d); one = false) i.events.push(this.event());
      } else this.skip();
    }
    return i;
  }
}

function unescape(s: string): string {
  let out = "";
  let from = 0;
  for (let i = 0; i + 1 < s.length; i++) {
    if (s.charCodeAt(i) != 0x5c) continue;
    out += s.substring(from, i);
    const c = s.charAt(++i);
    if (c == "n") out += "\n";
    else if (c == "t") out += "\t";
    else if (c == "r") out += "\r";
    else if (c == "b") out += "\b";
    else if (c == "f") out += "\f";
    else if (c == "u") {
      out += String.fromCharCode(<i32>parseInt(s.substring(i + 1, i + 5), 16));
      i += 4;
    } else out += c;
    from = i + 1;
  }
  return out + s.substring(from);
}

// @ts-ignore: decorator
@external("roompolicy", "log")
declare function log(level: u32, at: usize, len: usize): void;

/** Runs instead of throw, of a failed assert and of an index out of range:
 * build.sh names it. Its text stays in the log, and the host shows it. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const what = message === null ? "aborted" : message;
  const where = file === null ? "" : ", " + file + ":" + line.toString();
  const text = String.UTF8.encode(what + where);
  log(3, changetype<usize>(text), text.byteLength);
  unreachable();
}

/** The buffer for the host, outside the memory of the allocator. */
export function alloc(size: u32): usize {
  return heap.alloc(size + BEHIND);
}

/** Reads the input and returns offset and length of decide's answer. */
export function answer(at: usize, len: u32, decide: (input: Input) => string): u64 {
  const reader = new Reader(at, at + len);
  const input = reader.input();
  if (reader.bad) return 0;
  const out = String.UTF8.encode(decide(input));
  return (<u64>changetype<usize>(out) << 32) | <u64>out.byteLength;
}
