/* roompolicy.h: the SDK for policies in C. It needs no C library.
 *
 * Include it in one file, write roompolicy_decide_input, and build as the
 * README says. The SDK exports the functions that a host calls, decodes the
 * input into plain structs, and encodes the answer. Texts keep the escapes of
 * the JSON: two texts are equal if their bytes are equal, and a text that is
 * copied into an answer needs no further escape.
 *
 * Memory: each decision runs in a new instance, so nothing is freed. */
#ifndef ROOMPOLICY_H
#define ROOMPOLICY_H

typedef unsigned char rp_byte;
typedef unsigned int rp_u32;
typedef unsigned long long rp_u64;
typedef long long rp_i64;
typedef _Bool rp_bool;

/* A piece of JSON text. */
typedef struct { const char *at; rp_u32 len; } rp_text;
typedef struct { rp_text *all; rp_u32 len, cap; } rp_texts;

/* An open task; after has the ids of the tasks that it waits for. */
typedef struct {
    rp_text id, title, state;
    rp_texts after;
} rp_task;

typedef struct {
    rp_text id, name, kind, role, ineligible_reason;
    rp_text presence; /* live, idle or away, of an agent session that comes by itself; empty for all others */
    rp_texts domains;
    rp_bool eligible;
    rp_i64 turns, last_turn, failures, tokens, avg_ms, unread;
    rp_i64 followed_last, followed_last_two; /* how often it spoke next after these speakers */
    rp_task *tasks;                          /* the open tasks that it owns */
    rp_u32 tasks_len, tasks_cap;
} rp_agent;

typedef struct {
    rp_i64 seq, turn, bytes;
    rp_text from, kind, text;
    rp_texts to, mentions, addressed;
    rp_texts silent; /* participants that could have spoken here and did not */
    rp_bool truncated;
} rp_event;

/* The wish of an agent that another one goes on. */
typedef struct { rp_text from, to, reason; } rp_handoff;

typedef struct {
    rp_bool init, truncated;
    rp_i64 decision, turn, now_ms;
    rp_i64 max_turns, turns_left, tokens_left, ms_left; /* limits; -1: none */
    rp_text room, seed, objective, config, state;       /* config and state: any JSON */
    rp_texts constraints;
    rp_agent *agents;
    rp_u32 agents_len, agents_cap;
    rp_event *events;
    rp_u32 events_len, events_cap;
    rp_handoff handoff; /* to is empty if there is none */
    rp_text replaced;   /* the agent that the previous decision chose, if the room took another one; or empty */
} rp_input;

/* You write this function: answer in with rp_speak or rp_decline. */
void roompolicy_decide_input(const rp_input *in);

/* ---- memory ---- */

extern rp_byte __heap_base;
static rp_u32 rp_top;

static void *rp_alloc(rp_u32 size) {
    rp_u32 at = ((rp_top ? rp_top : (rp_u32)&__heap_base) + 15u) & ~15u;
    rp_u32 have = (rp_u32)__builtin_wasm_memory_size(0) << 16;
    if (size > 0x7fffffffu - at) return 0;
    if (at + size > have && __builtin_wasm_memory_grow(0, (at + size - have + 65535u) >> 16) == (__SIZE_TYPE__)-1) return 0;
    rp_top = at + size;
    return (void *)at;
}

/* RP_MORE is the place of the next element of an array. */
#define RP_MORE(all, len, cap) ((all) = rp_room(all, len, &(cap), sizeof *(all)), &(all)[(len)++])

static void *rp_room(void *all, rp_u32 len, rp_u32 *cap, rp_u32 size) {
    if (len < *cap) return all;
    rp_u32 more = *cap ? *cap * 2 : 8;
    void *bigger = rp_alloc(more * size);
    if (!bigger) __builtin_trap();
    __builtin_memcpy(bigger, all, len * size);
    *cap = more;
    return bigger;
}

/* ---- texts ---- */

#define RP(literal) ((rp_text){literal, sizeof(literal) - 1})

