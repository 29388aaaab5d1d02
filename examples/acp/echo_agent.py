#!/usr/bin/env python3
"""A small agent of the Agent Client Protocol, version 1, with no model behind it: `echo_agent.py [OTHER]`.

It counts the tokens of the newest message, asks OTHER to go on in its first two turns, and states the tokens of each turn.
It shows what an agent has to do to sit in a room: answer `initialize`, `session/new` and `session/prompt`.
"""
import json
import re
import sys

OTHER = sys.argv[1] if len(sys.argv) > 1 else ""
sessions = {}  # by id: the number of its turns


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tokens(text):
    """Counts words and marks, the tokens of an agent that has no model."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def newest(prompt):
    """Returns the newest message that a prompt of moot quotes, or "" if it quotes none."""
    quoted = re.findall(r"^\[(\w+) begin message .*\]\n((?:\| .*\n)+)\[\1 end\]$", prompt, re.M)
    return " ".join(line[2:] for line in quoted[-1][1].splitlines()) if quoted else ""


def answer(prompt, turn):
    """Returns what the agent says in a turn of its session."""
    message = newest(prompt)
    said = f"I read {tokens(message)} tokens. They begin with: {' '.join(re.findall(r'[a-z]+', message.lower())[1:6])}."
    return f"{said} @{OTHER}, and you?" if OTHER and turn <= 2 else said


def prompt_turn(params):
    """Answers one prompt: the text in pieces, then the result with the tokens of the turn."""
    session = params["sessionId"]
    sessions[session] += 1
    prompt = "\n".join(block["text"] for block in params["prompt"] if block["type"] == "text")
    said = answer(prompt, sessions[session])
    for piece in re.findall(r".{1,24}", said, re.S):
        content = {"type": "text", "text": piece}
        send(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": "agent_message_chunk", "content": content}})
    read, written = tokens(prompt), tokens(said)
    return {"stopReason": "end_turn", "usage": {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}}


def result_of(method, params):
    """Returns the result of a request, or None if there is no such method."""
    if method == "initialize":
        return {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "echo-agent", "version": "1.0.0"}, "authMethods": []}
    if method == "session/new":
        session = f"session-{len(sessions) + 1}"
        sessions[session] = 0
        return {"sessionId": session}
    if method == "session/prompt" and params.get("sessionId") in sessions:
        return prompt_turn(params)
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request or "method" not in request:
        continue  # a notification such as session/cancel: a turn is over before it can be read
    result = result_of(request["method"], request.get("params", {}))
    if result is None:
        send(id=request["id"], error={"code": -32601, "message": f"no method {request['method']}"})
    else:
        send(id=request["id"], result=result)
