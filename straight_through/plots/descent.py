"""One latent weight, five ways to get its gradient: who stalls, who oscillates, who arrives."""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from straight_through.plots import style
from straight_through.surrogates import SURROGATES, estimator

STEPS = 60
NAMED = ("true", "identity", "clipped", "tanh")
RUNNERS = tuple(SURROGATES[name].title for name in NAMED) + ("REINFORCE",)


@dataclass(frozen=True)
class RaceState:
    """The loss is (q - target)^2 / 2, q = +1 or -1; every runner starts at w = ``start``."""

    learning_rate: float = 0.1
    start: float = -1.5
    target: float = 1.0
    seed: int = 0
    step: int = STEPS


@dataclass(frozen=True)
class RaceCurves:
    """``w`` has shape (5, STEPS + 1): the latent weight of each runner before each step."""

    state: RaceState
    w: np.ndarray

    @property
    def best(self) -> int:
        """The value of q with the smaller loss; +1 if both are equal."""
        return 1 if self.state.target >= 0 else -1

    @property
    def verdicts(self) -> list[str]:
        return [_verdict(w, self.best) for w in self.w]

    @property
    def readout(self) -> list[tuple[str, str]]:
        rows = [("step", str(self.state.step)), ("best q", f"{self.best:+d}")]
        for name, w, verdict in zip(RUNNERS, self.w, self.verdicts, strict=True):
            rows.append((name, f"w = {style.number(w[self.state.step])}, {verdict}"))
        return rows

    note = ""

    @property
    def alt(self) -> str:
        ends = "; ".join(f"{n}: {v}" for n, v in zip(RUNNERS, self.verdicts, strict=True))
        start = f"{self.state.start:g}"
        return f"Latent weight of five runners over {STEPS} steps from {start}. {ends}."

    @property
    def columns(self) -> dict[str, np.ndarray]:
        return {"step": np.arange(STEPS + 1)} | dict(zip(RUNNERS, self.w, strict=True))


