/* The author kit's policy in C as a guest of waPC (https://wapc.io/docs/spec/). */
#include "../../../policies/templates/c/policy.c"

#define IMPORT(name) __attribute__((import_module("wapc"), import_name(name)))
IMPORT("__guest_request") void wapc_guest_request(char *operation, char *payload);
IMPORT("__guest_response") void wapc_guest_response(const char *at, rp_u32 len);

RP_EXPORT("__guest_call") rp_u32 guest_call(rp_u32 operation_len, rp_u32 payload_len) {
    rp_top = rp_out_cap = 0; /* the instance is used again */
    char *operation = rp_alloc(operation_len), *payload = rp_alloc(payload_len + RP_BEHIND);
    if (!operation || !payload) return 0;
    wapc_guest_request(operation, payload);
    rp_u64 out = rp_decide((rp_u32)payload, payload_len);
    if (!out) return 0;
    wapc_guest_response((const char *)(rp_u32)(out >> 32), (rp_u32)out);
    return 1;
}
