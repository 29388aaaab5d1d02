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

/* ---- reading ----
 *
 * A reader takes where its value starts and returns where it ends. Behind the
 * input there are zeros, so that nobody has to ask at every byte whether it is
 * the last one. What is wrong leads to these zeros, which are wrong everywhere. */

#define RP_INLINE static inline __attribute__((always_inline))
#define RP_BEHIND 16 /* zeros */

static const char *rp_end;
static rp_bool rp_bad;

static __attribute__((noinline)) const char *rp_fail(void) {
    rp_bad = 1;
    return rp_end;
}

RP_INLINE const char *rp_space(const char *p) {
    while (*p <= ' ' && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) p++;
    return p;
}

RP_INLINE const char *rp_need(const char *p, char c) {
    p = rp_space(p);
    return *p == c ? p + 1 : rp_fail();
}

/* rp_word reads eight bytes, the first one lowest. */
RP_INLINE rp_u64 rp_word(const char *p) {
    rp_u64 w;
    __builtin_memcpy(&w, p, 8);
    return w;
}

/* rp_zero marks the first byte of w that is zero by its top bit, and perhaps
 * some behind it. */
RP_INLINE rp_u64 rp_zero(rp_u64 w) { return (w - 0x0101010101010101u) & ~w & 0x8080808080808080u; }

static const char *rp_string(const char *p, rp_text *t) {
    const char *from = rp_need(p, '"');
    for (p = from; p < rp_end; p += 2) {
        rp_u64 w, stop;
        do {
            w = rp_word(p);
            p += 8;
            stop = rp_zero(w ^ 0x2222222222222222u) | rp_zero(w ^ 0x5c5c5c5c5c5c5c5cu); /* " and \ */
        } while (!stop && p < rp_end);
        p += stop ? (int)(__builtin_ctzll(stop) >> 3) - 8 : 0;
        if (*p == '"' && p < rp_end) {
            *t = (rp_text){from, (rp_u32)(p - from)};
            return p + 1;
        }
    }
    return rp_fail();
}

static const char *rp_int(const char *p, rp_i64 *n) {
    p = rp_space(p);
    rp_bool minus = *p == '-';
    rp_i64 v = 0;
    for (p += minus; *p >= '0' && *p <= '9'; p++) v = v * 10 + (*p - '0');
    *n = minus ? -v : v;
    return p;
}

/* rp_scalar passes a number, true, false or null. */
RP_INLINE const char *rp_scalar(const char *p) {
    while (*p != ',' && *p != '}' && *p != ']' && *p > ' ') p++;
    return p;
}

/* rp_value passes any value and gives its text. */
static const char *rp_value(const char *p, rp_text *t) {
    const char *from = p = rp_space(p);
    rp_u32 depth = 0;
    do {
        p = rp_space(p);
        switch (*p) {
        case '"': p = rp_string(p, t); break;
        case '{': case '[': depth++; p++; break;
        case '}': case ']': depth--; p++; break;
        case ',': case ':': p++; break;
        default: p = *p ? rp_scalar(p) : rp_fail();
        }
    } while (depth && !rp_bad);
    *t = (rp_text){from, (rp_u32)(p - from)};
    return p;
}

RP_INLINE const char *rp_pass(const char *p) {
    rp_text t;
    return rp_value(p, &t);
}

RP_INLINE const char *rp_true(const char *p, rp_bool *yes) {
    p = rp_space(p);
    *yes = *p == 't';
    return rp_scalar(p);
}

/* rp_open enters an object or array, rp_after passes from one member to the next:
 *   for (p = rp_open(p, "[]", &more); more; p = rp_after(p, ']', &more)) ... */
RP_INLINE const char *rp_open(const char *p, const char *pair, rp_bool *more) {
    p = rp_space(rp_need(p, pair[0]));
    *more = *p != pair[1] && !rp_bad;
    return *more ? p : p + !rp_bad;
}

RP_INLINE const char *rp_after(const char *p, char close, rp_bool *more) {
    p = rp_space(p);
    *more = *p == ',' && !rp_bad;
    return *p == ',' || *p == close ? p + 1 : rp_fail();
}

/* A key: its text, and its first eight bytes as one word. */
typedef struct { rp_text text; rp_u64 word; } rp_name;

RP_INLINE const char *rp_key(const char *p, rp_name *k) {
    k->text = RP("");
    p = rp_need(rp_string(p, &k->text), ':');
    k->word = rp_word(k->text.at);
    if (k->text.len < 8) k->word &= ((rp_u64)1 << 8 * k->text.len) - 1;
    return p;
}

/* RP_IS tells whether k is a key. All of it but one comparison of words, and of
 * the rest of a long key, is worked out by the compiler. */
#define RP_IS(literal) rp_is(&k, literal, sizeof(literal) - 1)

RP_INLINE rp_bool rp_is(const rp_name *k, const char *key, rp_u32 len) {
    rp_u64 word = 0;
    for (rp_u32 i = 0; i < 8 && i < len; i++) word |= (rp_u64)(rp_byte)key[i] << 8 * i;
    return k->word == word && (len < 8 || (k->text.len == len && rp_same(k->text.at + 8, key + 8, len - 8)));
}

