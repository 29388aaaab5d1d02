#!/usr/bin/env python3
"""Connects an agent of the Agent Client Protocol (ACP) to a room: `acp.py COMMAND [ARGUMENT...]`.

The script reads one request of moot per line from stdin and writes exactly one answer per line to stdout. It starts COMMAND,
the agent, and talks to it in ACP version 1. Each turn is a new session, because a request has the whole context. No person is
here to grant permissions, so the script refuses every permission that the agent asks for.
"""
import json
import os
import queue
import subprocess
import sys
import threading
import time

LINE = 8 << 20  # the longest line, in bytes
START = 60  # seconds for the start of the agent
GRACE = 4  # seconds for the end of a cancelled turn; after 5 s moot kills the process group
HOW = "Answer with the text of your message alone, or with PASS alone when you have nothing to add."


class Failed(Exception):
    """The reason why a turn has no answer."""


class Agent:
    """The agent process, and a queue of lines from both sides. The agent is in the process group of the script."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.arrived, self.requests = queue.Queue(), []
        self.calls, self.results, self.session, self.said = 0, {}, None, []
        for source in sys.stdin.buffer, self.process.stdout:
            threading.Thread(target=self.read, args=[source], daemon=True).start()

    def read(self, source):
        for line in iter(lambda: source.readline(LINE), b""):
            self.arrived.put((source, line))
        self.arrived.put((source, b""))

    def step(self, until):
        """Handles one line. The script ends when either side does."""
        try:
            source, line = self.arrived.get(timeout=until and max(0, until - time.monotonic()))
        except queue.Empty:
            raise TimeoutError("the agent takes too long") from None
        if not line:
            raise SystemExit(0 if source is sys.stdin.buffer else "the agent has ended")
        if source is sys.stdin.buffer:
            self.requests.append(json.loads(line))
        elif line.lstrip().startswith(b"{"):  # other lines are logs
            message = json.loads(line)
            if "method" in message:
                self.handle(message["method"], message.get("params") or {}, message.get("id"))
            else:
                self.results[message["id"]] = message

    def handle(self, method, params, call):
        """Handles a request or notification of the agent."""
        if method == "session/update" and params["sessionId"] == self.session:
            update = params["update"]
            if update["sessionUpdate"] == "agent_message_chunk" and update["content"]["type"] == "text":
                self.said.append(update["content"]["text"])
        elif method == "session/request_permission":
            refusals = [o["optionId"] for o in params["options"] if o["kind"] == "reject_once"]
            outcome = {"outcome": "selected", "optionId": refusals[0]} if refusals else {"outcome": "cancelled"}
            self.send(id=call, result={"outcome": outcome})
        elif call is not None:
            self.send(id=call, error={"code": -32601, "message": "no such method here"})

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, method, until, **params):
        self.calls += 1
        self.send(id=self.calls, method=method, params=params)
        return self.result(until)

    def result(self, until):
        """Waits for the result of the latest call."""
        while self.calls not in self.results:
            self.step(until)
        message = self.results.pop(self.calls)
        if "error" in message:
            raise Failed(f"the agent reports: {message['error'].get('message')}")
        return message["result"]

    def turn(self, prompt, until):
        """Returns the agent's answer to a prompt of moot, which is handed on as it is, and its stop reason."""
        self.session, self.said = self.call("session/new", until, cwd=os.getcwd(), mcpServers=[])["sessionId"], []
        try:
            texts = [{"type": "text", "text": text} for text in (prompt, HOW)]
            end = self.call("session/prompt", until, sessionId=self.session, prompt=texts)
        except TimeoutError:
            self.send(method="session/cancel", params={"sessionId": self.session})
            self.result(time.monotonic() + GRACE)
            raise Failed("the agent had no answer in time") from None
        return "".join(self.said).encode(errors="replace").decode().strip(), end["stopReason"]

    def end(self):
        """Ends the agent: closes its input, then terminates it, then kills it."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        for stronger in self.process.terminate, self.process.kill:
            try:
                self.process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                stronger()
        self.process.wait()


def answer(agent, request):
    """Returns the one answer to a request, without its id."""
    limits = request["constraints"]
    until = time.monotonic() + (limits["local_turn_timeout_ms"] / 1000 or 3600)
    try:
        text, stop = agent.turn(request["prompt"], until)
    except Failed as reason:
        return {"status": "error", "draft_message": "", "reason": str(reason)}
    if stop == "refusal":
        return {"status": "ok", "draft_message": "", "reason": text, "outcome": "refused"}
    if text == "PASS":
        return {"status": "ok", "draft_message": "", "reason": "nothing to add", "outcome": "passed"}
    if not text:  # some agents end so when their model failed or a permission was refused
        return {"status": "error", "draft_message": "", "reason": f"the agent said nothing; it stopped with {stop}"}
    return {"status": "ok", "draft_message": text[: limits["max_output_chars"]], "reason": ""}


def main(command):
    agent = Agent(command)
    try:
        agent.call("initialize", time.monotonic() + START, protocolVersion=1, clientInfo={"name": "acp.py", "version": "1"},
                   clientCapabilities={"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False})
        print(json.dumps({"type": "desktop.ready"}), flush=True)  # for awaitReady in room.yaml
        while True:
            while not agent.requests:
                agent.step(None)
            request = agent.requests.pop(0)
            if request["type"] == "desktop.local_prompt.request":  # bids are not answered
                frame = {"type": "desktop.local_prompt.response", "request_id": request["request_id"]}
                print(json.dumps(frame | answer(agent, request)), flush=True)
    finally:
        agent.end()


if __name__ == "__main__":
    code = 0
    try:
        main(sys.argv[1:])
    except (Exception, SystemExit) as error:
        if error.args != (0,):  # moot shows stderr to the agent's owner
            print(f"acp.py: {error or type(error).__name__}", file=sys.stderr, flush=True)
            code = 1
    os._exit(code)  # a thread may still read
