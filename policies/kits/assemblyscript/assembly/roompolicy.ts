// The kit for policies in AssemblyScript: what a host calls, a reader for the
// input and a writer for the answer.
//
// Every decision is made by a fresh instance, so nothing is ever freed and the
// smallest runtime ("stub") will do.

/** What a room asks. Fields that the kit does not read are passed over. */
export class Input {
  init: bool = false;
  decision: i64 = 0;
  turn: i64 = 0;
  nowMs: i64 = 0;
  objective: string = "";
  agents: Agent[] = [];
  events: Event[] = [];
  /** Any JSON, as it stands. */
  state: string = "null";

  agent(id: string): Agent | null {
    for (let i = 0; i < this.agents.length; i++) {
      if (this.agents[i].id == id) return this.agents[i];
    }
    return null;
  }

  /** The newest event in which somebody spoke. */
  lastSaid(): Event | null {
    for (let i = this.events.length - 1; i >= 0; i--) {
      const kind = this.events[i].kind;
      if (kind == "message" || kind == "human") return this.events[i];
    }
    return null;
  }
}

export class Agent {
  id: string = "";
  name: string = "";
  kind: string = "";
  role: string = "";
  domains: string[] = [];
  eligible: bool = false;
  ineligibleReason: string = "";
  turns: i64 = 0;
  lastTurn: i64 = 0;
  failures: i64 = 0;
  unread: i64 = 0;
}

export class Event {
  seq: i64 = 0;
  turn: i64 = 0;
  from: string = "";
  to: string[] = [];
  kind: string = "";
  text: string = "";
  mentions: string[] = [];
  addressed: string[] = [];
}

/** Gives the floor to an agent. state is any JSON; "" leaves it as it is. */
export function speak(agent: string, reason: string, state: string = ""): string {
  return '{"action":"speak","agent":' + quote(agent) + ',"reason":' + quote(reason) + tail(state);
}

export function decline(reason: string, state: string = ""): string {
  return '{"action":"decline","reason":' + quote(reason) + tail(state);
}

function tail(state: string): string {
  return state.length > 0 ? ',"state":' + state + "}" : "}";
}

/** Writes a JSON string as the host does. */
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

/** Reads one JSON text. The first mistake sticks and ends every loop. */
class Reader {
  bad: bool = false;

  constructor(private at: usize, private end: usize) {}

  peek(): u8 {
    while (this.at < this.end && load<u8>(this.at) <= 0x20) this.at++;
    if (this.at >= this.end) this.bad = true;
    return this.bad ? 0 : load<u8>(this.at);
  }

  eat(c: u8): bool {
    if (this.peek() != c) return false;
    this.at++;
    return true;
  }

  need(c: u8): void {
    if (!this.eat(c)) this.bad = true;
  }

  /** Walks an object or array: while (r.more(first, close)) first = false. */
  more(first: bool, close: u8): bool {
    if (this.bad || this.eat(close)) return false;
    if (!first) this.need(0x2c);
    return !this.bad;
  }

  string(): string {
    this.need(0x22);
    const from = this.at;
    let plain = true;
    while (this.at < this.end) {
      const c = load<u8>(this.at);
      if (c == 0x22) break;
      if (c == 0x5c) {
        plain = false;
        this.at++;
      }
      this.at++;
    }
    if (this.bad || this.at >= this.end) {
      this.bad = true;
      return "";
    }
    const s = String.UTF8.decodeUnsafe(from, this.at - from);
    this.at++;
    return plain ? s : unescape(s);
  }

  key(): string {
    const k = this.string();
    this.need(0x3a);
    return k;
  }

  int(): i64 {
    const minus = this.eat(0x2d);
    let n: i64 = 0;
    while (this.at < this.end && <u8>(load<u8>(this.at) - 0x30) <= 9) {
      n = n * 10 + (load<u8>(this.at) - 0x30);
      this.at++;
    }
    return minus ? -n : n;
  }