/* rp_word reads eight bytes in little-endian order. */
static inline rp_u64 rp_word(const char *p) {
    rp_u64 w;
    __builtin_memcpy(&w, p, 8);
    return w;
}

static inline rp_bool rp_same(const char *a, const char *b, rp_u32 len) {
    rp_u32 i = 0;
    for (; i + 8 <= len; i += 8)
        if (rp_word(a + i) != rp_word(b + i)) return 0;
    for (; i < len; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

static inline rp_bool rp_equal(rp_text a, rp_text b) { return a.len == b.len && rp_same(a.at, b.at, a.len); }

static const rp_agent *rp_find(const rp_input *in, rp_text id) {
    for (rp_u32 i = 0; i < in->agents_len; i++)
        if (rp_equal(in->agents[i].id, id)) return &in->agents[i];
    return 0;
}

/* rp_last_said returns the newest message event, or 0. */
static const rp_event *rp_last_said(const rp_input *in) {
    for (rp_u32 i = in->events_len; i-- > 0;) {
        const rp_event *e = &in->events[i];
        if (rp_equal(e->kind, RP("message")) || rp_equal(e->kind, RP("human"))) return e;
    }
    return 0;
}

/* ---- reading ----
 *
 * A reader takes a pointer to the start of its value and returns its end. Zeros
 * follow the input, so that the readers need no check for the end at each byte.
 * Invalid input ends at these zeros, which are invalid at every position.
 * A host writes no spaces between values; if one does, rp_decide removes them. */

#define RP_INLINE static inline __attribute__((always_inline))
#define RP_APART static __attribute__((noinline))
#define RP_BEHIND 16 /* zeros */

static const char *rp_end;
static rp_bool rp_bad;

RP_APART const char *rp_fail(void) {
    rp_bad = 1;
    return rp_end;
}

RP_INLINE const char *rp_need(const char *p, char c) { return *p == c ? p + 1 : rp_fail(); }

/* RP_STARTS reports whether the literal is at p. The compiler reduces it to one
 * or two comparisons of words. */
#define RP_STARTS(p, literal) rp_starts(p, literal, sizeof(literal) - 1)

RP_INLINE rp_u64 rp_packed(const char *literal, rp_u32 len) {
    rp_u64 w = 0;
    for (rp_u32 i = 0; i < 8 && i < len; i++) w |= (rp_u64)(rp_byte)literal[i] << 8 * i;
    return w;
}

RP_INLINE rp_bool rp_starts(const char *p, const char *literal, rp_u32 len) {
    if (len < 8) return (rp_word(p) & (((rp_u64)1 << 8 * len) - 1)) == rp_packed(literal, len);
    for (rp_u32 i = 0; i + 8 < len; i += 8)
        if (rp_word(p + i) != rp_packed(literal + i, 8)) return 0;
    return rp_word(p + len - 8) == rp_packed(literal + len - 8, 8);
}

/* rp_plain counts the bytes before a " or a \ among the eight at p. */
RP_INLINE rp_u32 rp_plain(const char *p) {
    const rp_u64 ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    rp_u64 w = rp_word(p), quote = w ^ ones * '"', slash = w ^ ones * '\\';
    rp_u64 stop = (((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops; /* its lowest bit is in the first zero byte */
    return (stop ? (rp_u32)__builtin_ctzll(stop) : 64) >> 3;
}

RP_APART const char *rp_long_string(const char *from, rp_text *t) {
    for (const char *p = from; p < rp_end;) {
        rp_u32 plain = rp_plain(p);
        p += plain;
        if (plain == 8) continue;
        if (*p == '"') {
            *t = (rp_text){from, (rp_u32)(p - from)};
            return p + 1;
        }
        p += 2;
    }
    return rp_fail();
}

RP_INLINE const char *rp_string(const char *p, rp_text *t) {
    const char *from = rp_need(p, '"');
    p = from + rp_plain(from);
    if (*p != '"') return rp_long_string(from, t);
    *t = (rp_text){from, (rp_u32)(p - from)};
    return p + 1;
}

RP_APART const char *rp_long_int(const char *p, rp_i64 *n) {
    rp_bool minus = *p == '-';
    const char *from = p += minus;
    rp_i64 v = 0;
    for (; *p >= '0' && *p <= '9'; p++) v = v * 10 + (*p - '0');
    *n = minus ? -v : v;
    return p > from ? p : rp_fail();
}

RP_INLINE const char *rp_int(const char *p, rp_i64 *n) {
    rp_u32 digit = (rp_u32)*p - '0';
    if (digit > 9 || p[1] != ',') return rp_long_int(p, n);
    *n = digit; /* most numbers have one digit */
    return p + 1;
}

RP_INLINE const char *rp_true(const char *p, rp_bool *yes) {
    *yes = RP_STARTS(p, "true");
    return *yes ? p + 4 : RP_STARTS(p, "false") ? p + 5 : rp_fail();
}

/* rp_scalar skips a number, true, false or null. */
static const char *rp_scalar(const char *p) {
    const char *from = p;
    while (*p > ' ' && *p != ',' && *p != '}' && *p != ']') p++;
    return p > from ? p : rp_fail();
}

/* rp_value skips any value and returns its text. */
RP_APART const char *rp_value(const char *p, rp_text *t) {
    const char *from = p;
    rp_u32 depth = 0;
    do {
        if (*p == '"') p = rp_string(p, t);
        else if (*p == '{' || *p == '[') p++, depth++;
        else if (depth && (*p == '}' || *p == ']')) p++, depth--;
        else if (depth && (*p == ',' || *p == ':')) p++;
        else p = rp_scalar(p);
    } while (depth && !rp_bad);
    *t = (rp_text){from, (rp_u32)(p - from)};
    return p;
}

/* rp_open returns the bracket before the first member of an object or array, or
 * the closing bracket if there are no members. A member follows that bracket or
 * a comma. */
RP_INLINE const char *rp_open(const char *p, const char *pair) {
    return *p != pair[0] ? rp_fail() : p[1] == pair[1] ? p + 1 : p;
}

/* RP_ARRAY reads the elements of the array at p, and returns. */
#define RP_ARRAY(element) \
    for (p = rp_open(p, "[]"); *p != ']' && (p++, *(p = element) == ',');) continue; \
    return rp_need(p, ']')

/* RP_OBJECT reads the members of the object at p, and returns. A host writes
 * them in a fixed order, so each RP_KEY first looks where the previous member
 * ended. A further pass finds members in another order, and RP_END skips
 * members that the SDK does not read. */
#define RP_OBJECT const char *member; for (p = rp_open(p, "{}"); *(member = p) != '}';) {
#define RP_KEY(key, value) if (RP_STARTS(p + 1, "\"" key "\":")) if (p += sizeof(key) + 3, *(p = value) != ',') break;
#define RP_END if (p == member && *(p = rp_other(p + 1)) != ',') break; } return rp_need(p, '}')

RP_APART const char *rp_other(const char *p) {
    rp_text t;
    return rp_value(rp_need(rp_string(p, &t), ':'), &t);
}

/* RP_ZERO clears a struct; memory.fill is slower for so few bytes. */
#define RP_ZERO(at) for (rp_u64 *w = (rp_u64 *)(at); w < (rp_u64 *)((at) + 1); w++) *w = 0

RP_APART const char *rp_some_strings(const char *p, rp_texts *t) {
    RP_ARRAY(rp_string(p, RP_MORE(t->all, t->len, t->cap)));
}

RP_INLINE const char *rp_strings(const char *p, rp_texts *t) {
    return RP_STARTS(p, "[]") ? p + 2 : rp_some_strings(p, t); /* most are empty */
}

RP_INLINE const char *rp_read_followed(const char *p, rp_agent *a) {
    RP_OBJECT
    RP_KEY("last", rp_int(p, &a->followed_last)) RP_KEY("last_two", rp_int(p, &a->followed_last_two))
    RP_END;
}

static const char *rp_read_task(const char *p, rp_task *t) {
    *t = (rp_task){0};
    RP_OBJECT
    RP_KEY("id", rp_string(p, &t->id)) RP_KEY("title", rp_string(p, &t->title))
    RP_KEY("state", rp_string(p, &t->state)) RP_KEY("after", rp_strings(p, &t->after))
    RP_END;
}

RP_APART const char *rp_read_tasks(const char *p, rp_agent *a) {
    RP_ARRAY(rp_read_task(p, RP_MORE(a->tasks, a->tasks_len, a->tasks_cap)));
}

RP_APART const char *rp_read_handoff(const char *p, rp_handoff *h) {
    RP_OBJECT
    RP_KEY("from", rp_string(p, &h->from)) RP_KEY("to", rp_string(p, &h->to)) RP_KEY("reason", rp_string(p, &h->reason))
    RP_END;
}

static const char *rp_read_agent(const char *p, rp_agent *a) {
    RP_ZERO(a);
    RP_OBJECT
    RP_KEY("id", rp_string(p, &a->id)) RP_KEY("name", rp_string(p, &a->name))
    RP_KEY("kind", rp_string(p, &a->kind)) RP_KEY("role", rp_string(p, &a->role))
    RP_KEY("domains", rp_strings(p, &a->domains))
    RP_KEY("eligible", rp_true(p, &a->eligible))
    RP_KEY("ineligible_reason", rp_string(p, &a->ineligible_reason))
    RP_KEY("presence", rp_string(p, &a->presence))
    RP_KEY("turns", rp_int(p, &a->turns)) RP_KEY("last_turn", rp_int(p, &a->last_turn))
    RP_KEY("failures", rp_int(p, &a->failures)) RP_KEY("tokens", rp_int(p, &a->tokens))
    RP_KEY("avg_ms", rp_int(p, &a->avg_ms)) RP_KEY("unread", rp_int(p, &a->unread))
    RP_KEY("followed", rp_read_followed(p, a))
    RP_KEY("tasks", rp_read_tasks(p, a))
    RP_END;
}

static const char *rp_read_event(const char *p, rp_event *e) {
    RP_ZERO(e);
    RP_OBJECT
    RP_KEY("seq", rp_int(p, &e->seq)) RP_KEY("turn", rp_int(p, &e->turn))
    RP_KEY("from", rp_string(p, &e->from)) RP_KEY("to", rp_strings(p, &e->to))
    RP_KEY("kind", rp_string(p, &e->kind)) RP_KEY("text", rp_string(p, &e->text))
    RP_KEY("truncated", rp_true(p, &e->truncated))
    RP_KEY("mentions", rp_strings(p, &e->mentions)) RP_KEY("addressed", rp_strings(p, &e->addressed))
    RP_KEY("bytes", rp_int(p, &e->bytes))
    RP_KEY("silent", rp_strings(p, &e->silent))
    RP_END;
}

static const char *rp_read_agents(const char *p, rp_input *in) {
    RP_ARRAY(rp_read_agent(p, RP_MORE(in->agents, in->agents_len, in->agents_cap)));
}

static const char *rp_read_events(const char *p, rp_input *in) {
    RP_ARRAY(rp_read_event(p, RP_MORE(in->events, in->events_len, in->events_cap)));
}

static const char *rp_read_limits(const char *p, rp_input *in) {
    RP_OBJECT
    RP_KEY("max_turns", rp_int(p, &in->max_turns)) RP_KEY("turns_left", rp_int(p, &in->turns_left))
    RP_KEY("tokens_left", rp_int(p, &in->tokens_left)) RP_KEY("ms_left", rp_int(p, &in->ms_left))
    RP_END;
}

static const char *rp_read_input(const char *p, rp_input *in) {
    RP_ZERO(in);
    RP_OBJECT
    RP_KEY("abi", rp_scalar(p)) RP_KEY("init", rp_true(p, &in->init))
    RP_KEY("room", rp_string(p, &in->room))
    RP_KEY("decision", rp_int(p, &in->decision)) RP_KEY("turn", rp_int(p, &in->turn))
    RP_KEY("now_ms", rp_int(p, &in->now_ms))
    RP_KEY("seed", rp_string(p, &in->seed)) RP_KEY("objective", rp_string(p, &in->objective))
    RP_KEY("constraints", rp_strings(p, &in->constraints)) RP_KEY("config", rp_value(p, &in->config))
    RP_KEY("limits", rp_read_limits(p, in))
    RP_KEY("agents", rp_read_agents(p, in)) RP_KEY("events", rp_read_events(p, in))
    RP_KEY("handoff", rp_read_handoff(p, &in->handoff))
    RP_KEY("replaced", rp_string(p, &in->replaced))
    RP_KEY("truncated", rp_true(p, &in->truncated)) RP_KEY("state", rp_value(p, &in->state))
    RP_END;
}

/* rp_squeeze removes the spaces between values from the input at p. */
static void rp_squeeze(char *p) {
    rp_bool inside = 0;
    char *to = p;
    for (; p < rp_end; p++) {
        if (!inside && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) continue;
        if (*p == '"') inside = !inside;
        *to++ = *p;
        if (*p == '\\' && p + 1 < rp_end) *to++ = *++p;
    }
    __builtin_memset(to, 0, (rp_u32)(p - to));
    rp_end = to;
}

/* ---- writing ---- */

static char *rp_out;
static rp_u32 rp_out_len, rp_out_cap;

static void rp_put(rp_text t) {
    while (rp_out_len + t.len > rp_out_cap) {
        rp_u32 cap = rp_out_cap ? rp_out_cap * 2 : 1024;
        char *bigger = rp_alloc(cap);
        if (!bigger) __builtin_trap();
        __builtin_memcpy(bigger, rp_out, rp_out_len);
        rp_out = bigger;
        rp_out_cap = cap;
    }
    for (rp_u32 i = 0; i < t.len; i++) rp_out[rp_out_len++] = t.at[i]; /* memory.copy is slower for so few bytes */
}

/* rp_speak_because chooses id as the next speaker; the reason is n texts joined. */
static void rp_speak_because(rp_text id, const rp_text *why, rp_u32 n) {
    rp_put(RP("{\"action\":\"speak\",\"agent\":\""));
    rp_put(id);
    rp_put(RP("\",\"reason\":\""));
    for (rp_u32 i = 0; i < n; i++) rp_put(why[i]);
    rp_put(RP("\"}"));
}

/* rp_speak is the same for a reason of three texts. */
static void rp_speak(rp_text id, rp_text a, rp_text b, rp_text c) {
    rp_text why[] = {a, b, c};
    rp_speak_because(id, why, 3);
}

static void rp_decline(rp_text reason) {
    rp_put(RP("{\"action\":\"decline\",\"reason\":\""));
    rp_put(reason);
    rp_put(RP("\"}"));
}

/* ---- exports for the host ---- */

#define RP_EXPORT(name) __attribute__((export_name(name)))

RP_EXPORT("roompolicy_abi_1") void rp_abi_1(void) {}

RP_EXPORT("roompolicy_alloc") rp_u32 rp_export_alloc(rp_u32 size) {
    return size > 0x7ffffff0u ? 0 : (rp_u32)rp_alloc(size + RP_BEHIND);
}

RP_EXPORT("roompolicy_decide") rp_u64 rp_decide(rp_u32 at, rp_u32 len) {
    rp_input in;
    rp_end = (const char *)at + len;
    __builtin_memset((char *)rp_end, 0, RP_BEHIND);
    rp_out_len = 0;
    for (rp_bool again = 0;; again = 1) {
        rp_bad = 0;
        if (rp_read_input((const char *)at, &in) == rp_end && !rp_bad) break;
        if (again) return 0;
        rp_squeeze((char *)at);
    }
    roompolicy_decide_input(&in);
    return (rp_u64)(rp_u32)rp_out << 32 | rp_out_len;
}

#endif
