"""What can be asked of a graded function: call, vjp, jvp, each plain, under jit, under vmap.

Runs where the function lives: in the learner's kernel at home, in the sandboxed child when a class
is graded. It takes its references to JAX before any learner code runs and imports nothing from the
package but the wire format (the child gets copies of both files).
"""

import contextlib
import importlib
import linecache

import jax
import jax.numpy as jnp
import numpy as np

try:  # the child has the two files side by side
    from ste_wire import Function, Key, Opaque, decode, encode
except ImportError:
    from straight_through.wire import Function, Key, Opaque, decode, encode

_enable_x64, _jit, _vmap, _vjp, _jvp = jax.enable_x64, jax.jit, jax.vmap, jax.vjp, jax.jvp
_Array, _asarray, _issubdtype, _inexact = jax.Array, jnp.asarray, jnp.issubdtype, jnp.inexact
_wrap_key, _is_key = jax.random.wrap_key_data, jax.dtypes.prng_key


class NotDifferentiable(TypeError):
    """The function's result is no floating array of the cotangent's shape."""


def _argument(value):
    """An argument as the learner's function gets it."""
    if isinstance(value, np.ndarray):
        return _asarray(value)
    if isinstance(value, Key):
        return _wrap_key(_asarray(value.data), impl=value.implementation)
    if isinstance(value, Function):
        return getattr(importlib.import_module("straight_through.examples"), value)
    if isinstance(value, list | tuple):
        return type(value)(_argument(item) for item in value)
    if isinstance(value, dict):
        return {key: _argument(item) for key, item in value.items()}
    return value


def _result(value):
    """A result as it crosses the boundary: arrays become NumPy arrays, containers stay."""
    if isinstance(value, _Array) and not _issubdtype(value.dtype, _is_key):
        return np.asarray(value)
    if type(value) in (list, tuple):
        return type(value)(_result(item) for item in value)
    if type(value) is dict:
        return {key: _result(item) for key, item in value.items()}
    simple = value is None or type(value) in (bool, int, float, str)
    if simple or isinstance(value, np.ndarray | np.generic | np.dtype):
        return value
    return Opaque(type(value).__name__)


def _is_array(value) -> bool:
    return isinstance(value, _Array)


class Target:
    """A graded function with the transformed versions of it that were already made."""

    def __init__(self, function):
        self.function = function
        self._jitted = {}

    def _split(self, args):
        """The traced arguments, and a function of these alone with the static ones filled in."""
        places = [i for i, value in enumerate(args) if _is_array(value)]

        def filled(*traced):
            full = list(args)
            for place, value in zip(places, traced, strict=True):
                full[place] = value
            return self.function(*full)

        return [args[i] for i in places], filled

    def _transformed(self, kind, function, mode, axes, statics):
        if mode == "plain":
            return function
        key = (kind, mode, axes, statics)
        if key not in self._jitted:
            made = _jit(function) if mode == "jit" else _vmap(function, in_axes=axes)
            self._jitted[key] = made
        return self._jitted[key]

    def call(self, args, mode, batched):
        traced, function = self._split(args)
        return self._transformed("call", function, mode, batched, _statics(args))(*traced)

    def vjp(self, args, cotangents, mode, batched):
        """The value, and for each cotangent the pulled-back ones of all floating arguments."""
        traced, function = self._split(args)

        def value_and_pull(cotangent, *values):
            value, pull = _vjp(function, *values)
            _fits(value, cotangent)
            return value, pull(cotangent.astype(value.dtype))

        if mode == "plain":  # one linearisation serves all cotangents
            value, pull = _vjp(function, *traced)
            _fits(value, cotangents[0])
            return value, [pull(cotangent.astype(value.dtype)) for cotangent in cotangents]
        axes = (0, *batched) if mode == "vmap" else None
        both = self._transformed("vjp", value_and_pull, mode, axes, _statics(args))
        answers = [both(cotangent, *traced) for cotangent in cotangents]
        return answers[0][0], [pulled for _, pulled in answers]

    def jvp(self, args, tangents, mode, batched):
        traced, function = self._split(args)

        def push(directions, *values):
            return _jvp(function, values, directions)

        axes = (0, *batched) if mode == "vmap" else None
        both = self._transformed("jvp", push, mode, axes, _statics(args))
        return both(tuple(tangents), *traced)


def _statics(args) -> str:
    return repr([None if _is_array(value) else value for value in args])


def _fits(value, cotangent):
    if not hasattr(value, "dtype") or not _issubdtype(value.dtype, _inexact):
        kind = getattr(value, "dtype", type(value).__name__)
        raise NotDifferentiable(f"the result is {kind}, which has no derivative")
    if value.shape != cotangent.shape:
        raise NotDifferentiable(
            f"the result has shape {value.shape}, not {cotangent.shape} like the input"
        )


def failure(error: BaseException) -> dict:
    """What a learner needs to know of an exception: type, message, and their own line."""
    line, text, message = None, "", ""
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "ipykernel_" in name or name.startswith("<learner"):
            line = trace.tb_lineno
            text = linecache.getline(name, line)
        trace = trace.tb_next
    try:  # the exception may be of the learner's own making
        syntax = isinstance(error, SyntaxError)
        if syntax and line is None:
            line, text = error.lineno, error.text or ""
        message = str(error.args[0] if syntax and error.args else error)
    except BaseException:
        pass
    return {
        "type": _plain(type(error).__name__, 80),
        "message": _plain(message, 600),
        "line": line if isinstance(line, int) else None,
        "text": _plain(text, 200),
    }


def _plain(text, longest: int) -> str:
    """Half a character (a lone surrogate) cannot be sent."""
    return str(text).strip()[:longest].encode("utf-8", "replace").decode()


def _wide(value) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype == np.float64
    if isinstance(value, list | tuple):
        return any(_wide(item) for item in value)
    return False


def serve(request: dict, buffers: list[bytes], targets: dict, namespace: dict):
    """Answer one request: ``(reply, buffers)``; what the learner's code raises is in the reply.

    ``targets`` keeps a Target for each function between requests; ``namespace`` is the notebook's.
    """
    name = request["name"]
    if request["op"] == "about":
        found = name in namespace
        return {"ok": True, "defined": found and callable(namespace[name])}, []
    if name not in namespace:
        said = {"type": "NameError", "message": f"{name} is not defined"}
        return {"ok": False, "failure": said}, []
    if name not in targets:
        targets[name] = Target(namespace[name])
    out: list[bytes] = []
    try:
        answer = _answer(request, buffers, targets[name])
        return {"ok": True, "result": encode(answer, out)}, out
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit inside a function is an answer like any other
        return {"ok": False, "failure": failure(error)}, []


def _answer(request: dict, buffers: list[bytes], target: Target):
    values = decode(request["args"], buffers)
    extra = decode(request["extra"], buffers)
    mode, batched = request["mode"], tuple(request["batched"])
    # Only float64 inputs turn the wide types on, and only for this request.
    with _enable_x64(True) if _wide(values) else contextlib.nullcontext():
        args, extra = _argument(values), _argument(extra)
        # With vmap, an axis for each traced argument, in their order.
        axes = tuple(axis for axis, value in zip(batched, args, strict=True) if _is_array(value))
        if request["op"] == "call":
            answer = target.call(args, mode, axes)
        elif request["op"] == "vjp":
            answer = target.vjp(args, extra, mode, axes)
        else:
            answer = target.jvp(args, extra, mode, axes)
        return _result(answer)
