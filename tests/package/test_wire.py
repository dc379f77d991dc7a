"""What may cross the boundary comes back the same; what may not is refused in one way."""

import json

import ml_dtypes
import numpy as np
import pytest

from straight_through import wire


def there_and_back(value):
    buffers: list[bytes] = []
    node = json.loads(json.dumps(wire.encode(value, buffers)))
    return wire.decode(node, buffers)


@pytest.mark.parametrize("name", wire.DTYPES)
def test_arrays_of_every_dtype_and_shape_come_back_bit_for_bit(name):
    for shape in ((), (0,), (3,), (2, 3), (2, 0, 3)):
        value = np.arange(int(np.prod(shape))).reshape(shape).astype(wire.DTYPES[name])
        back = there_and_back(value)
        assert back.dtype == value.dtype and back.shape == value.shape
        assert back.tobytes() == value.tobytes()


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, -7, 2**53, 2**1023, 1.5, -0.0, float("inf"), "text", ""),
        *([], (), {}, [1, (2.0, None)], {"a": [1], "b": {}}, np.dtype("int8")),
        np.dtype(ml_dtypes.bfloat16),
        wire.Function("hard_tanh"),
        wire.Opaque("Tracer"),
    ],
)
def test_scalars_and_containers_keep_value_and_type(value):
    back = there_and_back(value)
    assert type(back) is type(value) and back == value


def test_nan_and_keys_come_back():
    assert np.isnan(there_and_back(float("nan")))
    key = there_and_back(wire.Key("threefry2x32", np.array([1, 2], np.uint32)))
    assert key.implementation == "threefry2x32" and key.data.tolist() == [1, 2]


OPAQUE = {
    "an object": object(),
    "a set": {1},
    "a huge int": 2**5000,
    "a long string": "x" * 100_000,
    "an array of objects": np.array([None]),
    "an array of text": np.array(["a"]),
    "a large array": np.zeros(wire.MAX_BYTES + 1, np.int8),
    "many large arrays": [np.zeros(2**17) for _ in range(8)],
    "a long list": [0] * 10**6,
    "a dtype that cannot cross": np.dtype("datetime64[s]"),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_what_cannot_cross_is_named_and_short(name):
    buffers: list[bytes] = []
    node = wire.encode(OPAQUE[name], buffers)
    assert isinstance(wire.decode(node, buffers), wire.Opaque)
    assert sum(map(len, buffers)) == 0 and len(json.dumps(node)) < 200


def test_deep_and_wide_results_are_cut():
    deep: list = []
    for _ in range(10_000):
        deep = [deep]
    assert len(json.dumps(wire.encode(deep, []))) < 1000
    wide = [[[0] * 100] * 100] * 100
    assert len(json.dumps(wire.encode(wide, []))) < 1_000_000


def test_half_characters_can_be_sent():
    json.dumps(wire.encode(["\ud800", {"\ud800": 1}], []), ensure_ascii=False).encode()


ARRAY = {"array": "int8", "shape": [4], "buffer": 0}
REFUSED = {
    "no dict": [1],
    "an empty dict": {},
    "text": "static",
    "an unknown kind": {"pickle": "gASV"},
    "another dtype": {**ARRAY, "array": "object"},
    "a dtype that is a list": {**ARRAY, "array": ["int8"]},
    "no shape": {"array": "int8", "buffer": 0},
    "a negative size": {**ARRAY, "shape": [-4]},
    "a size that is a bool": {**ARRAY, "shape": [True, 4]},
    "a size that is text": {**ARRAY, "shape": ["4"]},
    "a shape that is text": {**ARRAY, "shape": "4"},
    "a shape that is a dict": {**ARRAY, "shape": {}},
    "too many axes": {**ARRAY, "shape": [1] * 9 + [4]},
    "a shape that is too large": {**ARRAY, "shape": [2**31 - 1]},
    "a product that overflows": {**ARRAY, "shape": [2**30] * 8},
    "a buffer that is not there": {**ARRAY, "buffer": 1},
    "a negative buffer": {**ARRAY, "buffer": -1},
    "a buffer that is a list": {**ARRAY, "buffer": []},
    "one buffer for two arrays": {"list": [ARRAY, ARRAY]},
    "a static list": {"static": [1]},
    "a static dict": {"static": {"a": 1}},
    "a static float": {"static": 1.5},
    "a long text": {"static": "x" * 10_000},
    "a huge int": {"static": 2**2000},
    "a float that is none": {"float": "one"},
    "a float that is a number": {"float": 1.0},
    "a key without data": {"key": "threefry2x32"},
    "a dtype that is unknown": {"dtype": "object"},
    "a list that is text": {"list": "abc"},
    "a tuple that is a dict": {"tuple": {"static": 1}},
    "a dict that is one": {"dict": {"a": {"static": 1}}},
    "a dict with triples": {"dict": [["a", {"static": 1}, 2]]},
    "too many parts": {"list": [{"static": 1}] * 100_000},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_honest_peer_sends_is_refused(name):
    with pytest.raises(wire.WireError):
        wire.decode(REFUSED[name], [b"1234"])


def test_too_deep_a_value_and_too_many_bytes_are_refused():
    node: dict = {"static": 1}
    for _ in range(200):
        node = {"list": [node]}
    with pytest.raises(wire.WireError):
        wire.decode(node, [])
    with pytest.raises(wire.WireError):
        wire.decode({"static": 1}, [b"x" * wire.MAX_BYTES, b"y"])


def test_a_bool_is_true_or_false_whatever_its_byte():
    back = wire.decode({"array": "bool", "shape": [3], "buffer": 0}, [b"\x00\x01\x07"])
    assert back.view(np.uint8).tolist() == [0, 1, 1]


def test_names_of_opaque_results_can_be_printed():
    assert wire.decode({"opaque": "\x1b[31mred\n\ud800"}, []).isprintable()


def test_an_answer_must_have_the_form_of_its_operation():
    array = np.zeros(2, np.float32)
    args, extra = wire.encode((array, 1), []), wire.encode([array, array], [])
    vjp = {"op": "vjp", "args": args, "extra": extra}
    wire.check_answer(vjp, (array, [(array,), (array,)]))
    wrong = [array, (array,), (array, (array,)), (array, [(array,)]), (array, [array, array])]
    for answer in [*wrong, (array, [(array, array), (array,)]), None, wire.Opaque("x")]:
        with pytest.raises(wire.WireError):
            wire.check_answer(vjp, answer)
    with pytest.raises(wire.WireError):
        wire.check_answer({"op": "jvp"}, array)
    wire.check_answer({"op": "jvp"}, (array, array))
    wire.check_answer({"op": "call"}, wire.Opaque("anything"))
