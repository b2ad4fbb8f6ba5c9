"""The handler against a service on this machine; DENDRO_URL and DENDRO_API_KEY name it."""

import http.server
import json
import logging
import multiprocessing
import os
import threading
import uuid

import pytest

from dendro import DendroHandler, DropReport
from dendro.batch_sender import outcome_of, pause_s
from dendro.json_text import json_line

from service import search


def logger_to(handler: DendroHandler) -> logging.Logger:
    logger = logging.Logger(f"shop.{uuid.uuid4()}")
    logger.addHandler(handler)
    return logger


def new_dataset() -> str:
    return f"python-{uuid.uuid4()}"


def test_a_record_arrives_with_time_level_message_extra_and_exception() -> None:
    dataset = new_dataset()
    with_handler = DendroHandler(dataset=dataset)
    logger = logger_to(with_handler)
    try:
        try:
            raise KeyError("cart")
        except KeyError as error:
            raise RuntimeError("no order") from error
    except RuntimeError:
        logger.exception("order %d failed", 7, extra={"order": {"id": 7}, "price": 1.5})
    with_handler.close()
    (event,) = search(dataset)
    assert event["@status"] == "error"
    values = event["message_kvs"]
    assert values["message"] == "order 7 failed"
    assert values["level"] == "ERROR"
    assert values["order.id"] == "7"
    assert values["price"] == "1.5"
    assert values["exception.type"] == "RuntimeError"
    assert values["exception.cause.type"] == "KeyError"
    assert "raise RuntimeError" in values["stack"]
    assert values["function"].startswith("test_a_record")


class Unprintable:
    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__
    __hash__ = None  # type: ignore[assignment]


def test_hostile_values_never_raise() -> None:
    dataset = new_dataset()
    handler = DendroHandler(dataset=dataset)
    logger = logger_to(handler)
    circular: dict = {"a": 1}
    circular["self"] = circular
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    values = [circular, deep, Unprintable(), 10**20_000, float("nan"), "half \ud800", b"\xff", "x" * 3_000_000, {Unprintable: 1}, range(10**9)]
    for value in values:
        logger.warning("hostile %s", "value", extra={"value": value})
    logger.warning("%d", "not a number")
    logger.warning(Unprintable())
    handler.close()
    assert len(search(dataset)) == len(values) + 2


def test_json_marks_what_it_cuts() -> None:
    circular: dict = {}
    circular["self"] = circular
    event = json.loads(json_line({"message": "hi", "circular": circular, "huge": "x" * 300_000}))
    assert event["circular"] == {"self": "[circular]"}
    assert event["huge"].endswith("characters cut]")


def test_a_child_of_a_fork_sends_its_own_records_once() -> None:
    dataset = new_dataset()
    handler = DendroHandler(dataset=dataset, linger_s=30)
    logger = logger_to(handler)
    logger.warning("of the parent")
    child = os.fork()
    if child == 0:
        logger.warning("of the child")
        handler.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    process = multiprocessing.get_context("fork").Process(target=logger.warning, args=("of multiprocessing",))
    process.start()
    process.join()
    assert process.exitcode == 0
    handler.close()
    assert sorted(event["message_kvs"]["message"] for event in search(dataset)) == ["of multiprocessing", "of the child", "of the parent"]


class Refusing(http.server.BaseHTTPRequestHandler):
    """Answers as its list says, then accepts everything; it remembers keys and lines."""

    protocol_version = "HTTP/1.1"
    answers: list
    posts: list
    gate = threading.Event()

    def do_POST(self) -> None:
        self.gate.wait()
        body = self.rfile.read(int(self.headers["content-length"]))
        self.posts.append((self.headers["idempotency-key"], body.decode().splitlines()))
        status, headers = self.answers.pop(0) if self.answers else (200, {})
        self.send_response(status)
        for name, value in {"content-length": "2", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def refusing():
    kind = type("RefusingHere", (Refusing,), {"answers": [], "posts": [], "gate": threading.Event()})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield kind, f"http://127.0.0.1:{server.server_port}"
    kind.gate.set()
    server.shutdown()
    server.server_close()


def test_a_full_queue_drops_the_newest_and_counts_them(refusing) -> None:
    kind, url = refusing
    reports: list = []
    handler = DendroHandler(url, "k", queue_events_max=300, batch_events_max=100, compression=False, on_drop=reports.append)
    logger = logger_to(handler)
    for number in range(1_000):
        logger.warning("%d", number)
    kind.gate.set()
    handler.close()
    assert reports == [DropReport(700, {"queue_full": 700}, 700)]
    lines = [json.loads(line) for _, lines in kind.posts for line in lines]
    assert [line["message"] for line in lines if "dropped_events" not in line] == [str(number) for number in range(300)]
    assert [line["dropped_events"] for line in lines if "dropped_events" in line] == [700]


def test_a_batch_is_retried_with_its_key_split_when_too_large_and_dropped_when_refused(refusing) -> None:
    kind, url = refusing
    kind.answers.extend([(503, {"retry-after": "0"}), (413, {}), (200, {}), (400, {})])
    kind.gate.set()
    reports: list = []
    errors: list = []
    handler = DendroHandler(
        url, "k", batch_events_max=4, linger_s=30, compression=False, on_drop=reports.append, on_error=errors.append
    )
    logger = logger_to(handler)
    for number in range(4):
        logger.warning("%d", number)
    handler.close()
    keys = [key for key, _ in kind.posts]
    assert keys[0] == keys[1]
    assert len(set(keys)) == len(keys) - 1
    assert [[json.loads(line).get("message") for line in lines] for _, lines in kind.posts[:4]] == [
        ["0", "1", "2", "3"],
        ["0", "1", "2", "3"],
        ["0", "1"],
        ["2", "3"],
    ]
    assert reports == [DropReport(2, {"rejected": 2}, 2)]
    assert [error.split(":")[0] for error in errors] == ["the service answered 503", "the service answered 400"]


def test_what_is_left_at_the_time_limit_is_counted(refusing) -> None:
    _, url = refusing
    reports: list = []
    handler = DendroHandler(url, "k", batch_events_max=10, close_timeout_s=0.1, on_drop=reports.append)
    logger = logger_to(handler)
    for number in range(25):
        logger.warning("%d", number)
    handler.close()
    logger.warning("after the end")
    assert reports == [DropReport(25, {"closed": 25}, 25)]


def test_retry_after_and_pauses() -> None:
    assert outcome_of(429, "7", 0).after_s == 7
    assert outcome_of(503, "Thu, 01 Jan 1970 00:00:09 GMT", 5).after_s == 4
    assert outcome_of(503, "999999", 0).after_s == 300
    assert [outcome_of(503, header, 0).after_s for header in ("soon", "", None, "inf", "-5")] == [0] * 5
    assert [outcome_of(status, None, 0).kind for status in (200, 204, 302, 400, 401, 404, 413, 422, 500)] == [
        *("stored", "stored", "retry", "refused", "retry", "retry", "split", "refused", "retry")
    ]
    assert [pause_s(attempt, 1) for attempt in (1, 2, 3, 7, 5_000)] == [0.5, 1, 2, 30, 30]
    assert pause_s(1, 0, 7) == 7.25


@pytest.mark.parametrize("wrong", [{"url": "ftp://x"}, {"key": "a\nb"}, {"queue_events_max": 0}])
def test_wrong_settings_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError):
        DendroHandler(**{"url": "http://x", "key": "k", **wrong})
