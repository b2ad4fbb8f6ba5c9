"""The typed API against a service on this machine."""

import http.server
import threading
import uuid

import pytest

from dendro import ApiFailure, DendroClient, NoAnswer


@pytest.fixture
def client() -> DendroClient:
    return DendroClient()


def test_events_are_sent_searched_and_exported_as_lines(client: DendroClient) -> None:
    name = f"api-{uuid.uuid4()}"
    lines = "".join(f'{{"number":{number},"message":"order {number}"}}\n' for number in range(100))
    key = str(uuid.uuid4())
    for _ in range(2):
        sent = client.ingestion.send_to("shop/api", name, lines, content_type="application/x-ndjson", headers={"Idempotency-Key": key})
        assert sent["accepted"] == 100
    found = client.search.run({"from_expr": f"dataset = '{name}'", "time_range": "Last 1 hour", "select": ["*"], "limit": 1_000})
    assert found["totals"]["count"] == 100
    assert {event["message_kvs"]["number"] for event in found["events"]} == {str(number) for number in range(100)}
    counted = client.search.get(from_expr=f"dataset = '{name}'", time_range="Last 1 hour", select=["count(*)"], most_recent_first=False)
    assert counted["totals"]["count"] == 100


def test_a_record_is_created_read_changed_and_removed(client: DendroClient) -> None:
    name = f"api-{uuid.uuid4()}"
    made = client.datasets.create({"collection": "shop", "dataset": name, "tags": {"team": "a&b"}})
    assert client.datasets.get(made["id"])["dataset"] == name
    listed = client.datasets.list(from_expr=f"dataset = '{name}'")
    assert [one["id"] for one in listed["datasets"]] == [made["id"]]
    assert client.datasets.remove(made["id"]) is None
    with pytest.raises(ApiFailure) as raised:
        client.datasets.get(made["id"])
    assert raised.value.status == 404
    assert raised.value.correlation_id


def test_a_stream_is_read_by_line(client: DendroClient) -> None:
    name = f"api-{uuid.uuid4()}"
    client.ingestion.send_to("default", name, [{"number": 0}])
    job = client.live_tail.start({"from_expr": f"dataset = '{name}'"})["job_id"]
    lines = client.live_tail.stream(job_id=job, seconds=60)
    next(lines)
    sender = threading.Thread(target=lambda: client.ingestion.send_to("default", name, [{"number": 7}]))
    sender.start()
    assert any('"number":"7"' in line for line in lines)
    sender.join()


def test_a_failure_names_its_rule(client: DendroClient) -> None:
    with pytest.raises(ApiFailure) as raised:
        client.search.run({"limit": 0, "select": ["*"]})
    assert raised.value.status == 400
    assert "limit" in raised.value.details
    with pytest.raises(ApiFailure) as refused:
        DendroClient(key="dk_wrong").datasets.list()
    assert refused.value.status == 401


class Busy(http.server.BaseHTTPRequestHandler):
    statuses: list
    seen: list

    def do_GET(self) -> None:
        self.seen.append(self.path)
        status = self.statuses.pop(0)
        self.send_response(status)
        self.send_header("retry-after", "0")
        self.send_header("location", "http://127.0.0.1:1/")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_GET

    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    ("statuses", "call", "requests"),
    [
        ([503, 429, 200], lambda client: client.datasets.list(), 3),
        ([503, 503, 503, 503], lambda client: client.datasets.list(), 4),
        ([503], lambda client: client.search.run({}), 1),
        ([429, 200], lambda client: client.search.run({}), 2),
        ([503, 200], lambda client: client.search.run({}, headers={"idempotency-key": "a"}), 2),
        ([500], lambda client: client.datasets.list(), 1),
        ([302], lambda client: client.datasets.list(), 1),
    ],
)
def test_only_calls_that_may_be_repeated_are_retried(statuses, call, requests) -> None:
    kind = type("BusyHere", (Busy,), {"statuses": list(statuses), "seen": []})
    server = http.server.HTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = DendroClient(f"http://127.0.0.1:{server.server_port}/", "k")
    try:
        if statuses[-1] == 200:
            call(client)
        else:
            with pytest.raises(ApiFailure) as raised:
                call(client)
            assert raised.value.status == statuses[-1]
        assert len(kind.seen) == requests
    finally:
        server.shutdown()
        server.server_close()


def test_a_missing_answer_is_an_error_of_its_own() -> None:
    with pytest.raises(NoAnswer):
        DendroClient("http://127.0.0.1:1", "k", attempts_max=1).datasets.list()
