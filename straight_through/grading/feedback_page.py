"""feedback/<learner>.html: what a learner gets back.

Hidden checks appear with title and message only: neither their inputs nor their source.
"""

import functools
import json

from straight_through import course
from straight_through.checks.misconceptions import MISCONCEPTIONS
from straight_through.feedback import CAPTION, INKS, MARKS, WORDS, draw, image
from straight_through.grading.page import bar, document, esc, person, points
from straight_through.grading.sources import printable

STATUS = {
    "graded": "",
    "not_attempted": "The exercise was handed in as it was given out.",
    "timeout": "The run was stopped because it took too long. What had finished counts.",
    "crashed": "The run ended before it was through. What had finished counts.",
    "missing": "Nothing was handed in.",
    "unreadable": "The file could not be read, so there is no score. Hand it in again.",
    "error": "This could not be graded, for a reason that is not yours. There is no score yet.",
}
DETAILS = (("called", "called"), ("returned", "came back"), ("expected", "expected"))


@functools.lru_cache(maxsize=512)
def _drawn(arrays: str, title: str) -> bytes | None:
    """Many learners make the same mistake: one picture serves them all."""
    return draw(json.loads(arrays), title)


def picture(portraits: dict, function: str, alternative: str, caption: str = CAPTION) -> str:
    """The picture of one function that failed, as HTML; "" where there is nothing to draw."""
    if function not in portraits:
        return ""
    try:
        drawn = _drawn(json.dumps(portraits[function]), function)
        return image(drawn, printable(alternative), caption)
    except Exception:  # an odd answer must not cost anybody the report
        return ""


def page(records: list[tuple[dict, dict]], about: str, digest: str = "") -> str:
    """One learner's page, of (record as in grades.json, portraits) for each exercise."""
    first = records[0][0]
    title = person(first["learner"], first["name"])
    body = [f"<h1>{title}</h1><p class='quiet'>{esc(course.load().title)}</p>"]
    body += [_exercise(record, portraits) for record, portraits in records]
    body.append(f"<p class='quiet'>{esc(about)}</p>")
    return document(f"Feedback for {first['name'] or first['learner']}", "\n".join(body), digest)


def _exercise(record: dict, portraits: dict) -> str:
    exercise = course.load().exercise(record["exercise"])
    score, most = record["score"], record["max_score"]
    full = score is not None and score >= most
    kind = "good" if full else ("plain" if score is None else "")
    shown = "no score" if score is None else f"{points(score)} of {points(most)} points"
    said = (STATUS[record["status"]], record["message"])
    parts = [
        f"<h2>{esc(exercise.title)} <span class='tag'>{esc(exercise.stem)}</span></h2>",
        f"<div class='card {kind}'><h3>{shown}</h3>{_bar(record)}",
        *[f"<p>{esc(text)}</p>" for text in dict.fromkeys(said) if text],
        *[_named(label) for label in record["misconceptions"]],
        "</div>",
        _by_hand(record),
    ]
    failed = next((check for check in record["checks"] if check["outcome"] == "failed"), None)
    for function in exercise.functions:
        said = failed["message"] if failed else ""
        alternative = f"{function.name}: your values and derivative over the expected ones. {said}"
        parts.append(picture(portraits, function.name, alternative))
    parts += [_checks(record["checks"]), _notes(record)]
    return "\n".join(filter(None, parts))


def _bar(record: dict) -> str:
    if record["score"] is None:
        return ""
    ink = INKS["passed"]
    return bar([(record["score"], ink)], record["max_score"], f"{points(record['score'])} points")


def _named(label: str) -> str:
    if label not in MISCONCEPTIONS:
        return ""
    found = MISCONCEPTIONS[label]
    return f"<p><strong>{esc(found.title)}.</strong> {esc(found.sentence)}</p>"


def _by_hand(record: dict) -> str:
    if record["override"] is None and not record["comment"]:
        return ""
    changed = "<p>This score was set by your instructor.</p>"
    comment = f"<p>{esc(record['comment'])}</p>" if record["comment"] else ""
    changed = changed if record["override"] is not None else ""
    return f"<div class='card plain'><h3>From your instructor</h3>{comment}{changed}</div>"


def _checks(checks: list[dict]) -> str:
    if not checks:
        return ""
    lines = []
    for check in checks:
        ink, outcome = INKS[check["outcome"]], check["outcome"]
        hidden = " <span class='tag'>hidden</span>" if check["hidden"] else ""
        lines.append(
            f"<tr><td style='color:{ink};white-space:nowrap'>"
            f"{MARKS[outcome]}&nbsp;{WORDS[outcome]}</td>"
            f"<td>{esc(check['title'])}{hidden}{_why(check)}</td>"
            f"<td class='number'>{points(check['score'])} of {points(check['points'])}</td></tr>"
        )
    heads = "<tr><th>outcome</th><th>check</th><th class='number'>points</th></tr>"
    return f"<table><thead>{heads}</thead><tbody>{''.join(lines)}</tbody></table>"


def _why(check: dict) -> str:
    """The message of a check that did not pass; values only where the check is no secret."""
    if check["outcome"] == "passed":
        return ""
    said = f"<p>{esc(check['message'])}</p>" if check["message"] else ""
    if check["hidden"]:
        return said
    values = [(name, check.get(key)) for key, name in DETAILS if check.get(key)]
    lines = "".join(
        f"<tr><th>{name}</th><td><code>{esc(value)}</code></td></tr>" for name, value in values
    )
    return said + (f"<table>{lines}</table>" if lines else "")


def _notes(record: dict) -> str:
    """What was changed on the learner's behalf, and what else the run showed."""
    lines = [*record["repairs"], *record["notes"]]
    if record["submitted_at"]:
        lines.append(f"handed in: {record['submitted_at']}")
    if record["file"]:
        lines.append(f"file: {record['file']}")
    items = "".join(f"<li>{esc(line)}</li>" for line in lines)
    return f"<h3>What the grader noted</h3><ul class='quiet'>{items}</ul>" if items else ""
