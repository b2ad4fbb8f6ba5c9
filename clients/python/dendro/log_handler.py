"""A handler for the module ``logging``."""

import datetime
import logging
import os
from typing import Any, Callable, Dict, Optional

from .batch_sender import BatchSender, DropReport, SenderSettings
from .json_text import json_line, safe_text

MIB = 2**20
# The attributes that logging itself sets; all others come from `extra`.
_OWN_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_FORMATTER = logging.Formatter()


class DendroHandler(logging.Handler):
    """
    Sends records to Dendro from a background thread: in batches, retried with idempotency keys, bounded. A logging call never waits for the network and
    never raises. At the end of the process, ``logging`` closes the handler, which waits up to ``close_timeout_s`` for delivery.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        collection: str = "default",
        dataset: str = "default",
        level: int = logging.NOTSET,
        queue_events_max: int = 100_000,
        queue_bytes_max: int = 64 * MIB,
        event_bytes_max: int = MIB,
        batch_events_max: int = 1_000,
        batch_bytes_max: int = 2 * MIB,
        linger_s: float = 1.0,
        request_timeout_s: float = 30.0,
        close_timeout_s: float = 8.0,
        compression: bool = True,
        on_drop: Optional[Callable[[DropReport], None]] = None,
        on_error: Optional[Callable[[str], None]] = None,
    ) -> None:
        super().__init__(level)
        url = url or os.environ.get("DENDRO_URL")
        key = key or os.environ.get("DENDRO_API_KEY")
        if not url:
            raise ValueError("dendro: set url, or the variable DENDRO_URL")
        if not key or not key.isascii() or not key.isprintable():
            raise ValueError("dendro: set key, or the variable DENDRO_API_KEY, to an API key")
        bounds = {
            "queue_events_max": queue_events_max,
            "queue_bytes_max": queue_bytes_max,
            "event_bytes_max": event_bytes_max,
            "batch_events_max": batch_events_max,
            "batch_bytes_max": batch_bytes_max,
            "request_timeout_s": request_timeout_s,
        }
        for name, value in bounds.items():
            if not value > 0:
                raise ValueError(f"dendro: {name} must be positive, not {value}")
        self._sender = BatchSender(
            SenderSettings(
                url=url,
                key=key,
                collection=collection,
                dataset=dataset,
                queue_events_max=queue_events_max,
                queue_bytes_max=queue_bytes_max,
                event_bytes_max=event_bytes_max,
                batch_events_max=batch_events_max,
                batch_bytes_max=batch_bytes_max,
                linger_s=linger_s,
                request_timeout_s=request_timeout_s,
                close_timeout_s=close_timeout_s,
                compression=compression,
                on_drop=on_drop,
                on_error=on_error,
            )
        )

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._sender.send(json_line(self._event_of(record)))
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """Waits until everything is delivered, at most ``close_timeout_s``."""
        self._sender.flush()

    def close(self) -> None:
        self._sender.close()
        super().close()

    def _event_of(self, record: logging.LogRecord) -> Dict[str, Any]:
        time = datetime.datetime.fromtimestamp(record.created, datetime.timezone.utc)
        event: Dict[str, Any] = {
            "timestamp": time.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "message": self._message_of(record),
            "logger": record.name,
        }
        if record.exc_info and record.exc_info[1] is not None:
            event["exception"] = record.exc_info[1]
            event["stack"] = _FORMATTER.formatException(record.exc_info)
        elif record.stack_info:
            event["stack"] = record.stack_info
        event.update(file=record.pathname, line=record.lineno, function=record.funcName)
        event.update(process=record.process, thread=record.threadName)
        for name, value in vars(record).items():
            if name not in _OWN_ATTRIBUTES and name not in event:
                event[name] = value
        return event

    def _message_of(self, record: logging.LogRecord) -> str:
        try:
            return self.format(record) if self.formatter else record.getMessage()
        except Exception:  # The arguments of the call may not fit its text, or raise when they are formatted.
            return f"{safe_text(record.msg)} {safe_text(record.args)}"
