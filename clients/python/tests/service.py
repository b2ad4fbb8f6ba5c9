"""Reads what the service stored, for tests."""

import json
import os
import urllib.request
from typing import Any, List


def search(dataset: str) -> List[Any]:
    body = {"from_expr": f"dataset = '{dataset}'", "time_range": "Last 1 hour", "select": ["*"], "limit": 1_000}
    request = urllib.request.Request(
        f"{os.environ['DENDRO_URL']}/search",
        json.dumps(body).encode(),
        {"content-type": "application/json", "x-service-api-key": os.environ["DENDRO_API_KEY"]},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["events"]
