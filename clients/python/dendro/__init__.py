"""Client of Dendro: ``DendroHandler`` sends the records of ``logging``, ``DendroClient`` calls the API."""

from typing import TYPE_CHECKING, Any

from .batch_sender import DropReport
from .log_handler import DendroHandler

if TYPE_CHECKING:
    from .api import DendroClient
    from .api_transport import ApiFailure, NoAnswer

__all__ = ["ApiFailure", "DendroClient", "DendroHandler", "DropReport", "NoAnswer"]


def __getattr__(name: str) -> Any:
    """The typed API is loaded when it is used: an application that only logs does not pay for it."""
    if name == "DendroClient":
        from .api import DendroClient

        return DendroClient
    if name in ("ApiFailure", "NoAnswer"):
        from . import api_transport

        return getattr(api_transport, name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
