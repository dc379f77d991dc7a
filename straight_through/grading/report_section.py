"""One exercise in the class report: how the marks are distributed, and who passes which check.

Records are those of grades.json.
"""

import statistics
from collections import Counter

from straight_through import course
from straight_through.feedback import INKS
from straight_through.grading.page import BLUE, GREY, bar, esc, points, rows

RAN = ("graded", "timeout", "crashed")  # who tried


def title(stem: str) -> str:
    return course.load().exercise(stem).title


def full(record: dict) -> bool:
    """Whether a submission has all points."""
    return record["score"] is not None and record["score"] >= record["max_score"]


def section(stem: str, records: list[dict]) -> str:
    mine = [record for record in records if record["exercise"] == stem]
    scores = [record["score"] for record in mine if record["score"] is not None]
    if not scores:
        return f"<h2>{esc(title(stem))}</h2><p>Nobody has a score yet.</p>"
    most = mine[0]["max_score"]
    facts = (
        f"{len(scores)} scores: median {points(statistics.median(scores))}, "
        f"mean {points(round(statistics.mean(scores), 1))} of {points(most)} points; "
        f"{sum(map(full, mine))} with full marks."
    )
    return (
        f"<h2>{esc(title(stem))} <span class='tag'>{esc(stem)}</span></h2>"
        f"<p>{facts}</p>{histogram(scores, most)}<h3>Checks</h3>{_checks(mine)}"
    )


def histogram(scores: list[float], most: float) -> str:
    """How many earned how many points; full marks have a bar of their own."""
    step = max(1, -(-int(most) // 20))
    count = int(most) // step + 1
    bins = [0] * count
    for score in scores:
        bins[min(int(score) // step, count - 1)] += 1
    width, height, foot = 34, 110, 20
    highest = max(bins)
    shapes = []
    for place, size in enumerate(bins):
        tall = round((height - 18) * size / highest)
        x, y = place * width, height - tall
        ink = INKS["passed"] if place == count - 1 else BLUE
        low = place * step
        label = f"{low}" if step == 1 or place == count - 1 else f"{low}–{low + step - 1}"
        shapes.append(
            f'<rect x="{x + 3}" y="{y}" width="{width - 6}" height="{tall}" fill="{ink}"/>'
        )
        if size:
            shapes.append(f'<text x="{x + width / 2}" y="{y - 4}">{size}</text>')
        shapes.append(f'<text x="{x + width / 2}" y="{height + 14}" fill="{GREY}">{label}</text>')
    said = "; ".join(f"{place * step}: {size}" for place, size in enumerate(bins) if size)
    return (
        f'<figure><svg viewBox="0 0 {count * width} {height + foot}" width="{count * width}" '
        f'style="max-width:100%" role="img" aria-label="Learners by points. {said}" '
        f'font-size="12" text-anchor="middle" font-family="sans-serif">{"".join(shapes)}'
        f'<line x1="0" x2="{count * width}" y1="{height}" y2="{height}" stroke="{GREY}"/></svg>'
        "<figcaption>How many learners (above a bar) earned how many points (below it)."
        "</figcaption></figure>"
    )


def _checks(records: list[dict]) -> str:
    """Each check's pass rate, among those who tried."""
    tried = [record for record in records if record["status"] in RAN]
    outcomes: dict[str, Counter] = {}
    about: dict[str, dict] = {}
    for record in tried:
        for check in record["checks"]:
            outcomes.setdefault(check["id"], Counter())[check["outcome"]] += 1
            about[check["id"]] = check
    if not outcomes:
        return "<p>Nobody has tried yet.</p>"
    lowest = min(counts["passed"] for counts in outcomes.values())
    cells = []
    for name, counts in outcomes.items():
        check, passed, every = about[name], counts["passed"], counts.total()
        worst = passed == lowest < every
        title = f"<strong>{esc(check['title'])}</strong>" if worst else esc(check["title"])
        kinds = [(counts[kind], INKS[kind]) for kind in ("passed", "failed", "error", "not_run")]
        tags = ["hidden"] * check["hidden"] + ["fewest pass"] * worst
        said = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in counts.most_common())
        cells.append(
            [
                " ".join([title, *(f"<span class='tag'>{tag}</span>" for tag in tags)]),
                f"{bar(kinds, every, said)}",
                f"{100 * passed / every:.0f} %",
                f"{passed} of {every}",
                points(check["points"]),
            ]
        )
    return rows(cells, ["check", "passed, failed, not run", "pass", "", "points"], {2, 3, 4})
