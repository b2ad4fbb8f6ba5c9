"""Sends lines in batches from a thread of its own."""

import collections
import dataclasses
import email.utils
import gzip
import http.client
import json
import os
import random
import re
import sys
import threading
import time
import urllib.parse
import uuid
import weakref
from typing import Callable, Deque, Dict, List, NamedTuple, Optional

BACKOFF_S = 0.5
BACKOFF_MAX_S = 30.0
# A longer Retry-After is cut: the service may be back earlier, and another attempt costs little.
RETRY_AFTER_MAX_S = 300.0
REFUSALS = (400, 405, 415, 422)
COMPRESSED_BYTES_MIN = 1_024


@dataclasses.dataclass(frozen=True)
class DropReport:
    """Events that were dropped since the last report, by reason: queue_full, too_large, rejected, closed."""

    count: int
    reasons: Dict[str, int]
    total: int


class SenderSettings(NamedTuple):
    url: str
    key: str
    collection: str
    dataset: str
    queue_events_max: int
    queue_bytes_max: int
    event_bytes_max: int
    batch_events_max: int
    batch_bytes_max: int
    linger_s: float
    request_timeout_s: float
    close_timeout_s: float
    compression: bool
    on_drop: Optional[Callable[[DropReport], None]]
    on_error: Optional[Callable[[str], None]]


class Outcome(NamedTuple):
    """What to do with a batch after an attempt: stored, retry, split, refused."""

    kind: str
    error: str = ""
    after_s: float = 0.0


def outcome_of(status: int, retry_after: Optional[str], now_s: float, text: str = "") -> Outcome:
    """Failures of credentials are retried, because a key may be repaired while the queue keeps the events."""
    if 200 <= status < 300:
        return Outcome("stored")
    if status == 413:
        return Outcome("split", "the service refused an event for its size")
    error = f"the service answered {status}: {text[:500]}"
    if status in REFUSALS:
        return Outcome("refused", error)
    return Outcome("retry", error, _retry_after_s(retry_after, now_s))


def _retry_after_s(header: Optional[str], now_s: float) -> float:
    text = (header or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d*)?", text):
        seconds = float(text)
    else:
        date = email.utils.parsedate_tz(text)
        seconds = float(email.utils.mktime_tz(date)) - now_s if date else 0.0
    within: float = min(max(seconds, 0.0), RETRY_AFTER_MAX_S)
    return within


def pause_s(attempt: int, chance: float, after_s: float = 0.0) -> float:
    """The pause after an attempt doubles, and half of it is random, so that senders spread. A Retry-After is a minimum."""
    full = min(BACKOFF_S * 2.0 ** min(attempt - 1, 10), BACKOFF_MAX_S)
    return after_s + full / 2 + full / 2 * chance


