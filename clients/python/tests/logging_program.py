"""An application that logs: arguments are a number of lines, and of lines in a part. It ends when its input ends, and logging closes its handler."""

import logging
import sys

from dendro import DendroHandler

logging.raiseExceptions = True
handler = DendroHandler(dataset="python", batch_events_max=200, linger_s=0.05, request_timeout_s=2)
log = logging.getLogger("shop")
log.addHandler(handler)
lines, part = int(sys.argv[1]), int(sys.argv[2])
for number in range(lines):
    log.warning("python part=%d order number=%d is late", number // part, number, extra={"number": number, "cart": {"items": 2}})
sys.stdin.read()
