/* roompolicy.h: the kit for policies in C. It needs no C library.
 *
 * Include it in one file, write roompolicy_decide_input, and build as the
 * README says. The kit exports what a host calls, reads the input into plain
 * structs, and writes the answer. Texts are kept as they stand in the JSON,
 * escapes included: two texts are equal when their bytes are, and a text that
 * is copied into an answer needs no escape.
 *
 * Memory: every decision is made by a fresh instance, so nothing is freed. */
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

typedef struct {
    rp_text id, name, kind, role, ineligible_reason;
    rp_texts domains;
    rp_bool eligible;
    rp_i64 turns, last_turn, failures, unread;
} rp_agent;

typedef struct {
    rp_i64 seq, turn;
    rp_text from, kind, text;
    rp_texts to, mentions, addressed;
} rp_event;

typedef struct {
    rp_bool init;
    rp_i64 decision, turn, now_ms;
    rp_text objective, state; /* state: any JSON */
    rp_agent *agents;
    rp_u32 agents_len, agents_cap;
    rp_event *events;
    rp_u32 events_len, events_cap;
} rp_input;

/* You write this one: answer in, with rp_speak or rp_decline. */
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

/* rp_room makes room for one more element and returns the array. */
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

static inline rp_bool rp_same(const char *a, const char *b, rp_u32 len) {
    for (rp_u32 i = 0; i < len; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

static inline rp_bool rp_equal(rp_text a, rp_text b) { return a.len == b.len && rp_same(a.at, b.at, a.len); }

static const rp_agent *rp_find(const rp_input *in, rp_text id) {
    for (rp_u32 i = 0; i < in->agents_len; i++)
        if (rp_equal(in->agents[i].id, id)) return &in->agents[i];
    return 0;
}

/* rp_last_said returns the newest event in which somebody spoke, or 0. */
static const rp_event *rp_last_said(const rp_input *in) {
    for (rp_u32 i = in->events_len; i-- > 0;) {
        const rp_event *e = &in->events[i];
        if (rp_equal(e->kind, RP("message")) || rp_equal(e->kind, RP("human"))) return e;
    }
    return 0;
}

/* ---- reading ---- */

static const char *rp_p, *rp_end;
static rp_bool rp_bad;

static char rp_peek(void) {
    const char *p = rp_p, *end = rp_end;
    while (p < end && *p <= ' ' && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) p++;
    rp_p = p;
    if (p < end && !rp_bad) return *p;
    rp_bad = 1;
    return 0;
}

static rp_bool rp_eat(char c) {
    if (rp_peek() != c) return 0;
    rp_p++;
    return 1;
}

static void rp_need(char c) {
    if (!rp_eat(c)) rp_bad = 1;
}

static rp_text rp_string(void) {
    rp_need('"');
    const char *from = rp_p, *p = from, *end = rp_end;
    while (p < end && *p != '"') p += *p == '\\' ? 2 : 1;
    if (p >= end) rp_bad = 1;
    if (rp_bad) return RP("");
    rp_p = p + 1;
    return (rp_text){from, (rp_u32)(p - from)};
}

static rp_i64 rp_int(void) {
    rp_bool minus = rp_eat('-');
    rp_i64 n = 0;
    const char *p = rp_p, *end = rp_end;
    while (p < end && *p >= '0' && *p <= '9') n = n * 10 + (*p++ - '0');
    rp_p = p;
    return minus ? -n : n;
}

/* rp_scalar passes a number, true, false or null. */
static void rp_scalar(void) {
    const char *p = rp_p, *end = rp_end;
    while (p < end && *p != ',' && *p != '}' && *p != ']' && *p > ' ') p++;
    rp_p = p;
}

/* rp_value passes any value and returns its text. */
static rp_text rp_value(void) {
    rp_u32 depth = 0;
    rp_peek();
    const char *from = rp_p;
    do {
        switch (rp_peek()) {
        case '"': rp_string(); break;
        case '{': case '[': depth++; rp_p++; break;
        case '}': case ']': depth--; rp_p++; break;
        case ',': case ':': rp_p++; break;
        default: rp_scalar();
        }
    } while (depth && !rp_bad);
    return (rp_text){from, (rp_u32)(rp_p - from)};
}

static rp_bool rp_true(void) { return rp_value().len == 4; } /* null does not come where a bool is due */

/* rp_open enters an object or array; rp_more walks it:
 *   for (rp_bool first = rp_open('['); rp_more(&first, ']');) ... */
static rp_bool rp_open(char c) {
    rp_need(c);
    return 1;
}

static rp_bool rp_more(rp_bool *first, char close) {
    if (rp_bad || rp_eat(close)) return 0;
    if (!*first) rp_need(',');
    *first = 0;
    return !rp_bad;
}

static rp_text rp_key(void) {
    rp_text k = rp_string();
    rp_need(':');
    return k;
}

static rp_texts rp_strings(void) {
    rp_texts t = {0, 0, 0};
    for (rp_bool first = rp_open('['); rp_more(&first, ']');) {
        t.all = rp_room(t.all, t.len, &t.cap, sizeof(rp_text));
        t.all[t.len++] = rp_string();
    }
    return t;
}

/* The length is compared first, and it is a constant. */
#define RP_IS(literal) (k.len == sizeof(literal) - 1 && rp_same(k.at, literal, sizeof(literal) - 1))

static rp_agent rp_read_agent(void) {
    rp_agent a = {0};
    for (rp_bool first = rp_open('{'); rp_more(&first, '}');) {
        rp_text k = rp_key();
        if (RP_IS("id")) a.id = rp_string();
        else if (RP_IS("name")) a.name = rp_string();
        else if (RP_IS("kind")) a.kind = rp_string();
        else if (RP_IS("role")) a.role = rp_string();
        else if (RP_IS("domains")) a.domains = rp_strings();
        else if (RP_IS("eligible")) a.eligible = rp_true();
        else if (RP_IS("ineligible_reason")) a.ineligible_reason = rp_string();
        else if (RP_IS("turns")) a.turns = rp_int();
        else if (RP_IS("last_turn")) a.last_turn = rp_int();
        else if (RP_IS("failures")) a.failures = rp_int();
        else if (RP_IS("unread")) a.unread = rp_int();
        else rp_value();
    }
    return a;
}

static rp_event rp_read_event(void) {
    rp_event e = {0};
    for (rp_bool first = rp_open('{'); rp_more(&first, '}');) {
        rp_text k = rp_key();
        if (RP_IS("seq")) e.seq = rp_int();
        else if (RP_IS("turn")) e.turn = rp_int();
        else if (RP_IS("from")) e.from = rp_string();
        else if (RP_IS("to")) e.to = rp_strings();
        else if (RP_IS("kind")) e.kind = rp_string();
        else if (RP_IS("text")) e.text = rp_string();
        else if (RP_IS("mentions")) e.mentions = rp_strings();
        else if (RP_IS("addressed")) e.addressed = rp_strings();
        else rp_value();
    }
    return e;
}

static void rp_read_member(rp_input *in) {
    rp_text k = rp_key();
    if (RP_IS("init")) in->init = rp_true();
    else if (RP_IS("decision")) in->decision = rp_int();
    else if (RP_IS("turn")) in->turn = rp_int();
    else if (RP_IS("now_ms")) in->now_ms = rp_int();
    else if (RP_IS("objective")) in->objective = rp_string();
    else if (RP_IS("state")) in->state = rp_value();
    else if (RP_IS("agents")) {
        for (rp_bool first = rp_open('['); rp_more(&first, ']');) {
            in->agents = rp_room(in->agents, in->agents_len, &in->agents_cap, sizeof(rp_agent));
            in->agents[in->agents_len++] = rp_read_agent();
        }
    } else if (RP_IS("events")) {
        for (rp_bool first = rp_open('['); rp_more(&first, ']');) {
            in->events = rp_room(in->events, in->events_len, &in->events_cap, sizeof(rp_event));
            in->events[in->events_len++] = rp_read_event();
        }
    } else rp_value();
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
    __builtin_memcpy(rp_out + rp_out_len, t.at, t.len);
    rp_out_len += t.len;
}

/* rp_speak gives the floor to id; the reason is a then b then c. */
static void rp_speak(rp_text id, rp_text a, rp_text b, rp_text c) {
    rp_put(RP("{\"action\":\"speak\",\"agent\":\""));
    rp_put(id);
    rp_put(RP("\",\"reason\":\""));
    rp_put(a);
    rp_put(b);
    rp_put(c);
    rp_put(RP("\"}"));
}

static void rp_decline(rp_text reason) {
    rp_put(RP("{\"action\":\"decline\",\"reason\":\""));
    rp_put(reason);
    rp_put(RP("\"}"));
}

/* ---- what the host calls ---- */

#define RP_EXPORT(name) __attribute__((export_name(name)))

RP_EXPORT("roompolicy_abi_1") void rp_abi_1(void) {}

RP_EXPORT("roompolicy_alloc") rp_u32 rp_export_alloc(rp_u32 size) { return (rp_u32)rp_alloc(size); }

RP_EXPORT("roompolicy_decide") rp_u64 rp_decide(rp_u32 at, rp_u32 len) {
    rp_input in = {0};
    rp_p = (const char *)at;
    rp_end = rp_p + len;
    rp_bad = 0;
    rp_out_len = 0;
    for (rp_bool first = rp_open('{'); rp_more(&first, '}');) rp_read_member(&in);
    if (rp_bad) return 0;
    roompolicy_decide_input(&in);
    return (rp_u64)(rp_u32)rp_out << 32 | rp_out_len;
}

#endif
