#!/usr/bin/env python3
"""Looks for rights that are wider than their purpose."""
import sys

from frames import serve, steps


def speak(request):
    wide = [number for number, text in steps(sys.argv[1]).items() if "GRANT ALL" in text]
    if not wide:
        return "No right in the plan is wider than its purpose.", 0.7
    where = ", ".join(f"step {number}" for number in wide)
    return f"Blocking: {where} gives a read-only role the right to write. GRANT SELECT is enough. @codebase: what is the outcome?", 0.9


serve(speak)
