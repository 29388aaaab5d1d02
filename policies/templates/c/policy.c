/* polite: a hand-off is followed, or the addressed agent speaks next, otherwise
 * the agent that has been silent for longest. */
#include "roompolicy.h"

static const rp_agent *addressed(const rp_input *in, const rp_event *e) {
    for (rp_u32 i = 0; i < e->addressed.len; i++) {
        const rp_agent *a = rp_find(in, e->addressed.all[i]);
        if (a && a->eligible && !rp_equal(a->id, e->from)) return a;
    }
    return 0;
}

static const rp_agent *least_recent(const rp_input *in, rp_text except) {
    const rp_agent *best = 0;
    for (rp_u32 i = 0; i < in->agents_len; i++) {
        const rp_agent *a = &in->agents[i];
        if (a->eligible && !rp_equal(a->id, except) && (!best || a->last_turn < best->last_turn)) best = a;
    }
    return best;
}

void roompolicy_decide_input(const rp_input *in) {
    const rp_event *e = rp_last_said(in);
    const rp_handoff *h = &in->handoff;
    const rp_agent *a = e && rp_equal(e->kind, RP("human")) ? 0 : rp_find(in, h->to);
    if (a && a->eligible) {
        rp_text why[] = {h->from, RP(" hands off to "), a->id, RP(": "), h->reason};
        rp_speak_because(a->id, why, 5);
        return;
    }
    a = e ? addressed(in, e) : 0;
    if (a) {
        rp_speak(a->id, e->from, RP(" addressed "), a->id);
        return;
    }
    a = least_recent(in, e ? e->from : RP(""));
    if (a) rp_speak(a->id, a->id, RP(" has been silent for longest"), RP(""));
    else rp_decline(RP("nobody else can speak now"));
}
