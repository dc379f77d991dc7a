"""The reports say what to teach again, give nothing away, and are inert whatever learners wrote."""

import html
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from classroom import RIGHT, hand_in
from made import graded, grades

from straight_through.checks.misconceptions import MISCONCEPTIONS
from straight_through.grading import export, page, reports
from straight_through.grading.main import main, summary

CURVE = {"x": [-1.0, 0.0, 1.0], "yours": [-1.0, 0.0, 1.0], "expected": [-1.0, 0.0, 1.0]}
CURVE |= {"slope": [0.0, 0.0, 0.0], "expected_slope": [1.0, 1.0, 1.0]}
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e'\"&"


class Parsed(HTMLParser):
    """Tags and attributes of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.text += data


def write(tmp_path, every) -> str:
    reports.write(every, tmp_path)
    return (tmp_path / "report.html").read_text()


@pytest.fixture(scope="module")
def classroom():
    many = [
        graded(f"stopped{n}", "derivative", "cotangent", label="zero_gradient",
               portraits={"ste_quantize": CURVE})
        for n in range(5)
    ]  # fmt: skip
    some = [graded(f"rounds{n}", "large_inputs", label="rounding") for n in range(2)]
    lonely = graded("halves", "derivative", label="scaled_gradient")
    odd = [
        graded("slow", "zero", status="timeout", message="Stopped while running cell 3."),
        graded("gone", status="missing", message="Nothing was handed in."),
        graded("broken", status="unreadable", message="The file is empty."),
        graded("idle", status="not_attempted"),
        graded("moved", repairs=["turned the answer cell back into a code cell"]),
    ]
    right = [graded(f"right{n}") for n in range(9)]
    return grades(*many, *some, lonely, *odd, *right)


@pytest.fixture(scope="module")
def report(classroom, tmp_path_factory):
    return write(tmp_path_factory.mktemp("out"), classroom)


def test_what_most_learners_share_comes_first_with_its_sentence_and_picture(report):
    top = report[report.index("What to teach again") : report.index("<h3>Checks</h3>")]
    first, second = (html.escape(MISCONCEPTIONS[n].title) for n in ("zero_gradient", "rounding"))
    assert 0 < top.index(first) < top.index(second)
    assert html.escape(MISCONCEPTIONS["zero_gradient"].sentence) in top
    assert "5 of 19 learners" in top and "2 of 19 learners" in top  # of those who tried
    assert top.count("data:image/png") == 1
    assert html.escape(MISCONCEPTIONS["scaled_gradient"].title) not in top  # one learner's alone
    assert "stopped0" not in top  # nobody is named on the first page


def test_of_equally_frequent_mistakes_the_costlier_comes_first_everywhere(tmp_path):
    every = [graded(f"a{n}", "zero", label="negated_gradient") for n in range(2)]
    every += [graded(f"b{n}", "derivative", "cotangent", label="zero_gradient") for n in range(2)]
    made = grades(*every)
    report = write(tmp_path, made)
    titles = [MISCONCEPTIONS[name].title for name in ("zero_gradient", "negated_gradient")]
    for part in report.split("Misconceptions, the most shared first"):
        costlier, other = (part.index(html.escape(title)) for title in titles)
        assert costlier < other
    assert "zero_gradient (2 of 4), negated_gradient (2 of 4)" in summary(made, tmp_path)


def test_each_check_has_its_pass_rate(report):
    text = " ".join(Parsed(report[report.index("<h3>Checks</h3>") :]).text.split())
    row = re.search(r"The derivative is one everywhere.*?(\d+) % ?(\d+ of 19)", text)
    assert row.groups() == ("68", "13 of 19")
    assert "13 passed, 6 failed" in report


def test_the_distribution_and_the_numbers_of_the_class(report):
    assert "Learners by points. 0: 1; 8: 5; 9: 4; 10: 10" in report
    assert "20 scores: median 9.5, mean 8.8 of 10 points; 10 with full marks." in report


def test_failed_and_slow_runs_repairs_and_the_level_of_isolation(report):
    text = Parsed(report).text
    wanted = ["Stopped while running cell 3.", "The file is empty.", "turned the answer cell"]
    wanted += ["Isolation: bubblewrap", "Seed of the inputs: 7", "jax 0.10.1", "Slowest"]
    for said in wanted:
        assert said in text


def test_without_a_sandbox_the_report_warns_at_the_top(tmp_path):
    report = write(tmp_path, grades(graded("ada"), isolation="none"))
    assert report.index("WITHOUT a sandbox") < report.index("What to teach again")


def test_a_class_without_mistakes(tmp_path):
    assert "No two learners share" in write(tmp_path, grades(graded("ada"), graded("bob")))


@pytest.mark.parametrize("status", ["missing", "unreadable", "error", "not_attempted"])
def test_a_class_of_which_nothing_could_be_graded(tmp_path, status):
    assert "All learners" in write(tmp_path, grades(graded("ada", status=status)))


def hostile():
    item = graded(EVIL, "zero", "values", "example_ste_quantize", label="raises", name=EVIL)
    item.result.message = item.comment = EVIL
    item.result.notes, item.result.repairs = [EVIL], [EVIL]
    for check in item.result.checks:
        check.update(message=EVIL, called=EVIL, returned=EVIL, expected=EVIL)
    item.result.portraits = {"ste_quantize": CURVE}
    return item


def test_pages_are_inert_whatever_a_learner_wrote(tmp_path):
    write(tmp_path, grades(hostile(), graded("ada")))
    paths = [tmp_path / "report.html", *(tmp_path / "feedback").iterdir()]
    assert len(paths) == 3
    for path in paths:
        content = path.read_text()
        parsed = Parsed(content)
        assert not {"script", "iframe", "object", "link", "form"} & set(parsed.tags)
        assert not [name for name, _ in parsed.attributes if name.startswith("on")]
        sources = [value for name, value in parsed.attributes if name in ("src", "href")]
        assert all(value.startswith(("data:image/png", "feedback/")) for value in sources)
        assert "default-src 'none'" in html.unescape(content)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", content)
        assert "url(" not in content and "@import" not in content


def test_a_browser_runs_nothing_and_loads_nothing(tmp_path):
    playwright = pytest.importorskip("playwright.sync_api")
    write(tmp_path, grades(hostile()))
    with playwright.sync_playwright() as play:
        try:
            browser = play.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        view = browser.new_page()
        events = []
        view.on("dialog", lambda dialog: (events.append("dialog"), dialog.dismiss()))
        view.on("console", lambda message: events.append(message.text))
        view.on("request", lambda request: events.append(request.url))
        for path in (tmp_path / "report.html", *(tmp_path / "feedback").iterdir()):
            view.goto(path.as_uri())
        assert [e for e in events if not e.startswith(("file:", "data:image/png"))] == []
        browser.close()


def _chromium():
    return shutil.which("chromium") or shutil.which("google-chrome")


def feedback(tmp_path, *items) -> str:
    write(tmp_path, grades(*items))
    (path,) = (tmp_path / "feedback").iterdir()
    return path.read_text()


def test_hidden_checks_show_title_and_message_and_no_values(tmp_path):
    content = feedback(tmp_path, graded("ada", "zero", "example_ste_quantize", label="two_valued"))
    text = Parsed(content).text
    assert "Zero stays zero" in text and "The message of zero." in text
    for word in ("called", "returned", "expected"):
        assert f"{word} zero" not in text
        assert f"{word} example_ste_quantize" in text  # the example is in the exercise's text
    assert MISCONCEPTIONS["two_valued"].sentence in text
    assert "8 of 10 points" in text


def test_the_picture_is_there_for_those_who_see_it_and_those_who_do_not(tmp_path):
    item = graded("ada", "derivative", label="zero_gradient", portraits={"ste_quantize": CURVE})
    content = feedback(tmp_path, item)
    assert content.count("data:image/png;base64,") == 1
    assert "your values and derivative over the expected ones. The message of der" in content


def test_a_portrait_that_cannot_be_drawn_costs_nobody_the_report(tmp_path):
    item = graded("ada", "zero", portraits={"ste_quantize": {"x": ["no number"]}})
    assert "The message of zero." in feedback(tmp_path, item)


def test_score_comment_and_time_of_the_instructor_reach_the_learner(tmp_path):
    item = graded("ada", "zero", override=9.5, comment="Good idea!", submitted_at="2 March 15:58")
    text = Parsed(feedback(tmp_path, item)).text
    for said in ("9.5 of 10 points", "Good idea!", "set by your instructor", "2 March 15:58"):
        assert said in text


def test_a_page_that_would_not_change_is_left_alone_and_one_of_nobody_goes(tmp_path):
    write(tmp_path, grades(graded("ada"), graded("bob")))
    before = (tmp_path / "feedback" / "ada.html").stat()
    (tmp_path / "feedback" / "mine.html").write_text("the instructor's own")
    write(tmp_path, grades(graded("ada")))
    assert (tmp_path / "feedback" / "ada.html").stat().st_mtime_ns == before.st_mtime_ns
    assert sorted(p.name for p in (tmp_path / "feedback").iterdir()) == ["ada.html", "mine.html"]


NAMES = ["ada", "Ada", "../../etc/passwd", "CON", "", ".", "a/b", "a\\b", "a:b", "é" * 300, "-rf",
         "a.", "a ", "nul.txt", "x" * 300, "日本", "\udcff"]  # fmt: skip


def test_file_names_are_safe_and_unique():
    names = page.file_names(NAMES)
    assert names["日本"] == "日本" and page.file_names(["ada"]) == {"ada": "ada"}
    assert len({name.casefold() for name in names.values()}) == len(NAMES)
    for name in names.values():
        assert not re.search(r'[/\\:*?"<>|\x00-\x1f]', name) and name.strip(". ") == name
        assert 0 < len(name.encode()) < 200 and name.casefold().split(".")[0] not in ("con", "nul")


# ---- by hand


@pytest.fixture(scope="module")
def really_graded(tmp_path_factory):
    """A class of one that was really graded."""
    folder = tmp_path_factory.mktemp("class")
    hand_in(folder / "in", "ada", RIGHT.replace("zero +", "2 * zero +"))
    assert main([str(folder / "in"), "--out", str(folder / "out"), "--seed", "1"]) == 0
    return folder / "out"


@pytest.fixture
def out(really_graded, tmp_path):
    return Path(shutil.copytree(really_graded, tmp_path / "out"))


def row(out) -> dict:
    (only,) = json.loads((out / "grades.json").read_text())["submissions"]
    return only


def test_an_override_and_its_comment_are_kept_when_grading_again(out, tmp_path):
    computed = row(out)["score"]
    command = ["--out", str(out), "--override", "ada", "04_ste", "8,5", "--comment", "Nearly"]
    assert main(command) == 0
    assert (row(out)["score"], row(out)["override"], row(out)["comment"]) == (8.5, 8.5, "Nearly")
    hand_in(tmp_path / "in", "ada", RIGHT)
    assert main([str(tmp_path / "in"), "--out", str(out)]) == 0
    assert (row(out)["score"], row(out)["comment"]) == (8.5, "Nearly")
    assert "Nearly" in (out / "feedback" / "ada.html").read_text()
    assert main(["--out", str(out), "--override", "ada", "04_ste", "auto"]) == 0
    assert (row(out)["score"], row(out)["override"], row(out)["comment"]) == (10, None, "Nearly")
    assert computed < 10


def test_a_score_given_for_nothing_handed_in_is_kept(out, tmp_path):
    (tmp_path / "roster.csv").write_text("ada\nbob\n")
    hand_in(tmp_path / "in", "ada", b"no notebook")
    command = [str(tmp_path / "in"), "--out", str(out), "--roster", str(tmp_path / "roster.csv")]
    assert main(command) == 0
    by_hand = ["--out", str(out), "--override", "bob", "04_ste", "3", "--comment", "Oral exam"]
    assert main(by_hand) == 0
    assert main(command) == 0
    rows = json.loads((out / "grades.json").read_text())["submissions"]
    assert [(r["learner"], r["status"], r["score"]) for r in rows] == [
        ("ada", "unreadable", None),
        ("bob", "missing", 3),
    ]


def test_writing_anew_changes_nothing(out):
    files = {p: p.read_bytes() for p in out.rglob("*") if p.is_file() and p.suffix != ".sqlite"}
    assert main(["--out", str(out)]) == 0
    assert {p: p.read_bytes() for p in files} == files


def test_forget_deletes_everything_about_a_learner(out, tmp_path):
    assert main(["--out", str(out), "--gradescope"]) == 0
    assert main(["--out", str(out), "--forget", "ada"]) == 0
    for path in out.rglob("*"):
        assert "ada" not in path.name
        assert path.is_dir() or b"ada" not in path.read_bytes().replace(b"gradable", b"")
    assert main(["--out", str(out), "--forget", "ada"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [["--override", "ada", "04_ste", "11"], ["--override", "ada", "04_ste", "nan"],
     ["--override", "bob", "04_ste", "1"], ["--override", "ada", "99", "1"], ["--comment", "hm"],
     ["--forget", "bob"], ["somewhere", "--forget", "ada"]],
)  # fmt: skip
def test_what_cannot_be_done_by_hand_is_said(tmp_path, capsys, arguments):
    export.write(grades(graded("ada")), tmp_path)
    (tmp_path / "gradebook.sqlite").touch()
    before = (tmp_path / "grades.json").read_bytes()
    assert main([*arguments, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("ste grade: ")
    assert (tmp_path / "grades.json").read_bytes() == before


def test_without_grades_there_is_nothing_to_write_anew(tmp_path, capsys):
    assert main(["--out", str(tmp_path)]) == 2
    assert "give SUBMISSIONS" in capsys.readouterr().err
