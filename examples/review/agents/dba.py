#!/usr/bin/env python3
"""Estimates how long each step of the plan blocks writers."""
import re
import sys

from frames import asked_about, quote, serve, steps

ROWS_PER_SECOND = 60_000  # an UPDATE of one column with WAL on a small server


def judge(number, text):
    rows = re.search(r"([\d,]+) rows", text)
    if rows:
        minutes, seconds = divmod(int(rows.group(1).replace(",", "")) // ROWS_PER_SECOND, 60)
        return f"step {number} holds row locks for about {minutes} min {seconds} s: do {quote(text)} in batches of 10,000"
    if "NOT NULL" in text:
        return f"step {number} reads the whole table under an exclusive lock: before {quote(text)} add the check NOT VALID"
    return ""


def speak(request):
    plan = steps(sys.argv[1])
    # Who asks about one step hears of its neighbours too: a lock does not end where the question does.
    first = min(asked_about(request, plan), default=0)
    slow = [judge(number, text) for number, text in plan.items() if number >= first]
    slow = [finding for finding in slow if finding]
    if not slow:
        return "", 0
    return "For the locks: " + "; ".join(slow) + ". @security: are the rights in the plan needed?", 0.8


serve(speak)
