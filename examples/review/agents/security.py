#!/usr/bin/env python3
"""Looks for rights that are wider than their purpose."""
import re
import sys

from frames import quote, serve, steps

RULES = [
    (r"GRANT ALL .*(readonly|report|view)", "gives a role that only reads the right to write; GRANT SELECT is enough"),
    (r"\bTO PUBLIC\b", "gives the right to every account"),
    (r"SUPERUSER|BYPASSRLS", "goes round every other rule"),
    (r"PASSWORD '", "leaves a password in the plan and in the server's log"),
]


def speak(request):
    found = [
        f"step {number}, {quote(text)}, {why}"
        for number, text in steps(sys.argv[1]).items()
        for rule, why in RULES
        if re.search(rule, text, re.IGNORECASE)
    ]
    if not found:
        return "No right in the plan is wider than its purpose. @codebase: what is the outcome?", 0.7
    return "Blocking: " + "; ".join(found) + ". @codebase: what is the outcome?", 0.9


serve(speak)
