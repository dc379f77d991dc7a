"""report.html: what a class has understood, and what to teach again tomorrow."""

from collections import Counter
from dataclasses import dataclass

from straight_through import course
from straight_through.checks.misconceptions import MISCONCEPTIONS
from straight_through.feedback import INKS
from straight_through.grading.feedback_page import picture
from straight_through.grading.page import bar, document, esc, person, points, rows
from straight_through.grading.report_section import RAN, full, section, title

TOP = 3  # misconceptions on the first page
NAMES = 12  # learners named in one line
SLOWEST = 5
TYPICAL = "One such answer (dashed) over the expected (broad line)."
ISOLATION = {
    "bubblewrap": "Every submission ran in a sandbox: no network, no files but its own.",
    "none": "The submissions ran WITHOUT a sandbox: whoever wrote them could read and change "
    "everything that you can, grades included. Use this for your own work only.",
}


@dataclass
class Shared:
    """A misconception in one exercise, and the records that show it."""

    exercise: str
    label: str
    records: list[dict]
    tried: int

    @property
    def share(self) -> str:
        return f"{len(self.records)} of {self.tried}"

    @property
    def failed(self) -> list[dict]:
        """The checks that fail because of it, of all who share it."""
        checks = [check for record in self.records for check in record["checks"]]
        return [check for check in checks if check["misconception"] == self.label]

    @property
    def cost(self) -> float:
        """Points that the class lost to it."""
        return sum(check["points"] - check["score"] for check in self.failed)


def page(
    records: list[dict], portraits: list[dict], about: dict, links: dict[str, str], skipped=()
) -> str:
    """The class report.

    Args:
        records: as in grades.json.
        portraits: for each record the arrays of its pictures, by function.
        about: isolation, seed and versions of the run.
        links: the feedback page of each learner, relative to the report.
        skipped: files that do not count, each with the reason.
    """
    shared = ranked(records)
    parts = [
        f"<h1>{esc(course.load().title)}: class report</h1>",
        _warning(about),
        _tiles(records),
        _reteach(shared, records, portraits),
        *[section(stem, records) for stem in _stems(records)],
        _misconceptions(shared, links),
        _runs(records, links, skipped),
        _learners(records, links),
        _about(about),
    ]
    return document("Class report", "\n".join(filter(None, parts)))


def _stems(records: list[dict]) -> list[str]:
    return sorted({record["exercise"] for record in records})


def ranked(records: list[dict]) -> list[Shared]:
    """The misconceptions of a class, those that most learners share first; of equally frequent
    ones those that cost more."""
    found: dict[tuple[str, str], list[dict]] = {}
    for record in records:
        for label in record["misconceptions"]:
            if label in MISCONCEPTIONS and label != "not_attempted":
                found.setdefault((record["exercise"], label), []).append(record)
    tried = Counter(record["exercise"] for record in records if record["status"] in RAN)
    shared = [Shared(stem, label, who, tried[stem]) for (stem, label), who in found.items()]
    return sorted(shared, key=lambda s: (-len(s.records), -s.cost, s.exercise, s.label))


def _warning(about: dict) -> str:
    if about["isolation"] == "bubblewrap":
        return ""
    return f"<p class='warning'>{esc(ISOLATION[about['isolation']])}</p>"


def _tiles(records: list[dict]) -> str:
    counts = Counter(record["status"] for record in records)
    lost = sum(counts[status] for status in ("unreadable", "error"))
    tiles = [
        (len({record["learner"] for record in records}), "learners"),
        (len(records) - counts["missing"], "submissions"),
        (sum(map(full, records)), "with full marks"),
        (counts["not_attempted"], "not attempted"),
        (counts["missing"], "missing"),
        (counts["timeout"] + counts["crashed"], "stopped early"),
        (lost, "without a grade"),
    ]
    shown = [tile for place, tile in enumerate(tiles) if tile[0] or place < 3]
    return (
        "<div class='tiles'>"
        + "".join(f"<div class='tile'><b>{count}</b>{text}</div>" for count, text in shown)
        + "</div>"
    )


# ---- on top: what to teach again


def _reteach(shared: list[Shared], records: list[dict], portraits: list[dict]) -> str:
    """Three cards at most: the mistakes that two or more learners share, each with a picture."""
    common = [item for item in shared if len(item.records) > 1]
    cards = [_card(n, item, records, portraits) for n, item in enumerate(common[:TOP], 1)]
    if not cards:
        cards = ["<div class='card good'><p>No two learners share a misconception.</p></div>"]
    rest = len(shared) - len(cards) if common else 0
    more = f"<p class='quiet'>{rest} more are listed below.</p>" if rest > 0 else ""
    return "<h2>What to teach again</h2>" + "".join(cards) + more


def _card(number: int, shared: Shared, records: list[dict], portraits: list[dict]) -> str:
    found = MISCONCEPTIONS[shared.label]
    failed = Counter(check["title"] for check in shared.failed)
    checks = ", ".join(f"“{esc(title)}”" for title, _ in failed.most_common(3))
    fails = f"<p class='quiet'>What fails: {checks}.</p>" if checks else ""
    beside = _typical(shared, records, portraits) or _said(shared)
    return (
        f"<div class='card{' pair' if beside else ''}'><div><h3>{number}. {esc(found.title)}</h3>"
        f"<p><span class='share'>{shared.share} learners</span> who tried "
        f"<em>{esc(title(shared.exercise))}</em> ({esc(shared.exercise)})</p>"
        f"{bar([(len(shared.records), INKS['failed'])], shared.tried, shared.share)}"
        f"<p>{esc(found.sentence)}</p>{fails}</div>"
        + (f"<div>{beside}</div></div>" if beside else "</div>")
    )


