"""An application that logs: argument is a number of lines. It ends when its input ends, and logging closes its handler."""

import logging
import sys

from dendro import DendroHandler

logging.raiseExceptions = True
handler = DendroHandler(dataset="python", batch_events_max=200, linger_s=0.05, request_timeout_s=2)
log = logging.getLogger("shop")
log.addHandler(handler)
for number in range(int(sys.argv[1])):
    log.warning("order %d", number, extra={"number": number, "cart": {"items": 2}})
sys.stdin.read()
