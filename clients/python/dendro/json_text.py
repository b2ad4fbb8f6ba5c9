"""Writes any value as JSON without ever raising."""

import base64
import dataclasses
import datetime
import enum
import json
import math
from typing import Any, Dict, List, Mapping, Set

# Bounds of one event, so that hostile values cost little; a longer text is cut and says so.
DEPTH_MAX = 10
NODES_MAX = 10_000
TEXT_LENGTH_MAX = 200_000
INTEGER_BITS_MAX = 10_000


class _Walk:
    def __init__(self) -> None:
        self.nodes = 0
        self.text_left = TEXT_LENGTH_MAX
        self.ancestors: Set[int] = set()


def json_line(members: Mapping[str, Any]) -> bytes:
    """One line of JSON in UTF-8. The first members get the space for text first."""
    text = json.dumps(_members(members, _Walk()), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Half a surrogate pair has no UTF-8 form.
    return text.encode("utf-8", "replace")


def _plain(value: Any, walk: _Walk) -> Any:
    walk.nodes += 1
    if walk.nodes > NODES_MAX:
        return "[too many values]"
    try:
        return _plain_value(value, walk)
    except Exception as error:  # A value's own methods may raise anything.
        return f"[unreadable: {type(error).__name__}]"


def _plain_value(value: Any, walk: _Walk) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value, walk)
    if isinstance(value, str):
        return _cut(value, walk)
    if isinstance(value, int):
        return int(value) if value.bit_length() <= INTEGER_BITS_MAX else "[huge integer]"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _cut(base64.b64encode(bytes(value)).decode("ascii"), walk)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return _plain_object(value, walk)


def _plain_object(value: Any, walk: _Walk) -> Any:
    if id(value) in walk.ancestors:
        return "[circular]"
    if len(walk.ancestors) >= DEPTH_MAX:
        return "[too deep]"
    walk.ancestors.add(id(value))
    try:
        if isinstance(value, BaseException):
            return exception_members(value, walk)
        if isinstance(value, Mapping):
            return _members(value, walk)
        if isinstance(value, (list, tuple, set, frozenset)):
            return _items(value, walk)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _members({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, walk)
        return _cut(str(value), walk)
    finally:
        walk.ancestors.discard(id(value))


def _items(values: Any, walk: _Walk) -> List[Any]:
    out = []
    for value in values:
        out.append(_plain(value, walk))
        if walk.nodes > NODES_MAX:
            break
    return out


def _members(members: Mapping[Any, Any], walk: _Walk) -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for name, value in members.items():
        out[name if isinstance(name, str) else safe_text(name)] = _plain(value, walk)
        if walk.nodes > NODES_MAX:
            break
    return out


def exception_members(error: BaseException, walk: _Walk) -> Dict[str, Any]:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    members: Dict[str, Any] = {"type": type(error).__qualname__, "message": safe_text(error)}
    if cause is not None:
        members["cause"] = cause
    return _members(members, walk)


def safe_text(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:
        return f"[unreadable: {type(error).__name__}]"


def _cut(text: str, walk: _Walk) -> str:
    left = walk.text_left
    walk.text_left = max(0, left - len(text))
    return text if len(text) <= left else f"{text[:left]}… [{len(text) - left} characters cut]"
