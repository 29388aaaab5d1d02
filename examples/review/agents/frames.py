"""Frames that an agent exchanges with a room, standard library only."""
import json
import re
import sys


def ask(frame):
    """Send a frame that the room answers, such as desktop.message with a message_id, and return the answer."""
    print(json.dumps(frame), flush=True)
    return json.loads(sys.stdin.readline())


def post(to, kind, message_id, **fields):
    """Post a typed message. Return why the room refuses it, or an empty text."""
    answer = ask({"type": "desktop.message", "to": to, "kind": kind, "message_id": message_id, **fields})
    return "" if answer["allowed"] else answer["reason"]


def acknowledge(request):
    """Acknowledge the messages of a request that ask for it."""
    wanted = [message["message_id"] for message in request.get("inbox", []) if message.get("requires_ack")]
    if wanted:
        ask({"type": "desktop.ack", "message_ids": wanted[:100]})


def serve(speak):
    """Answer requests until stdin ends.

    speak(request) returns a text and a confidence from 0 to 1. An empty text means that there is nothing to add. The
    agent passes instead of repeating a text. It bids high when the newest message names it, low otherwise. It
    acknowledges messages when it has spoken.
    """
    said = set()
    for line in sys.stdin:
        request = json.loads(line)
        kind = request.get("type")
        answer = {"request_id": request.get("request_id"), "status": "ok", "draft_message": "", "reason": ""}
        if kind == "desktop.bid.request":
            asked = "@" + request["you"]["id"] in request["remote_message"]
            answer.update(
                type="desktop.bid.response",
                bid=0.9 if asked else 0.1,
                reason="asked by name" if asked else "not asked",
            )
        elif kind == "desktop.local_prompt.request":
            answer["type"] = "desktop.local_prompt.response"
            text, confidence = speak(request)
            acknowledge(request)
            if text and text not in said:
                said.add(text)
                limit = request["constraints"]["max_output_chars"]
                answer.update(draft_message=text[:limit], outcome="said", confidence=confidence)
            else:
                answer.update(outcome="passed", reason="nothing to add")
        else:
            continue  # a later release may send more
        print(json.dumps(answer), flush=True)


def steps(path):
    """The numbered steps of a plan."""
    found = {}
    with open(path, encoding="utf-8") as plan:
        for line in plan:
            number, dot, text = line.partition(". ")
            if dot and number.isdigit():
                found[int(number)] = text.strip()
    return found


def asked_about(request, plan):
    """The steps that the newest message names; all when it names none of them."""
    named = {int(number) for number in re.findall(r"\bstep (\d+)", request["remote_message"], re.IGNORECASE)}
    return [number for number in plan if number in named] or list(plan)


def quote(text):
    """The code of a step, or its first words."""
    code = re.search(r"`[^`]+`", text)
    return code.group(0) if code else " ".join(text.split()[:8])
