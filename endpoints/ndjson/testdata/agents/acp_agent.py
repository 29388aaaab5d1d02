"""An agent of the Agent Client Protocol that does what the newest message names, and otherwise repeats it."""
import json
import re
import sys

session, calls = "", 0


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def update(kind, text, to=None):
    send(method="session/update", params={"sessionId": to or session, "update": {"sessionUpdate": kind, "content": {"type": "text", "text": text}}})


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return json.loads(line)


def ask(method, **params):
    """Asks the client, and returns what it says."""
    send(id="a1", method=method, params={"sessionId": session, **params})
    while (message := read()).get("id") != "a1":
        pass
    return json.dumps(message.get("result", message.get("error")))


def newest(prompt):
    """Returns the text of the last message that a prompt quotes."""
    quoted = re.findall(r"^\[(\w+) begin message .*\]\n((?:\| .*\n)+)\[\1 end\]$", prompt, re.M)[-1][1]
    return "\n".join(line[2:] for line in quoted.splitlines())


def turn(texts):
    said = newest(texts[0])
    if said == "permission":
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}]
        said = ask("session/request_permission", toolCall={"toolCallId": "t"}, options=options)
    if said == "no way to refuse":
        said = ask("session/request_permission", toolCall={"toolCallId": "t"}, options=[{"optionId": "y", "name": "Yes", "kind": "allow_always"}])
    if said == "file":
        said = ask("fs/read_text_file", path="/etc/passwd")
    if said == "sessions":
        said = session
    if said == "prompt":
        said = json.dumps(texts)
    if said == "slow":
        update("agent_message_chunk", "half of it")
        while read().get("method") != "session/cancel":
            pass
        return {"stopReason": "cancelled"}
    if said == "exit":
        print("out of memory", file=sys.stderr, flush=True)
        sys.exit(7)
    if said == "refuse":
        update("agent_message_chunk", "I will not.")
        return {"stopReason": "refusal"}
    if said == "surrogate":
        said = "\ud800!"
    if said != "silence":
        for part in re.findall(".{1,7}", said, re.S):
            update("agent_message_chunk", part)
    return {"stopReason": "end_turn"}


while True:
    call = read()
    print("\x1b[2mdebug: " + str(call.get("method")) + "\x1b[0m")  # as some agents do
    if call["method"] == "initialize":
        send(id=call["id"], result={"protocolVersion": 1})
    elif call["method"] == "session/new":
        calls += 1
        session = f"s{calls}"
        send(id=call["id"], result={"sessionId": session})
        update("available_commands_update", "none")
    elif call["method"] == "session/prompt":
        texts = [block["text"] for block in call["params"]["prompt"]]
        update("agent_message_chunk", "what was said in another session", to="s0")
        update("agent_thought_chunk", "hm")
        if newest(texts[0]) == "fail":
            send(id=call["id"], error={"code": -32603, "message": "the model is away"})
        else:
            send(id=call["id"], result=turn(texts))
