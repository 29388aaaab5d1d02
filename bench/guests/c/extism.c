/* The author kit's policy in C as a guest of Extism. The imports are the ones
 * that Extism's PDKs use; input and output pass eight bytes a call, as there. */
#include "../../../policies/templates/c/policy.c"

#define IMPORT(name) __attribute__((import_module("extism:host/env"), import_name(name)))
IMPORT("input_length") rp_u64 extism_input_length(void);
IMPORT("input_load_u64") rp_u64 extism_input_load_u64(rp_u64 at);
IMPORT("input_load_u8") rp_u32 extism_input_load_u8(rp_u64 at);
IMPORT("alloc") rp_u64 extism_alloc(rp_u64 size);
IMPORT("store_u64") void extism_store_u64(rp_u64 at, rp_u64 value);
IMPORT("store_u8") void extism_store_u8(rp_u64 at, rp_u32 value);
IMPORT("output_set") void extism_output_set(rp_u64 at, rp_u64 size);

static void fetch(char *to, rp_u32 len) {
    rp_u32 i = 0;
    for (; i + 8 <= len; i += 8) {
        rp_u64 v = extism_input_load_u64(i);
        __builtin_memcpy(to + i, &v, 8);
    }
    for (; i < len; i++) to[i] = (char)extism_input_load_u8(i);
}

static void answer(const char *from, rp_u32 len) {
    rp_u64 at = extism_alloc(len);
    rp_u32 i = 0;
    for (; i + 8 <= len; i += 8) {
        rp_u64 v;
        __builtin_memcpy(&v, from + i, 8);
        extism_store_u64(at + i, v);
    }
    for (; i < len; i++) extism_store_u8(at + i, (rp_byte)from[i]);
    extism_output_set(at, len);
}

RP_EXPORT("decide") rp_u32 decide(void) {
    rp_top = rp_out_cap = 0; /* the instance is used again */
    rp_u32 len = (rp_u32)extism_input_length();
    char *in = rp_alloc(len + RP_BEHIND);
    if (!in) return 1;
    fetch(in, len);
    rp_u64 out = rp_decide((rp_u32)in, len);
    if (!out) return 1;
    answer((const char *)(rp_u32)(out >> 32), (rp_u32)out);
    return 0;
}