def _verdict(w: np.ndarray, best: int) -> str:
    """What a path of one weight amounts to, in a word or two."""
    if not np.all(np.isfinite(w)):
        return "diverges"
    right = (w >= 0) == (best > 0)
    crossings = np.count_nonzero(np.diff(right[-STEPS // 2 :]))
    if crossings >= 2:
        return "oscillates"
    if right[-1]:
        last_wrong = np.flatnonzero(~right)
        return f"arrives at step {last_wrong[-1] + 1}" if last_wrong.size else "arrives at once"
    return "stalls" if abs(w[-1] - w[-2]) < 1e-6 * max(1.0, abs(w[-1])) else "still on its way"


def _loss(q: jax.Array, target: jax.Array) -> jax.Array:
    return (q - target) ** 2 / 2


@jax.jit
def _paths(start, learning_rate, target, seed):
    def descend(name: str):
        quantize = estimator("two_valued", name)
        slope = jax.grad(lambda w: _loss(quantize(w), target))

        def step(w, _):
            return w - learning_rate * slope(w), w

        return jax.lax.scan(step, start, length=STEPS + 1)[1]

    def reinforce(carry, key):
        # q is +1 with probability sigmoid(2w); the running mean of the loss is the baseline.
        w, baseline = carry
        chance = jax.nn.sigmoid(2 * w)
        q = jnp.where(jax.random.uniform(key) < chance, 1.0, -1.0)
        loss = _loss(q, target)
        slope = ((q + 1) / 2 - chance) * 2 * (loss - baseline)
        return (w - learning_rate * slope, 0.9 * baseline + 0.1 * loss), w

    keys = jax.random.split(jax.random.key(seed), STEPS + 1)
    first = (start, _loss(jnp.where(start >= 0, 1.0, -1.0), target))
    return jnp.stack([*map(descend, NAMED), jax.lax.scan(reinforce, first, keys)[1]])


@functools.lru_cache(maxsize=64)
def _run(start: float, learning_rate: float, target: float, seed: int) -> np.ndarray:
    numbers = (jnp.float32(v) for v in (start, learning_rate, target))
    return np.asarray(_paths(*numbers, seed), np.float64)


def race_curves(state: RaceState) -> RaceCurves:
    """Run all five. Raises ValueError for numbers that no race can start from."""
    for name in ("learning_rate", "start", "target"):
        value = getattr(state, name)
        if not abs(value) <= 1e6:
            raise ValueError(f"The {name.replace('_', ' ')} must be a number up to 1e6.")
    if not 0 <= state.step <= STEPS:
        raise ValueError(f"The step must be from 0 to {STEPS}.")
    if not 0 <= state.seed < 2**31:
        raise ValueError("The seed must be an integer from 0 to 2147483647.")
    return RaceCurves(state, _run(state.start, state.learning_rate, state.target, int(state.seed)))


_LOOKS = (
    dict(color=style.BLACK, linestyle=":"),
    dict(color=style.BLUE, linestyle="-"),
    dict(color=style.VERMILLION, linestyle="--"),
    dict(color=style.GREEN, linestyle="-."),
    dict(color=style.PURPLE, linestyle=(0, (1, 1))),
)


class RacePicture(style.Picture):
    """One lane a runner: its latent weight against the step, shaded where q is wrong."""

    def __init__(self):
        super().__init__(7.2, 5.2)
        self.lanes, self.paths, self.heads, self.ghosts, self.bad = [], [], [], [], []
        for row, (name, look) in enumerate(zip(RUNNERS, _LOOKS, strict=True)):
            last = row == len(RUNNERS) - 1
            lane = self.figure.add_axes((0.205, 0.825 - row * 0.18, 0.78, 0.15))
            style.frame(lane, "", "step" if last else "")
            style.span(lane, "x", -0.5, STEPS + 0.5)
            lane.tick_params(labelbottom=last)
            lane.axhline(0, color=style.BLACK, linewidth=0.9)
            lane.text(
                -0.065,
                0.5,
                name,
                transform=lane.transAxes,
                ha="right",
                va="center",
                fontsize=style.TEXT,
                color=look["color"],
            )
            self.bad.append(lane.axhspan(-1, 0, color="#EFEFEF", zorder=0))
            ghost = dict(color="#B0B0B0", linewidth=1)
            self.ghosts.append(self.moving(lane.plot([], [], **ghost)[0]))
            self.paths.append(self.moving(lane.plot([], [], linewidth=2.2, **look)[0]))
            self.heads.append(
                self.moving(
                    lane.plot(
                        [], [], "o", color=look["color"], markersize=7, markeredgecolor="white"
                    )[0]
                )
            )
            self.lanes.append(lane)
        self.key = None

    def _frame(self, curves: RaceCurves) -> None:
        finite = np.abs(curves.w[np.isfinite(curves.w)])
        top = float(np.max(finite, initial=1.0))
        limit = next(v for v in (1, 2, 3, 6, 12, 1e2, 1e4, 1e6, 1e9, 1e300) if v >= 1.1 * top)
        if (limit, curves.best) == self.key:
            return
        self.key = (limit, curves.best)
        for lane, bad in zip(self.lanes, self.bad, strict=True):
            style.span(lane, "y", -limit, limit)
            lane.set_yticks([-limit / 2, 0, limit / 2])
            bad.set_y(-limit if curves.best > 0 else 0)
            bad.set_height(limit)
        self.stale()

    def show(self, curves: RaceCurves) -> None:
        self._frame(curves)
        now, steps = curves.state.step, np.arange(STEPS + 1)
        for w, path, head, ghost in zip(curves.w, self.paths, self.heads, self.ghosts, strict=True):
            ghost.set_data(steps, w)
            path.set_data(steps[: now + 1], w[: now + 1])
            head.set_data([now], [w[now]])


def race(
    *,
    learning_rate: float = 0.1,
    start: float = -1.5,
    target: float = 1.0,
    seed: int = 0,
    step: int = STEPS,
) -> Figure:
    """Five descents of one latent weight from ``start``, up to ``step`` of 60, as a Figure.

    The loss is (q - target)^2 / 2 with q = +1 if w >= 0, else -1. Raises ValueError for numbers
    that no race can start from.
    """
    curves = race_curves(RaceState(learning_rate, start, target, seed, step))
    return style.still(RacePicture(), curves)
