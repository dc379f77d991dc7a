"""How requests and results cross the process boundary: JSON plus raw bytes, never pickle.

A value is a pytree of arrays, Python scalars, dtypes, PRNG keys and functions by name. ``encode``
turns it into a JSON-able tree and a list of byte buffers, ``decode`` turns them back and trusts
nothing. This module imports nothing from the package: the graded child gets a copy of its own.
"""

import math

import ml_dtypes
import numpy as np

DTYPES = {
    name: np.dtype(getattr(ml_dtypes, name, None) or name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
        "float16 bfloat16 float32 float64 complex64 complex128"
    ).split()
}
MAX_BYTES = 4 * 2**20  # of one message's arrays; the largest honest one has a few kilobytes
MAX_NODES = 10_000
MAX_DEPTH = 8
MAX_TEXT = 1000  # characters
MAX_BITS = 1024  # of an int: no dtype's largest value has more


class WireError(ValueError):
    """A message that no honest peer sends: too large, too deep, or of an unknown kind."""


class Function(str):
    """The name of a function that both sides know (``straight_through.examples``)."""


class Opaque(str):
    """The name of the type of a result that is no array and cannot cross the boundary."""


class Key:
    """A PRNG key: the name of its implementation and its words (uint32)."""

    def __init__(self, implementation: str, data: np.ndarray):
        self.implementation, self.data = implementation, data


def encode(value, buffers: list[bytes]):
    """Return the JSON-able form of ``value``; the bytes of its arrays are appended to buffers.

    What is too large to cross becomes opaque as a whole.
    """
    before = len(buffers)
    node = _Encoder(buffers).node(value, 0)
    if sum(map(len, buffers[before:])) > MAX_BYTES:
        del buffers[before:]
        node = {"opaque": f"a result of more than {MAX_BYTES / 2**20:.0f} MB"}
    return node


class _Encoder:
    def __init__(self, buffers: list[bytes]):
        self._buffers, self._nodes = buffers, 0

    def node(self, value, depth: int) -> dict:
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            return {"opaque": "a result of too many parts"}
        if value is None or isinstance(value, bool):
            return {"static": value}
        if isinstance(value, int):
            short = value.bit_length() <= MAX_BITS
            return {"static": int(value)} if short else {"opaque": "a huge int"}
        if isinstance(value, float) and not isinstance(value, np.generic):
            return {"float": float(value).hex()}
        if isinstance(value, Function | Opaque):
            return {type(value).__name__.lower(): str(value)[:MAX_TEXT]}
        if isinstance(value, str) and not isinstance(value, np.generic):
            short = len(value) <= MAX_TEXT
            return {"static": _encodable(value)} if short else {"opaque": "a long string"}
        if isinstance(value, Key):
            return {"key": value.implementation, "data": self._array(value.data)}
        if isinstance(value, np.dtype) or (
            isinstance(value, type) and issubclass(value, np.generic)
        ):
            name = np.dtype(value).name
            return {"dtype": name} if name in DTYPES else {"opaque": f"the dtype {name}"[:80]}
        if isinstance(value, np.ndarray | np.generic):
            return self._array(np.asarray(value))
        return self._container(value, depth)

    def _container(self, value, depth: int) -> dict:
        if not isinstance(value, list | tuple | dict):
            return {"opaque": str(type(value).__name__)[:80]}
        if len(value) > MAX_NODES:
            return {"opaque": f"a {type(value).__name__} of {len(value)} items"}
        if isinstance(value, dict):
            items = [
                [_encodable(str(key)[:MAX_TEXT]), self.node(item, depth + 1)]
                for key, item in value.items()
            ]
            return {"dict": items}
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [self.node(item, depth + 1) for item in value]}

    def _array(self, value: np.ndarray) -> dict:
        name = value.dtype.name
        if name not in DTYPES:
            return {"opaque": f"an array of {name}"[:80]}
        if value.nbytes > MAX_BYTES:
            return {"opaque": f"an array of {value.nbytes / 2**20:.0f} MB"}
        self._buffers.append(np.ascontiguousarray(value).tobytes())
        return {"array": name, "shape": list(value.shape), "buffer": len(self._buffers) - 1}


def _encodable(text: str) -> str:
    """Half a character (a lone surrogate) cannot be sent."""
    return text.encode("utf-8", "replace").decode()


def decode(node, buffers: list[bytes]):
    """Return the value that ``encode`` was given; WireError for anything it cannot have made."""
    try:
        return _Decoder(buffers).value(node, 0)
    except WireError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise WireError(f"a malformed value ({type(error).__name__})") from None


class _Decoder:
    def __init__(self, buffers: list[bytes]):
        if sum(map(len, buffers)) > MAX_BYTES:
            raise WireError("too many bytes")
        self._buffers, self._nodes = dict(enumerate(buffers)), 0

    def value(self, node, depth: int):
        self._nodes += 1
        if depth > MAX_DEPTH + 1 or self._nodes > 2 * MAX_NODES:
            raise WireError("a value of too many parts")
        if not isinstance(node, dict) or not node:
            raise WireError("a malformed value")
        kind = next(iter(node))
        content = node[kind]
        if kind == "array":
            return self._array(node)
        if kind == "static" and _is_static(content):
            return content
        if kind == "float":
            return float.fromhex(content[:100])
        if kind in ("function", "opaque") and _is_static(content):
            return Function(content) if kind == "function" else Opaque(_printable(content))
        if kind == "key" and isinstance(content, str):
            return Key(content[:80], self._array(node["data"]))
        if kind == "dtype":
            return DTYPES[content]
        if kind in ("tuple", "list") and isinstance(content, list):
            items = [self.value(item, depth + 1) for item in content]
            return tuple(items) if kind == "tuple" else items
        if kind == "dict" and isinstance(content, list):
            return {str(key)[:MAX_TEXT]: self.value(item, depth + 1) for key, item in content}
        raise WireError(f"a value of unknown kind {str(kind)[:40]!r}")

    def _array(self, node: dict) -> np.ndarray:
        dtype, shape = DTYPES[node["array"]], node["shape"]
        raw = self._buffers.pop(node["buffer"])  # no two arrays share their bytes
        if not isinstance(shape, list) or len(shape) > 8:
            raise WireError("an array of impossible shape")
        if not all(type(size) is int and 0 <= size < 2**31 for size in shape):
            raise WireError("an array of impossible shape")
        if math.prod(shape) * dtype.itemsize != len(raw):
            raise WireError("an array whose bytes do not fit its shape")
        if dtype.kind == "b":  # a byte may hold more than 0 and 1, a bool may not
            return (np.frombuffer(raw, np.uint8) != 0).reshape(shape)
        return np.frombuffer(raw, dtype).reshape(shape)


def _is_static(content) -> bool:
    if isinstance(content, str):
        return len(content) <= MAX_TEXT
    if isinstance(content, int):
        return content.bit_length() <= MAX_BITS
    return content is None


def _printable(text) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in str(text)[:80])


def check_answer(request: dict, answer) -> None:
    """WireError unless the answer has the form that the operation of the request gives."""
    if request["op"] == "call":
        return
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise WireError("an answer of the wrong form")
    if request["op"] == "vjp":
        arguments = sum(1 for node in request["args"]["tuple"] if {"array", "key"} & node.keys())
        cotangents = len(request["extra"]["list"])
        pulled = answer[1]
        if not isinstance(pulled, list) or len(pulled) != cotangents:
            raise WireError("an answer of the wrong form")
        if not all(isinstance(one, tuple) and len(one) == arguments for one in pulled):
            raise WireError("an answer of the wrong form")
