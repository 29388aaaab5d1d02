// A person ends a call. The call may be one of this room, or of a child room below it.
import { post } from "./api.js";
import { ask } from "./dialogs.js";

// cancelCall asks for a reason and ends a call and all below it.
export async function cancelCall(room, call) {
  const got = await ask({
    title: `Cancel the call of ${room.name(call.agent_name)}, and all calls below it`, label: "Reason (optional)", actions: [{ label: "Cancel the call", value: "cancel" }],
  });
  if (!got) return;
  const own = call.chain.at(-1).room, as = own === room.id ? room.you : "";
  try {
    await post(`/api/rooms/${encodeURIComponent(own)}/commands`, { id: crypto.randomUUID(), as: as || undefined, do: "cancelcall", call: call.call_id, reason: got.text || undefined });
  } catch (problem) {
    room.fail(problem);
  }
}
