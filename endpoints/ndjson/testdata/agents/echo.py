#!/usr/bin/env python3
"""An agent that knows nothing but the one-to-one note: it says back what it was told."""
import json
import sys
import time

for line in sys.stdin:
    started = time.monotonic()
    request = json.loads(line)
    if request["type"] != "desktop.local_prompt.request":
        continue
    limit = request["constraints"]["max_output_chars"]
    answer = {
        "type": "desktop.local_prompt.response",
        "request_id": request["request_id"],
        "status": "ok",
        "draft_message": ("echo: " + request["remote_message"])[:limit],
        "reason": "",
        "metrics": {"latency_ms": int(1000 * (time.monotonic() - started))},
    }
    print(json.dumps(answer), flush=True)
