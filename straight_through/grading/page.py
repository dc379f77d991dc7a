"""What the reports have in common: an inert page, escaped text, safe file names, small bars."""

import hashlib
import html
import re
import unicodedata

from straight_through.feedback import INKS
from straight_through.grading.sources import printable

# The page may load nothing and run nothing, whatever a learner's name or message says.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}
BLUE, GREY = "#0072B2", "#767676"

STYLE = f"""
:root {{ color-scheme: light; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff;
  max-width: 62rem; margin: 2rem auto; padding: 0 1.25rem; }}
h1 {{ font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }}
h2 {{ font-size: 1.25rem; margin: 2.4rem 0 .6rem; border-bottom: 1px solid #ccc; }}
h3 {{ font-size: 1.05rem; margin: 1.4rem 0 .4rem; }}
p {{ margin: .4rem 0; }}
.quiet {{ color: #595959; font-size: .9rem; }}
table {{ border-collapse: collapse; width: 100%; margin: .5rem 0; }}
th, td {{ text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid #e4e4e4; overflow-wrap: anywhere; }}
th {{ font-weight: 600; font-size: .9rem; }}
td.number, th.number {{ text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }}
code {{ font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }}
.tiles {{ display: flex; flex-wrap: wrap; gap: .7rem; margin: 1rem 0; }}
.tile {{ border: 1px solid #ccc; border-radius: .4rem; padding: .4rem .9rem; }}
.tile b {{ display: block; font-size: 1.5rem; line-height: 1.2; }}
.card {{ border-left: .4rem solid {INKS["failed"]}; background: #fdf6f1; padding: .7rem 1rem;
  margin: .8rem 0; break-inside: avoid; }}
.card h3 {{ margin: 0 0 .2rem; font-size: 1.15rem; }}
.card .share {{ font-weight: 700; color: {INKS["failed"]}; }}
.pair {{ display: grid; grid-template-columns: minmax(0, 1fr) 24rem; gap: 1.2rem; }}
.pair figure {{ margin: 0; }}
@media screen and (max-width: 48rem) {{ .pair {{ grid-template-columns: 1fr; }} }}
.good {{ border-left-color: {INKS["passed"]}; background: #f0f8f5; }}
.plain {{ border-left-color: {BLUE}; background: #f1f6fa; }}
.warning {{ border: 2px solid {INKS["failed"]}; padding: .5rem .9rem; margin: 1rem 0; }}
.tag {{ font-size: .8rem; color: #595959; border: 1px solid #bbb; border-radius: .3rem;
  padding: 0 .3rem; white-space: nowrap; }}
.bar {{ display: flex; height: .85rem; min-width: 8rem; background: #eee; margin: .35rem 0; }}
.bar span {{ display: block; height: 100%; }}
ul {{ padding-left: 1.2rem; margin: .3rem 0; }}
img {{ max-width: 100%; background: #fff; }}
figure {{ margin: .6rem 0; break-inside: avoid; }}
figcaption {{ font-size: .85rem; color: #595959; }}
tr, li {{ break-inside: avoid; }}
@media print {{
  :root {{ font-size: 11px; }}
  body {{ margin: 0; max-width: none; }}
  * {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
  a {{ color: inherit; text-decoration: none; }}
}}
"""


def esc(value) -> str:
    """Text as it may stand in a page: one line, no markup, nothing that steers a terminal."""
    return html.escape(printable(" ".join(str(value).split())), quote=True)


def document(title: str, body: str, digest: str = "") -> str:
    """A page that needs no other file, no network and no script."""
    mark = f'<meta name="made-from" content="{digest}">' if digest else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width">{mark}\n'
        f"<title>{esc(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def bar(parts: list[tuple[float, str]], whole: float, label: str) -> str:
    """A bar of coloured parts; the label says the same in words."""
    spans = "".join(
        f'<span style="width:{100 * size / whole:.2f}%;background:{ink}"></span>'
        for size, ink in parts
        if whole and size
    )
    return f'<div class="bar" role="img" aria-label="{esc(label)}">{spans}</div>'


def rows(cells: list[list[str]], heads: list[str], numbers: set[int] = frozenset()) -> str:
    """A table of cells that are HTML already."""

    def line(tag: str, row: list[str]) -> str:
        kind = [' class="number"' if place in numbers else "" for place in range(len(row))]
        return "".join(f"<{tag}{k}>{c}</{tag}>" for k, c in zip(kind, row, strict=True))

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in cells)
    return f"<table><thead><tr>{line('th', heads)}</tr></thead><tbody>{body}</tbody></table>"


def points(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 2):g}"


def person(learner: str, name: str) -> str:
    return f"{esc(name)} ({esc(learner)})" if name and name != learner else esc(learner)


def file_names(learners: list[str]) -> dict[str, str]:
    """A file name without suffix for each learner: safe on every system, and unique.

    A plain name is kept. What had to be changed, or differs in case only, gets a part of a hash.
    """
    plain = {learner: _plain(learner) for learner in learners}
    counts: dict[str, int] = {}
    for name in plain.values():
        counts[name.casefold()] = counts.get(name.casefold(), 0) + 1
    return {
        learner: name
        if name == learner and counts[name.casefold()] == 1
        else f"{name}-{hashlib.sha256(learner.encode('utf-8', 'replace')).hexdigest()[:10]}"
        for learner, name in plain.items()
    }


def _plain(learner: str) -> str:
    name = unicodedata.normalize("NFC", learner)
    name = re.sub(r"[^\w.@+ -]+", "_", name).strip(". _")[:60].strip(". _") or "learner"
    if name.split(".")[0].casefold() in RESERVED:
        name = f"_{name}"
    # A file system counts bytes.
    return name.encode()[:120].decode(errors="ignore")