static const char *rp_strings(const char *p, rp_texts *t) {
    rp_bool more;
    for (p = rp_open(p, "[]", &more); more; p = rp_after(p, ']', &more)) {
        t->all = rp_room(t->all, t->len, &t->cap, sizeof(rp_text));
        p = rp_string(p, &t->all[t->len++]);
    }
    return p;
}

static const char *rp_read_agent(const char *p, rp_agent *a) {
    rp_bool more;
    *a = (rp_agent){0};
    for (p = rp_open(p, "{}", &more); more; p = rp_after(p, '}', &more)) {
        rp_name k;
        p = rp_key(p, &k);
        if (RP_IS("id")) p = rp_string(p, &a->id);
        else if (RP_IS("name")) p = rp_string(p, &a->name);
        else if (RP_IS("kind")) p = rp_string(p, &a->kind);
        else if (RP_IS("role")) p = rp_string(p, &a->role);
        else if (RP_IS("turns")) p = rp_int(p, &a->turns);
        else if (RP_IS("unread")) p = rp_int(p, &a->unread);
        else if (RP_IS("domains")) p = rp_strings(p, &a->domains);
        else if (RP_IS("eligible")) p = rp_true(p, &a->eligible);
        else if (RP_IS("failures")) p = rp_int(p, &a->failures);
        else if (RP_IS("last_turn")) p = rp_int(p, &a->last_turn);
        else if (RP_IS("ineligible_reason")) p = rp_string(p, &a->ineligible_reason);
        else p = rp_pass(p);
    }
    return p;
}

static const char *rp_read_event(const char *p, rp_event *e) {
    rp_bool more;
    *e = (rp_event){0};
    for (p = rp_open(p, "{}", &more); more; p = rp_after(p, '}', &more)) {
        rp_name k;
        p = rp_key(p, &k);
        if (RP_IS("seq")) p = rp_int(p, &e->seq);
        else if (RP_IS("turn")) p = rp_int(p, &e->turn);
        else if (RP_IS("from")) p = rp_string(p, &e->from);
        else if (RP_IS("to")) p = rp_strings(p, &e->to);
        else if (RP_IS("kind")) p = rp_string(p, &e->kind);
        else if (RP_IS("text")) p = rp_string(p, &e->text);
        else if (RP_IS("mentions")) p = rp_strings(p, &e->mentions);
        else if (RP_IS("addressed")) p = rp_strings(p, &e->addressed);
        else p = rp_pass(p);
    }
    return p;
}

static const char *rp_read_agents(const char *p, rp_input *in) {
    rp_bool more;
    for (p = rp_open(p, "[]", &more); more; p = rp_after(p, ']', &more)) {
        in->agents = rp_room(in->agents, in->agents_len, &in->agents_cap, sizeof(rp_agent));
        p = rp_read_agent(p, &in->agents[in->agents_len++]);
    }
    return p;
}

static const char *rp_read_events(const char *p, rp_input *in) {
    rp_bool more;
    for (p = rp_open(p, "[]", &more); more; p = rp_after(p, ']', &more)) {
        in->events = rp_room(in->events, in->events_len, &in->events_cap, sizeof(rp_event));
        p = rp_read_event(p, &in->events[in->events_len++]);
    }
    return p;
}

static const char *rp_read_input(const char *p, rp_input *in) {
    rp_bool more;
    for (p = rp_open(p, "{}", &more); more; p = rp_after(p, '}', &more)) {
        rp_name k;
        p = rp_key(p, &k);
        if (RP_IS("init")) p = rp_true(p, &in->init);
        else if (RP_IS("turn")) p = rp_int(p, &in->turn);
        else if (RP_IS("now_ms")) p = rp_int(p, &in->now_ms);
        else if (RP_IS("state")) p = rp_value(p, &in->state);
        else if (RP_IS("agents")) p = rp_read_agents(p, in);
        else if (RP_IS("events")) p = rp_read_events(p, in);
        else if (RP_IS("decision")) p = rp_int(p, &in->decision);
        else if (RP_IS("objective")) p = rp_string(p, &in->objective);
        else p = rp_pass(p);
    }
    return p;
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

RP_EXPORT("roompolicy_alloc") rp_u32 rp_export_alloc(rp_u32 size) {
    return size > 0x7ffffff0u ? 0 : (rp_u32)rp_alloc(size + RP_BEHIND);
}

RP_EXPORT("roompolicy_decide") rp_u64 rp_decide(rp_u32 at, rp_u32 len) {
    rp_input in = {0};
    rp_end = (const char *)at + len;
    __builtin_memset((char *)rp_end, 0, RP_BEHIND);
    rp_bad = 0;
    rp_out_len = 0;
    rp_read_input((const char *)at, &in);
    if (rp_bad) return 0;
    roompolicy_decide_input(&in);
    return (rp_u64)(rp_u32)rp_out << 32 | rp_out_len;
}

#endif
