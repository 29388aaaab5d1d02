/* Declines with all hand-offs, tasks and silences of the input. */
#include "roompolicy.h"

void roompolicy_decide_input(const rp_input *in) {
    rp_put(RP("{\"action\":\"decline\",\"reason\":\""));
    if (in->handoff.to.len) {
        rp_put(in->handoff.from);
        rp_put(RP(">"));
        rp_put(in->handoff.to);
        rp_put(RP(":"));
        rp_put(in->handoff.reason);
    }
    for (rp_u32 i = 0; i < in->agents_len; i++) {
        const rp_agent *a = &in->agents[i];
        rp_put(RP(";"));
        rp_put(a->id);
        for (rp_u32 j = 0; j < a->tasks_len; j++) {
            const rp_task *t = &a->tasks[j];
            rp_put(RP(" "));
            rp_put(t->id);
            rp_put(RP("/"));
            rp_put(t->title);
            rp_put(RP("/"));
            rp_put(t->state);
            for (rp_u32 k = 0; k < t->after.len; k++) {
                rp_put(RP("+"));
                rp_put(t->after.all[k]);
            }
        }
    }
    rp_put(RP("|"));
    rp_put(in->replaced);
    for (rp_u32 i = 0; i < in->events_len; i++) {
        const rp_event *e = &in->events[i];
        for (rp_u32 j = 0; j < e->silent.len; j++) {
            rp_put(RP("-"));
            rp_put(e->silent.all[j]);
        }
        rp_put(e->kind);
    }
    rp_put(RP("\"}"));
}