def _typical(shared: Shared, records: list[dict], portraits: list[dict]) -> str:
    """The picture of one answer, without a name: one in which this mistake comes first."""
    functions = [function.name for function in course.load().exercise(shared.exercise).functions]
    found = MISCONCEPTIONS[shared.label]
    order = sorted(shared.records, key=lambda record: record["misconceptions"].index(shared.label))
    for record in order:
        arrays = portraits[records.index(record)]
        for function in functions:
            said = f"One answer with this mistake: {function}. {found.sentence}"
            drawn = picture(arrays, function, said, TYPICAL)
            if drawn:
                return drawn
    return ""


def _said(shared: Shared) -> str:
    """Where there is nothing to draw: the messages that came most often."""
    said = Counter(record["message"] for record in shared.records if record["message"])
    if not said:
        return ""
    lines = "".join(f"<li><code>{esc(text)}</code></li>" for text, _ in said.most_common(3))
    return f"<p class='quiet'>For example</p><ul>{lines}</ul>"


# ---- the rest


def _linked(record: dict, links: dict[str, str]) -> str:
    shown = person(record["learner"], record["name"])
    link = links.get(record["learner"])
    return f'<a href="{esc(link)}">{shown}</a>' if link else shown


def _misconceptions(shared: list[Shared], links: dict[str, str]) -> str:
    if not shared:
        return ""
    most = len(shared[0].records)
    cells = []
    for item in shared:
        found = MISCONCEPTIONS[item.label]
        who = [_linked(record, links) for record in item.records[:NAMES]]
        rest = len(item.records) - NAMES
        more = f" and {rest} more" if rest > 0 else ""
        cells.append(
            [
                bar([(len(item.records), INKS["failed"])], most, item.share) + item.share,
                f"<strong>{esc(found.title)}</strong> "
                f"<span class='tag'>{esc(item.exercise)}</span><br>{esc(found.sentence)}"
                f"<p class='quiet'>{', '.join(who)}{more}</p>",
            ]
        )
    heads = ["learners", "misconception"]
    return "<h2>Misconceptions, the most shared first</h2>" + rows(cells, heads)


def _runs(records: list[dict], links: dict[str, str], skipped) -> str:
    """What did not go as it should, what was changed, and what took longest."""
    parts = []
    odd = [r for r in records if r["status"] not in ("graded", "not_attempted")]
    odd += [r for r in records if any(c["outcome"] == "error" for c in r["checks"])]
    if odd:
        heads = ["learner", "exercise", "status", "why"]
        parts.append("<h3>Not graded in the ordinary way</h3>" + rows(_why(odd, links), heads))
    if skipped:
        items = "".join(f"<li>{esc(line)}</li>" for line in skipped)
        parts.append(f"<h3>Files that do not count</h3><ul>{items}</ul>")
    repaired = [r for r in records if r["repairs"]]
    if repaired:
        cells = [
            [_linked(r, links), esc(r["exercise"]), "; ".join(map(esc, r["repairs"]))]
            for r in repaired
        ]
        heads = ["learner", "exercise", "repair or choice"]
        parts.append("<h3>Repaired or chosen on a learner's behalf</h3>" + rows(cells, heads))
    slow = sorted(records, key=lambda r: -r["seconds"])[:SLOWEST]
    cells = [[_linked(r, links), esc(r["exercise"]), f"{r['seconds']:.1f} s"] for r in slow]
    parts.append("<h3>Slowest runs</h3>" + rows(cells, ["learner", "exercise", "time"], {2}))
    return "<h2>Runs to look at</h2>" + "".join(parts)


def _why(records: list[dict], links: dict[str, str]) -> list[list[str]]:
    unique = {(r["learner"], r["exercise"]): r for r in records}.values()
    return [
        [
            _linked(r, links),
            esc(r["exercise"]),
            esc(r["status"].replace("_", " ")),
            esc(r["message"])
            or "; ".join(esc(c["message"]) for c in r["checks"] if c["outcome"] == "error"),
        ]
        for r in unique
    ]


def _learners(records: list[dict], links: dict[str, str]) -> str:
    stems = _stems(records)
    people: dict[str, dict[str, dict]] = {}
    for record in records:
        people.setdefault(record["learner"], {})[record["exercise"]] = record
    cells = []
    for mine in people.values():
        first = next(iter(mine.values()))
        cells.append([_linked(first, links), *(_score(mine.get(stem)) for stem in stems)])
    return "<h2>All learners</h2>" + rows(cells, ["learner", *map(esc, stems)])


def _score(record: dict | None) -> str:
    if record is None:
        return ""
    shown = f"{points(record['score'])} of {points(record['max_score'])}"
    if record["score"] is None:
        shown = esc(record["status"])
    if record["override"] is not None:
        shown += " <span class='tag'>set by hand</span>"
    label = next(iter(record["misconceptions"]), None)
    named = f" {esc(MISCONCEPTIONS[label].title)}" if label in MISCONCEPTIONS else ""
    comment = f"<br>{esc(record['comment'])}" if record["comment"] else ""
    return f"{shown}<span class='quiet'>{named}{comment}</span>"


def _about(about: dict) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        "<h2>How this was graded</h2><p>"
        f"{esc(ISOLATION[about['isolation']])} Isolation: {esc(about['isolation'])}. "
        f"Seed of the inputs: {esc(about['seed'])}.</p><p class='quiet'>{esc(versions)}</p>"
    )