  bool(): bool {
    const yes = this.peek() == 0x74;
    this.skip();
    return yes;
  }

  /** Passes any value. */
  skip(): void {
    let depth = 0;
    do {
      const c = this.peek();
      if (c == 0x22) this.skipString();
      else if (c == 0x7b || c == 0x5b) { depth++; this.at++; }
      else if (c == 0x7d || c == 0x5d) { depth--; this.at++; }
      else if (c == 0x2c || c == 0x3a) this.at++;
      else this.skipScalar();
    } while (depth > 0 && !this.bad);
  }

  private skipString(): void {
    this.at++;
    while (this.at < this.end && load<u8>(this.at) != 0x22) {
      this.at += load<u8>(this.at) == 0x5c ? 2 : 1;
    }
    this.at++;
  }

  private skipScalar(): void {
    while (this.at < this.end) {
      const c = load<u8>(this.at);
      if (c <= 0x20 || c == 0x2c || c == 0x7d || c == 0x5d) return;
      this.at++;
    }
  }

  raw(): string {
    this.peek();
    const from = this.at;
    this.skip();
    return this.bad ? "null" : String.UTF8.decodeUnsafe(from, this.at - from);
  }

  strings(): string[] {
    const all: string[] = [];
    this.need(0x5b);
    for (let first = true; this.more(first, 0x5d); first = false) all.push(this.string());
    return all;
  }

  agent(): Agent {
    const a = new Agent();
    this.need(0x7b);
    for (let first = true; this.more(first, 0x7d); first = false) {
      const k = this.key();
      if (k == "id") a.id = this.string();
      else if (k == "name") a.name = this.string();
      else if (k == "kind") a.kind = this.string();
      else if (k == "role") a.role = this.string();
      else if (k == "domains") a.domains = this.strings();
      else if (k == "eligible") a.eligible = this.bool();
      else if (k == "ineligible_reason") a.ineligibleReason = this.string();
      else if (k == "turns") a.turns = this.int();
      else if (k == "last_turn") a.lastTurn = this.int();
      else if (k == "failures") a.failures = this.int();
      else if (k == "unread") a.unread = this.int();
      else this.skip();
    }
    return a;
  }

  event(): Event {
    const e = new Event();
    this.need(0x7b);
    for (let first = true; this.more(first, 0x7d); first = false) {
      const k = this.key();
      if (k == "seq") e.seq = this.int();
      else if (k == "turn") e.turn = this.int();
      else if (k == "from") e.from = this.string();
      else if (k == "to") e.to = this.strings();
      else if (k == "kind") e.kind = this.string();
      else if (k == "text") e.text = this.string();
      else if (k == "mentions") e.mentions = this.strings();
      else if (k == "addressed") e.addressed = this.strings();
      else this.skip();
    }
    return e;
  }

  input(): Input {
    const i = new Input();
    this.need(0x7b);
    for (let first = true; this.more(first, 0x7d); first = false) {
      const k = this.key();
      if (k == "init") i.init = this.bool();
      else if (k == "decision") i.decision = this.int();
      else if (k == "turn") i.turn = this.int();
      else if (k == "now_ms") i.nowMs = this.int();
      else if (k == "objective") i.objective = this.string();
      else if (k == "state") i.state = this.raw();
      else if (k == "agents") {
        this.need(0x5b);
        for (let one = true; this.more(one, 0x5d); one = false) i.agents.push(this.agent());
      } else if (k == "events") {
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

/** Where the host writes: outside of what the runtime hands out. */
export function alloc(size: u32): usize {
  return heap.alloc(size);
}

/** Reads the input and returns place and length of decide's answer. */
export function answer(at: usize, len: u32, decide: (input: Input) => string): u64 {
  const reader = new Reader(at, at + len);
  const input = reader.input();
  if (reader.bad) return 0;
  const out = String.UTF8.encode(decide(input));
  return (<u64>changetype<usize>(out) << 32) | <u64>out.byteLength;
}
