"""The inputs of the checks, drawn from a seed: distinct, asymmetric, mixed in sign and size."""

import zlib

import ml_dtypes
import numpy as np

from straight_through.wire import DTYPES

FLOATS = ("float32", "float16", "bfloat16", "float64")
LENGTH = 12  # one length for almost everything: JAX compiles an operation once for each shape


def significand_bits(dtype: str) -> int:
    """p of the dtype, the implicit bit included: 11, 8, 24, 53."""
    return int(ml_dtypes.finfo(DTYPES[dtype]).nmant) + 1


class Draws:
    """Inputs for one seed. The same seed gives the same arrays in any order of the calls."""

    def __init__(self, seed: int):
        self.seed = int(seed)

    def generator(self, *label) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(repr(label).encode())])

    def _spread(self, label, low, high, dtype, count=LENGTH) -> np.ndarray:
        """Both signs, sizes spread evenly between 2^low and 2^high, none of them a power of 2."""
        rng = self.generator(label, dtype)
        places = (rng.permutation(count) + rng.uniform(0.1, 0.9, count)) / count
        exponents = low + (high - low) * places
        signs = np.where(rng.permutation(count) % 2 == 0, 1.0, -1.0)
        values = np.ldexp(1.03 + 0.94 * (exponents % 1), np.floor(exponents).astype(int))
        return (signs * values).astype(DTYPES[dtype])

    def moderate(self, dtype: str, part: int = 0) -> np.ndarray:
        """Sizes from 1/32 to 32."""
        return self._spread(("moderate", part), -5, 5, dtype)

    def between(self, label: str, low: float, high: float, dtype: str) -> np.ndarray:
        """Sizes from 2^low to 2^high, in powers of two."""
        return self._spread(label, low, high, dtype)

    def tiny(self, dtype: str) -> np.ndarray:
        """Sizes from the smallest normal numbers up to 1/16; no subnormals."""
        info = ml_dtypes.finfo(DTYPES[dtype])
        return self._spread("tiny", int(info.minexp) + 1, -4, dtype)

    def middle(self, dtype: str) -> np.ndarray:
        """Sizes from 32 to 2^p, up to which whole numbers are kept."""
        return self.between("middle", 5, significand_bits(dtype), dtype)

    def large(self, dtype: str) -> np.ndarray:
        """Beyond 2^p, where whole numbers are lost; their sum is finite, so that a function that
        mixes its elements shows as one instead of overflowing."""
        p, top = significand_bits(dtype), int(ml_dtypes.finfo(DTYPES[dtype]).maxexp)
        narrow = dtype == "float16"  # only five binades lie between 2^p and overflow
        near = self._spread("near", p, p + 1 if narrow else p + 3, dtype, LENGTH // 2)
        low, high = (p + 2, p + 3) if narrow else (p + 3, top - 5)
        far = self._spread("far", low, high, dtype, 1 if narrow else LENGTH // 2)
        rest = self.moderate(dtype, part=5)[: LENGTH - len(near) - len(far)]
        return self.generator("large", dtype).permutation(np.concatenate([near, far, rest]))

    def largest(self, dtype: str) -> np.ndarray:
        """The largest finite number, with a sign, between ones too small to make it overflow."""
        values = self.between("beside the largest", -11, -1, dtype)
        place, sign = self.generator("largest", dtype).integers([0, 0], [LENGTH, 2])
        values[place] = (-1.0) ** sign * float(ml_dtypes.finfo(DTYPES[dtype]).max)
        return values

    def zeros(self, dtype: str) -> np.ndarray:
        """Zeros between moderate numbers."""
        values = self.moderate(dtype, part=7)
        places = self.generator("zeros").permutation(LENGTH)[:4]
        values[places] = 0
        return values

    def cotangent(self, dtype: str, part: int = 0) -> np.ndarray:
        """Weights of mixed sign and size, exact in every dtype."""
        rng = self.generator("cotangent", part)
        sizes = np.ldexp(rng.integers(9, 16, LENGTH) / 8.0, rng.permutation(LENGTH) - 5)
        signs = np.where(rng.permutation(LENGTH) % 2 == 0, 1.0, -1.0)
        return (signs * sizes).astype(DTYPES[dtype])
