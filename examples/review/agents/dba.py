#!/usr/bin/env python3
"""Estimates how long each step of the plan blocks writers."""
import re
import sys

from frames import serve, steps

ROWS_PER_SECOND = 60_000  # an UPDATE of one column with WAL on a small server


def judge(plan):
    slow = []
    for number, text in steps(plan).items():
        rows = re.search(r"([\d,]+) rows", text)
        if rows:
            seconds = int(rows.group(1).replace(",", "")) // ROWS_PER_SECOND
            slow.append(f"step {number} holds row locks for about {seconds // 60} min {seconds % 60} s: do it in batches of 10,000")
        elif "NOT NULL" in text:
            slow.append(f"step {number} reads the whole table under an exclusive lock: add a NOT VALID check first")
    return slow


def speak(request):
    return "For the locks: " + "; ".join(judge(sys.argv[1])) + ". @security: is the grant in step 4 needed?", 0.8


serve(speak)
