// An agent on the official TypeScript SDK of the Agent Client Protocol. It
// echoes the end of each prompt; a prompt that contains "ask first" makes it ask
// for permission before it answers. It tests moot's own client against another
// implementation of the protocol.
import { Readable, Writable } from "node:stream";
import { randomUUID } from "node:crypto";
import * as acp from "@agentclientprotocol/sdk";

const { agent: handles, client: asks } = acp.methods;
const sessions = new Map(); // session id -> AbortController of its running turn

const textOf = (prompt) => prompt.map((block) => block.text ?? "").join("\n");
const ending = (text) => [...text].slice(-80).join("");

// permitted asks the client's user about a write, as coding agents do.
async function permitted(client, sessionId, signal) {
  const { outcome } = await client.request(asks.session.requestPermission, {
    sessionId,
    toolCall: { toolCallId: randomUUID(), title: "Write echo.txt", kind: "edit", status: "pending" },
    options: [
      { optionId: "yes", name: "Yes", kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ],
  }, { cancellationSignal: signal });
  return outcome.outcome === "selected" && outcome.optionId === "yes";
}

async function prompt({ params, client }) {
  const { sessionId } = params;
  if (!sessions.has(sessionId)) {
    throw acp.RequestError.invalidParams({ sessionId }, "there is no such session");
  }
  // A cancel that was read before this prompt is of the turn before. The SDK may
  // still be about to deliver it.
  await new Promise(setImmediate);
  const turn = new AbortController();
  sessions.set(sessionId, turn);
  const text = textOf(params.prompt);
  const messageId = randomUUID();
  const say = (text) => client.notify(asks.session.update, {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } },
  });
  if (text.includes("ask first")) {
    await say((await permitted(client, sessionId, turn.signal)) ? "With your permission: " : "Without your permission: ");
  }
  await say("echo of ");
  await say(ending(text));
  const used = { inputTokens: text.length, outputTokens: 88 };
  return {
    stopReason: turn.signal.aborted ? "cancelled" : "end_turn",
    usage: { ...used, totalTokens: used.inputTokens + used.outputTokens },
  };
}

acp.agent({ name: "echo-agent" })
  .onRequest(handles.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "echo-agent", version: "1.0.0" },
    agentCapabilities: { sessionCapabilities: { close: {} } },
  }))
  .onRequest(handles.session.new, () => {
    const sessionId = randomUUID();
    sessions.set(sessionId, new AbortController());
    return { sessionId };
  })
  .onRequest(handles.session.prompt, prompt)
  .onRequest(handles.session.close, ({ params }) => {
    sessions.get(params.sessionId)?.abort();
    sessions.delete(params.sessionId);
    return {};
  })
  .onNotification(handles.session.cancel, ({ params }) => sessions.get(params.sessionId)?.abort())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
