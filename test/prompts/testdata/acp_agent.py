"""An agent of the Agent Client Protocol that writes each prompt to the file ASKED, and answers "noted"."""
import json
import os
import sys

for line in sys.stdin:
    call = json.loads(line)
    result = {"protocolVersion": 1}
    if call["method"] == "session/new":
        result = {"sessionId": "s"}
    elif call["method"] == "session/prompt":
        with open(os.environ["ASKED"], "a", encoding="utf-8") as asked:
            asked.write(json.dumps([block["text"] for block in call["params"]["prompt"]]) + "\n")
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "noted"}}
        print(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}))
        result = {"stopReason": "end_turn"}
    print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
