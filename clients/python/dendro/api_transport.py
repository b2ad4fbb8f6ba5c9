"""Sends the calls of the typed API."""

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

RETRY_AFTER_S = 1.0
RETRY_AFTER_MAX_S = 30.0
REPEATABLE = ("GET", "HEAD", "PUT", "DELETE")


class ApiFailure(Exception):
    """An error response of the service."""

    def __init__(self, status: int, body: Any, retry_after_s: Optional[float] = None) -> None:
        members = body if isinstance(body, dict) else {}
        self.status = status
        self.details: str = members.get("details") or f"the response was {status} without an error message"
        self.type: str = members.get("type") or ""
        self.correlation_id: Optional[str] = members.get("correlation_id")
        self.errors: List[Any] = members.get("errors") or []
        self.retry_after_s = retry_after_s
        super().__init__(f"{status}: {self.details}")


class NoAnswer(Exception):
    """No answer arrived, so it is unknown whether the service executed the call."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Another address must not get the key."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class ApiTransport:
    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        token: Optional[str] = None,
        timeout_s: float = 120,
        attempts_max: int = 4,
    ) -> None:
        url = url or os.environ.get("DENDRO_URL")
        if not url or urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"dendro: set url, or the variable DENDRO_URL, to an address with http or https, not {url}")
        self._url = url.rstrip("/")
        self._key = key or (None if token else os.environ.get("DENDRO_API_KEY"))
        self._token = token
        self._timeout_s = timeout_s
        self._attempts_max = max(1, attempts_max)
        self._opener = urllib.request.build_opener(_NoRedirect)

    @staticmethod
    def part(value: str) -> str:
        """A part of a path."""
        return urllib.parse.quote(str(value), safe="")

    def call(
        self,
        method: str,
        path: str,
        kind: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        given = {name.lower(): value for name, value in (headers or {}).items()}
        target = f"{self._url}{path}{_query_text(query or {})}"
        data = _encode(body)
        sent = {**self._credentials(), **({} if data is None else {"content-type": content_type}), **given}
        request = urllib.request.Request(target, data, sent, method=method)
        is_repeatable = method in REPEATABLE or "idempotency-key" in given
        attempt = 0
        while True:
            attempt += 1
            try:
                return _read(self._open(request), kind)
            except ApiFailure as failure:
                # A call that was refused for its rate has not been executed.
                may_repeat = failure.status == 429 or (is_repeatable and failure.status == 503)
                wait_s = RETRY_AFTER_S if failure.retry_after_s is None else failure.retry_after_s
                if not may_repeat or attempt >= self._attempts_max or wait_s > RETRY_AFTER_MAX_S:
                    raise
            except NoAnswer:
                wait_s = RETRY_AFTER_S
                if not is_repeatable or attempt >= self._attempts_max:
                    raise
            time.sleep(wait_s)

    def _credentials(self) -> Dict[str, str]:
        if self._token is not None:
            return {"authorization": f"Bearer {self._token}"}
        return {} if self._key is None else {"x-service-api-key": self._key}

    def _open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        try:
            response: http.client.HTTPResponse = self._opener.open(request, timeout=self._timeout_s)
            return response
        except urllib.error.HTTPError as error:
            with error:
                text = error.read()
            raise ApiFailure(error.code, _json_or_none(text), _seconds(error.headers.get("retry-after"))) from None
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"no answer from {self._url}: {error}") from error


def _encode(body: Any) -> Optional[bytes]:
    if body is None or isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _query_text(query: Mapping[str, Any]) -> str:
    pairs: List[Tuple[str, str]] = []
    for name, value in query.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                pairs.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return f"?{urllib.parse.urlencode(pairs)}" if pairs else ""


def _read(response: http.client.HTTPResponse, kind: str) -> Any:
    if kind == "lines":
        return _lines(response)
    with response:
        try:
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"the answer ended early: {error}") from error
    if kind == "none":
        return None
    if kind == "json":
        return json.loads(content) if content else None
    return content.decode("utf-8") if kind == "text" else content


def _lines(response: http.client.HTTPResponse) -> Iterator[str]:
    with response:
        for line in response:
            yield line.decode("utf-8").rstrip("\r\n")


def _json_or_none(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _seconds(header: Optional[str]) -> Optional[float]:
    try:
        return None if header is None else float(header)
    except ValueError:
        return None
