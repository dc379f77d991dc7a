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
MAX_BYTES = 16 * 2**20  # of one message; the largest honest one has a few kilobytes
MAX_DEPTH = 8


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


def _array(value: np.ndarray, buffers: list[bytes]) -> dict:
    buffers.append(np.ascontiguousarray(value).tobytes())
    return {"array": value.dtype.name, "shape": list(value.shape), "buffer": len(buffers) - 1}


def encode(value, buffers: list[bytes], depth: int = 0):
    """Return the JSON-able form of ``value``; the bytes of its arrays are appended to buffers."""
    if depth > MAX_DEPTH:
        return {"opaque": "a deeply nested result"}
    if value is None or isinstance(value, bool | int):
        return (
            {"static": value}
            if value is None or value.bit_length() < 2**11
            else {"opaque": "a huge int"}
        )
    if isinstance(value, float) and not isinstance(value, np.generic):
        return {"float": value.hex()}
    if isinstance(value, Function):
        return {"function": str(value)}
    if isinstance(value, Opaque):
        return {"opaque": str(value)}
    if isinstance(value, str):
        return {"static": value}
    if isinstance(value, Key):
        return {"key": value.implementation, "data": _array(value.data, buffers)}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": np.dtype(value).name}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        known = array.dtype.name in DTYPES
        return _array(array, buffers) if known else {"opaque": f"an array of {array.dtype.name}"}
    if isinstance(value, list | tuple):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encode(item, buffers, depth + 1) for item in value]}
    if isinstance(value, dict):
        items = [[str(key), encode(item, buffers, depth + 1)] for key, item in value.items()]
        return {"dict": items}
    return {"opaque": type(value).__name__[:80]}


def _decode_array(node: dict, buffers: list[bytes]) -> np.ndarray:
    dtype = DTYPES.get(node["array"])
    shape = node["shape"]
    index = node["buffer"]
    if dtype is None or type(index) is not int or not 0 <= index < len(buffers):
        raise WireError("an array of unknown dtype or without its bytes")
    if not all(type(size) is int and 0 <= size < 2**31 for size in shape) or len(shape) > 8:
        raise WireError("an array of impossible shape")
    if math.prod(shape) * dtype.itemsize != len(buffers[index]):
        raise WireError("an array whose bytes do not fit its shape")
    return np.frombuffer(buffers[index], dtype).reshape(shape)


def decode(node, buffers: list[bytes], depth: int = 0):
    """Return the value that ``encode`` was given; WireError for anything it cannot have made."""
    if depth > MAX_DEPTH + 1 or not isinstance(node, dict) or not node:
        raise WireError("a malformed value")
    try:
        kind = next(iter(node))
        content = node[kind]
        if kind == "array":
            return _decode_array(node, buffers)
        if kind == "static" and (content is None or isinstance(content, bool | int | str)):
            return content
        if kind == "float":
            return float.fromhex(content)
        if kind == "function":
            return Function(content)
        if kind == "opaque":
            return Opaque(content)
        if kind == "key":
            return Key(str(content), _decode_array(node["data"], buffers))
        if kind == "dtype":
            return DTYPES[content]
        if kind in ("tuple", "list"):
            items = [decode(item, buffers, depth + 1) for item in content]
            return tuple(items) if kind == "tuple" else items
        if kind == "dict":
            return {str(key): decode(item, buffers, depth + 1) for key, item in content}
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise WireError(f"a malformed value ({type(error).__name__})") from None
    raise WireError(f"a value of unknown kind {str(kind)[:40]!r}")