class BatchSender:
    """
    ``send`` never waits for the network. One batch is in flight at a time, so that events keep their order; it is retried under one idempotency key
    until the service has stored it. The bounds include the batch in flight; a full queue drops the newest event.
    """

    def __init__(self, settings: SenderSettings) -> None:
        self._settings = settings
        address = urllib.parse.urlsplit(settings.url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"dendro: url must begin with http:// or https://, not {settings.url}")
        self._address = address
        place = "/".join(urllib.parse.quote(part, safe="") for part in (settings.collection, settings.dataset))
        self._path = f"{address.path.rstrip('/')}/ingest/{place}"
        self._is_forked = False
        self._reset()
        _senders.add(self)

    def _reset(self) -> None:
        """The state of a new process: the events of its parent are sent by the parent."""
        self._changed = threading.Condition()
        self._queue: Deque[bytes] = collections.deque()
        self._queue_bytes = 0
        self._in_flight: List[bytes] = []
        self._thread: Optional[threading.Thread] = None
        self._of_thread = threading.local()
        self._unreported: Dict[str, int] = {}
        self._dropped = 0
        self._dropped_without_event = 0
        self._is_failing = False
        self._is_closed = False
        self._hurry = False
        self._generation = object()

    def send(self, line: bytes) -> bool:
        """Queues one line; False if it was dropped and counted."""
        settings = self._settings
        size = len(line) + 1
        with self._changed:
            if self._is_closed:
                return self._drop("closed", 1)
            if size > settings.event_bytes_max:
                return self._drop("too_large", 1)
            is_full = len(self._queue) + len(self._in_flight) >= settings.queue_events_max
            if is_full or self._queue_bytes + size > settings.queue_bytes_max:
                return self._drop("queue_full", 1)
            self._queue.append(line)
            self._queue_bytes += size
            if self._thread is None:
                self._start()
            elif len(self._queue) in (1, settings.batch_events_max) or self._queue_bytes >= settings.batch_bytes_max > self._queue_bytes - size:
                self._changed.notify_all()
        return True

    def flush(self, timeout_s: Optional[float] = None) -> bool:
        """Waits until everything is delivered; after the time limit the rest is dropped and counted."""
        limit = time.monotonic() + (self._settings.close_timeout_s if timeout_s is None else timeout_s)
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            while self._queue or self._in_flight:
                left = limit - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            left_over = len(self._queue) + len(self._in_flight)
            if left_over > 0:
                self._drop("closed", left_over)
                self._queue.clear()
                self._in_flight = []
                self._queue_bytes = 0
                # The thread that still waits for an answer must not count its batch as well.
                self._generation = object()
                self._thread = None
            self._hurry = False
            self._changed.notify_all()
        self._report_drops()
        return left_over == 0

    def close(self, timeout_s: Optional[float] = None) -> bool:
        """Flushes, and accepts no more events."""
        with self._changed:
            self._is_closed = True
        return self.flush(timeout_s)

    def _start(self) -> None:
        # A child of multiprocessing ends without atexit, and runs these finalizers instead.
        finalizers = sys.modules.get("multiprocessing.util")
        if self._is_forked and finalizers is not None:
            finalizers.Finalize(None, self.flush, exitpriority=0)
        self._thread = threading.Thread(target=self._run, args=(self._generation,), name="dendro-log-sender", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            # No thread can start at the end of the interpreter.
            self._thread = None
            self._drop("closed", len(self._queue))
            self._queue.clear()
            self._queue_bytes = 0

    def _run(self, generation: object) -> None:
        while True:
            batch = self._next_batch(generation)
            if batch is None:
                return
            self._deliver(batch, generation)
            with self._changed:
                if self._generation is not generation:
                    return
                self._in_flight = []
                self._queue_bytes -= sum(len(line) + 1 for line in batch)
                self._add_drop_event()
                self._changed.notify_all()
            self._report_drops()

    def _next_batch(self, generation: object) -> Optional[List[bytes]]:
        settings = self._settings
        with self._changed:
            while not self._queue:
                if self._is_closed or self._generation is not generation:
                    return None
                self._changed.wait()
            limit = time.monotonic() + settings.linger_s
            while len(self._queue) < settings.batch_events_max and self._queue_bytes < settings.batch_bytes_max and not self._hurry:
                left = limit - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    break
            if self._generation is not generation:
                return None
            batch: List[bytes] = []
            size = 0
            while self._queue and len(batch) < settings.batch_events_max:
                size += len(self._queue[0]) + 1
                if batch and size > settings.batch_bytes_max:
                    break
                batch.append(self._queue.popleft())
            self._in_flight = batch
            return batch

    def _deliver(self, batch: List[bytes], generation: object) -> None:
        text = b"\n".join(batch) + b"\n"
        headers = {
            "content-type": "application/x-ndjson",
            "x-service-api-key": self._settings.key,
            "idempotency-key": str(uuid.uuid4()),
        }
        body = text
        if self._settings.compression and len(text) >= COMPRESSED_BYTES_MIN:
            body = gzip.compress(text, 1)
            headers["content-encoding"] = "gzip"
        attempt = 0
        while self._generation is generation:
            attempt += 1
            outcome = self._attempt(body, headers)
            if outcome.kind == "stored":
                self._is_failing = False
                return
            if outcome.kind == "split" and len(batch) > 1:
                middle = (len(batch) + 1) // 2
                self._deliver(batch[:middle], generation)
                return self._deliver(batch[middle:], generation)
            if outcome.kind in ("split", "refused"):
                with self._changed:
                    self._drop("rejected", len(batch))
                return self._report_error(outcome.error)
            if not self._is_failing:
                self._report_error(outcome.error)
            self._is_failing = True
            self._report_drops()
            self._pause(pause_s(attempt, random.random(), outcome.after_s), generation)

    def _pause(self, seconds: float, generation: object) -> None:
        limit = time.monotonic() + seconds
        with self._changed:
            # A flush starts the next attempt at once, but only one.
            was_hurried = self._hurry
            while self._generation is generation and self._hurry == was_hurried:
                left = limit - time.monotonic()
                if left <= 0:
                    return
                self._changed.wait(left)

    def _attempt(self, body: bytes, headers: Dict[str, str]) -> Outcome:
        is_reused = self._connection() is not None
        try:
            return self._post(body, headers)
        except Exception as error:  # Whatever a connection raises, the batch is retried.
            self._disconnect()
            if not is_reused:
                return Outcome("retry", f"the service cannot be reached: {error!r}")
        # The service may have closed an idle connection; the idempotency key makes a repetition safe.
        try:
            return self._post(body, headers)
        except Exception as error:  # Whatever a connection raises, the batch is retried.
            self._disconnect()
            return Outcome("retry", f"the service cannot be reached: {error!r}")

    def _post(self, body: bytes, headers: Dict[str, str]) -> Outcome:
        connection = self._connection() or self._connect()
        self._of_thread.connection = connection
        connection.request("POST", self._path, body, headers)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        if response.getheader("connection", "").lower() == "close":
            self._disconnect()
        outcome = outcome_of(response.status, response.getheader("retry-after"), time.time(), text)
        if outcome.kind == "stored":
            self._count_rejected(text)
        return outcome

    def _connection(self) -> Optional[http.client.HTTPConnection]:
        return getattr(self._of_thread, "connection", None)

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        return kind(self._address.hostname or "", self._address.port, timeout=self._settings.request_timeout_s)

    def _disconnect(self) -> None:
        connection = self._connection()
        if connection is not None:
            connection.close()
        self._of_thread.connection = None

    def _count_rejected(self, text: str) -> None:
        """The service stores a batch without the events that it cannot read, and counts them."""
        found = re.search(r'"rejected":(\d+)', text)
        count = int(found.group(1)) if found else 0
        if count > 0:
            with self._changed:
                self._drop("rejected", count)
            self._report_error(f"the service rejected {count} events: {text[:500]}")

    def _drop(self, reason: str, count: int) -> bool:
        self._unreported[reason] = self._unreported.get(reason, 0) + count
        self._dropped += count
        self._dropped_without_event += count
        return False

    def _add_drop_event(self) -> None:
        """Once the service stores again, one event in the dataset says how many are missing."""
        count = self._dropped_without_event
        if count == 0 or self._is_failing:
            return
        event = {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "level": "warn",
            "message": f"{count} log events were dropped before they reached Dendro",
            "dropped_events": count,
        }
        self._dropped_without_event = 0
        line = json.dumps(event).encode()
        self._queue.append(line)
        self._queue_bytes += len(line) + 1

    def _report_drops(self) -> None:
        with self._changed:
            reasons, self._unreported = self._unreported, {}
            total = self._dropped
        if not reasons:
            return
        report = DropReport(sum(reasons.values()), reasons, total)
        if self._settings.on_drop is None:
            _complain(f"{report.count} events were dropped: {reasons}")
        else:
            _call_safely(lambda: self._settings.on_drop and self._settings.on_drop(report))

    def _report_error(self, message: str) -> None:
        if self._settings.on_error is None:
            _complain(message)
        else:
            _call_safely(lambda: self._settings.on_error and self._settings.on_error(message))


def _call_safely(call: Callable[[], object]) -> None:
    """The callbacks of the application must not break delivery."""
    try:
        call()
    except Exception as error:
        _complain(f"a callback raised {error!r}")


def _complain(message: str) -> None:
    if sys.stderr is not None:
        print(f"dendro: {message}", file=sys.stderr)


_senders: "weakref.WeakSet[BatchSender]" = weakref.WeakSet()


def _after_fork() -> None:
    for sender in list(_senders):
        sender._reset()
        sender._is_forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
