#!/usr/bin/env python3
"""One side of a review: `pair.py asks` goes through a checklist, `pair.py answers` answers it.

Each request is a line on stdin, each answer exactly one line on stdout. See docs/agents.md.
"""
import json
import sys

CHECKLIST = [
    ("Who may call DELETE /orders/{id}?", "Any user who is signed in; the owner is not checked."),
    ("How is the token handed over?", "In the query string, so it is in the access log."),
    ("Is there a limit on sign-in attempts?", "Ten a minute for an address, none for an account."),
    ("What does a wrong id return?", "403 when it exists and 404 when not, which tells them apart."),
]


def asks(turn, said):
    if turn > len(CHECKLIST):
        return ""
    note = f"Noted: {said} " if said else ""
    return note + CHECKLIST[turn - 1][0]


def answers(turn, said):
    for question, answer in CHECKLIST:
        if question in said:
            return answer
    return "I have nothing on that."


side = {"asks": asks, "answers": answers}[sys.argv[1]]
turn = 0
for line in sys.stdin:
    request = json.loads(line)
    if request.get("type") != "desktop.local_prompt.request":
        continue
    turn += 1
    text = side(turn, request["remote_message"])
    print(json.dumps({
        "type": "desktop.local_prompt.response",
        "request_id": request["request_id"],
        "status": "ok",
        "draft_message": text,
        "reason": "" if text else "the checklist is done",
    }), flush=True)
