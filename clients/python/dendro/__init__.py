"""Client of Dendro: ``DendroHandler`` sends the records of ``logging``."""

from .batch_sender import DropReport
from .log_handler import DendroHandler

__all__ = ["DendroHandler", "DropReport"]
