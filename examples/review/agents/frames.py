"""The frames that an agent exchanges with a room, standard library only."""
import json
import sys


def serve(speak):
    """Answer requests until stdin ends.

    speak(request) returns a text and a confidence from 0 to 1; no text means that there is nothing to add. For a turn
    the agent bids much when it is named in the newest message, and little otherwise.
    """
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
            text, confidence = speak(request)
            answer.update(
                type="desktop.local_prompt.response",
                draft_message=text,
                outcome="said" if text else "passed",
                confidence=confidence,
            )
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
