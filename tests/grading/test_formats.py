"""Marks reach the instructor's own files, in the right rows, and nothing else in them changes."""

import csv
import io
import json
from dataclasses import replace

import pytest
from made import graded, grades

from straight_through.grading import export, gradescope, lms, marks
from straight_through.grading.collect import UsageError
from straight_through.grading.main import main
from straight_through.grading.marks import Mark

ZERO = "ignored_cotangent"


def mark(learner, value, name="", total=10):
    return Mark(
        learner, name, value, total, reason="" if value is not None else "04_ste is missing"
    )


def read_csv(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text)))


# ---- Moodle

MOODLE = (
    '\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum grade",'
    '"Grade can be changed","Last modified (submission)","Feedback comments"\r\n'
    '"Participant 101","Lovelace, Ada",ada@example.org,"Submitted for grading",,100.00,Yes,'
    '"Monday, 2 March 2026, 3:58 PM","She said ""hi""\nand left"\r\n'
    '"Participant 102","Lovelace, Ada",ada2@example.org,"Submitted for grading","55.00",100.00,'
    "Yes,-,\r\n"
    'Participant 103,Zoë O\'Neil,zoe@example.org,"No submission",-,100.00,Yes,-,=cmd\r\n'
)
GERMAN = (
    "Kennung;Vollständiger Name;E-Mail-Adresse;Status;Bewertung;Bestwertung;Bewertung kann\n"
    "Teilnehmer/in 101;Ada Lovelace;ada@example.org;Zur Bewertung abgegeben;;20,00;Ja\n"
    "Teilnehmer/in 103;Zoë O'Neil;zoe@example.org;Keine Abgabe;;20,00;Ja"
)


def moodle(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "worksheet.csv"
    path.write_bytes(text.encode(encoding))
    return lms.Moodle(path)


def test_the_worksheet_changes_in_the_filled_cells_only(tmp_path):
    filled = moodle(tmp_path, MOODLE).fill([mark("101", 7), mark("102", 10), mark("103", None)])
    wanted = MOODLE.replace('grading",,100', 'grading",70.00,100').replace('"55.00"', '"100.00"')
    assert filled.content == wanted.encode()
    assert (filled.count, filled.column) == (2, "Grade")
    assert filled.problems == ["103: left as it was (04_ste is missing)"]


def test_a_worksheet_in_another_language_with_decimal_commas(tmp_path):
    for encoding in ("utf-8", "latin-1"):
        filled = moodle(tmp_path, GERMAN, encoding).fill([mark("103", 7.5)])
        wanted = GERMAN.replace("Abgabe;;", "Abgabe;15,00;")
        assert filled.content == wanted.encode(encoding) and filled.column == "Bewertung"


def test_without_marks_the_file_is_the_same_byte_for_byte(tmp_path):
    for text in (MOODLE, GERMAN, MOODLE.replace("\r\n", "\n"), GERMAN + "\n\n"):
        assert moodle(tmp_path, text).fill([]).content == text.encode()


def test_folders_named_by_hand_are_matched_by_mail_or_name(tmp_path):
    people = [mark("ADA2@example.org", 1), mark("zoë o'neil", 2)]
    filled = moodle(tmp_path, MOODLE).fill(people)
    rows = read_csv(filled.content.decode("utf-8-sig"))
    assert [row["Grade"] for row in rows] == ["", "10.00", "20.00"]


def test_what_fits_twice_is_listed_and_never_guessed(tmp_path):
    people = [
        mark("Lovelace, Ada", 1),
        mark("nobody", 2),
        mark("103", 3),
        mark("zoe@example.org", 4),
    ]
    filled = moodle(tmp_path, MOODLE).fill(people)
    assert filled.content == MOODLE.encode() and filled.count == 0
    assert filled.problems == [
        "Lovelace, Ada: rows 2 and 3 fit",
        "nobody: no row fits",
        "103: row 4 also fits another learner",
        "zoe@example.org: row 4 also fits another learner",
    ]


def test_two_learners_of_one_name_are_not_matched_by_it(tmp_path):
    people = [mark("a", 1, name="Zoë O'Neil"), mark("b", 2, name="Zoë O'Neil")]
    filled = moodle(tmp_path, MOODLE).fill(people)
    assert filled.content == MOODLE.encode()
    assert filled.problems[0] == "a: several learners are called Zoë O'Neil"


@pytest.mark.parametrize(
    "text, said",
    [("learner,score\nada,3\n", "no grading worksheet"), ('"Identifier,Grade\n', "does not end")],
)
def test_another_file_is_refused_before_anything_is_graded(tmp_path, capsys, text, said):
    path = tmp_path / "some.csv"
    path.write_text(text)
    assert main([str(tmp_path), "--out", str(tmp_path / "out"), "--moodle", str(path)]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()


HEADS = 'Identifier,"Full name","ID number",Status,Grade,"Maximum grade","Grade can be changed"\n'


def downloaded(learner, name, source="Moodle"):
    return replace(mark(learner, 5, name=name), source=source)


@pytest.mark.parametrize("source", ["Moodle", ""])
def test_an_id_in_another_column_is_somebody_elses(tmp_path, source):
    sheet = moodle(tmp_path, HEADS + "Participant 555,Bob,101,S,,100.00,Yes\n")
    filled = sheet.fill([downloaded("101", "Ada Lovelace", source)])
    assert filled.count == 0 and len(filled.problems) == 1
    both = HEADS + "Participant 101,Ada Lovelace,9,S,,100.00,Yes\nParticipant 5,Cy,101,S,,1,Yes\n"
    filled = moodle(tmp_path, both).fill([downloaded("101", "Ada Lovelace", source)])
    assert filled.content.decode() == both.replace("9,S,,", "9,S,50.00,")


def test_a_team_is_not_the_participant_of_the_same_number(tmp_path):
    sheet = moodle(tmp_path, HEADS + "Participant 12,Bob Boole,9,S,,100.00,Yes\n")
    filled = sheet.fill([downloaded("12", "Group A")])
    assert filled.count == 0
    assert filled.problems == ["12: row 2 is for Bob Boole, not for Group A"]


@pytest.mark.parametrize(
    "name", ["ONeil Zoe", "Lab 3-Zoë O'Neil", "Z. O'Neil", "Zoë Ann O'Neil", "", "Participant"]
)
def test_what_an_lms_does_to_a_name_contradicts_nothing(tmp_path, name):
    sheet = moodle(tmp_path, HEADS + "Participant 12,Zoë O'Neil,9,S,,100.00,Yes\n")
    assert sheet.fill([downloaded("12", name)]).count == 1


def test_the_number_of_another_lms_is_no_id_here(tmp_path):
    bob = 'Student,ID,Section,Lab (7)\n    Points Possible,,,10\n"Boole, Bob",101,S,\n'
    path = tmp_path / "export.csv"
    path.write_text(bob)
    assert lms.Canvas(path).fill([downloaded("101", "Ada Lovelace")]).count == 0
    assert lms.Canvas(path).fill([downloaded("7", "Bob Boole")]).count == 1


def test_a_sis_id_is_not_the_canvas_id_of_somebody_else(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(CANVAS.replace(",s103,", ",104,"))
    filled = lms.Canvas(path, "773").fill([downloaded("104", "booleb", "Canvas")])
    assert filled.count == 0 and filled.problems == ["104: no row fits"]


def test_the_name_of_the_file_tells_the_lms():
    for file, source in (
        ("Lab 4/Ada Lovelace_101_assignsubmission_file/04_ste.ipynb", "Moodle"),
        ("lovelaceada_LATE_101_9001_04_ste.ipynb", "Canvas"),
        ("101/04_ste.ipynb", ""),
    ):
        ours, lost = graded("101"), graded("102", status="missing")
        ours.found = replace(ours.found, file=file)
        lost.found = replace(lost.found, file="")
        every = grades(ours, lost)
        assert [m.source for m in marks.marks(every, marks.points(every))] == [source, source]


@pytest.mark.parametrize(
    "maximum, grade",
    [('"1,000.00"', "500.00"), ('"1.000,00"', '"500,00"'), ("1 000.00", "500.00"), ("20", "10.00"),
     ('"Poor, Good, Great"', ""), ('"1,000"', "")],
)  # fmt: skip
def test_the_maximum_is_a_number_or_a_problem(tmp_path, maximum, grade):
    text = HEADS + f"Participant 101,Ada,9,S,,{maximum},Yes\n"
    filled = moodle(tmp_path, text).fill([mark("101", 5)])
    assert filled.content.decode() == text.replace("S,,", f"S,{grade},")
    assert bool(filled.problems) == (not grade)


def test_short_and_locked_rows_are_listed(tmp_path):
    text = (
        HEADS + "Participant 101,Ada\nParticipant 102,Bob,7,S,,100.00,No\n"
        "Participant 103,Cy,8,S,,100.00,Yes\n"
    )
    filled = moodle(tmp_path, text).fill([mark("101", 5), mark("102", 5), mark("103", 5)])
    assert filled.content.decode() == text.replace("8,S,,", "8,S,50.00,")
    assert filled.problems == [
        "101: left as it was (row 2 has fewer cells than the header)",
        "102: left as it was (Moodle says that this grade cannot be changed)",
    ]


# ---- Canvas

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lab 3 (771),The straight-through estimator (772),"
    "Quiz (773),Current Score\n"
    ",,,,,Manual Posting,,,\n"
    "    Points Possible,,,,,10,20,5,(read only)\n"
    '"Lovelace, Ada",101,s101,ada,"Lab, Monday",9,,4.50,91.2\n'
    '"O\'Neil, Zoë",103,s103,zoe,"Lab, Monday",,EX,,\n'
    '"Student, Test",999,,test,"Lab, Monday",,,,\n'
)


def canvas(tmp_path, column=None, stems=None):
    path = tmp_path / "export.csv"
    path.write_bytes(CANVAS.encode())
    return lms.Canvas(path, column, stems)


def test_the_canvas_export_changes_in_the_filled_cells_only(tmp_path):
    filled = canvas(tmp_path, stems=["04_ste"]).fill([mark("101", 7.5), mark("103", 3)])
    assert filled.content == CANVAS.replace('Monday",9,,4', 'Monday",9,15,4').encode()
    assert filled.problems == ["103: left as it was (excused in Canvas)"]


def test_a_short_row_of_canvas_is_listed(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(CANVAS.replace('zoe,"Lab, Monday",,EX,,', "zoe"))
    filled = lms.Canvas(path, "773").fill([mark("103", 5)])
    assert filled.problems == ["103: left as it was (row 5 has fewer cells than the header)"]


def test_many_points_keep_their_digits(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(CANVAS.replace("10,20,5", "10,20,120000"))
    filled = lms.Canvas(path, "773").fill([mark("101", 7.7777)])
    assert b",93332.4,91.2" in filled.content


@pytest.mark.parametrize("learner", ["101", "s101", "ada", "Ada Lovelace", "lovelaceada"])
def test_any_id_or_spelling_finds_the_row(tmp_path, learner):
    assert canvas(tmp_path, "773").fill([mark(learner, 1)]).count == 1


def test_the_column_is_asked_for_if_it_is_not_clear(tmp_path):
    with pytest.raises(UsageError, match="--canvas-column.*Lab 3 .771.; The straight"):
        canvas(tmp_path)
    with pytest.raises(UsageError, match="--canvas-column"):
        canvas(tmp_path, "Lab 9")
    assert canvas(tmp_path, "Lab 3").fill([mark("101", 1)]).column == "Lab 3 (771)"


# ---- one mark out of several exercises

ONE = graded("ada", "zero", "jacobian", label=ZERO)  # 8 of 10
TWO = graded("ada", stem="02_stop_gradient")  # 10 of 10


def scheme(tmp_path, text):
    path = tmp_path / "marks.toml"
    path.write_text(text)
    return marks.read(path)


WEIGHTS = "[weights]\n04_ste = 3\n02_stop_gradient = 1\n"


def test_weights_make_one_mark(tmp_path):
    (only,) = marks.marks(grades(ONE, TWO), scheme(tmp_path, "total = 20\n" + WEIGHTS))
    assert (only.value, only.total) == (20 * (3 * 0.8 + 1) / 4, 20)


def test_an_exercise_that_was_never_graded_is_no_zero_for_the_class(tmp_path):
    weights = scheme(tmp_path, 'missing = "zero"\n' + WEIGHTS)
    with pytest.raises(UsageError, match="02_stop_gradient.*same --out, or take it out"):
        marks.marks(grades(ONE), weights)
    one_handed_in = grades(ONE, graded("bob", stem="02_stop_gradient"))
    assert marks.marks(one_handed_in, weights)[0].value == 60


def test_weights_saved_with_a_byte_order_mark(tmp_path):
    assert scheme(tmp_path, "\ufeff" + WEIGHTS).weights["04_ste"] == 3


def test_an_override_counts_in_the_mark(tmp_path):
    ours = graded("ada", "zero", override=10)
    (only,) = marks.marks(grades(ours, TWO), scheme(tmp_path, WEIGHTS))
    assert only.value == 100


@pytest.mark.parametrize(
    "status, missing, value",
    [("missing", "zero", 25), ("missing", "blank", None), ("unreadable", "zero", None),
     ("error", "zero", None)],
)  # fmt: skip
def test_only_what_is_missing_can_count_as_zero(tmp_path, status, missing, value):
    lost = graded("ada", status=status)
    (only,) = marks.marks(grades(lost, TWO), scheme(tmp_path, f'missing = "{missing}"\n' + WEIGHTS))
    assert only.value == value
    assert value is not None or only.reason == f"04_ste is {status}"


@pytest.mark.parametrize(
    "text",
    ["", "weights = 3", "[weights]\n99_no = 1", "[weights]\n04_ste = 0", "[weights]\n04_ste = true",
     "total = -1\n" + WEIGHTS, 'missing = "maybe"\n' + WEIGHTS, "weight = 1\n" + WEIGHTS,
     "decimals = 1.5\n" + WEIGHTS, "decimals = 1.0\n" + WEIGHTS, "[weights]\n04_ste = nan",
     "[weights]\n04_ste = inf", "total = nan\n" + WEIGHTS, "total = inf\n" + WEIGHTS, "not toml"],
)  # fmt: skip
def test_weights_that_make_no_sense_are_a_usage_error(tmp_path, text):
    with pytest.raises(UsageError, match="marks.toml"):
        scheme(tmp_path, text)


# ---- CSV and Gradescope


def test_no_cell_is_a_formula():
    evil = '=HYPERLINK("http://x")'
    items = [graded(start + evil, name=start + evil, label=ZERO) for start in ("", "+", "-", "@")]
    for item in items:
        item.result.message = "\t=1+1"
    every = grades(*items, graded("-7"))
    scheme = marks.points(every)
    texts = [export.table(every), export.wide(every), export.mark_table(marks.marks(every, scheme))]
    for text in texts:
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                assert cell[:1] not in ("=", "+", "@", "\t") and (cell[:1] != "-" or cell == "-7")


def test_the_wide_table_has_one_line_a_learner_and_one_column_a_check():
    every = grades(ONE, TWO, graded("bob", status="missing"))
    ada, bob = read_csv(export.wide(every))
    assert (ada["04_ste: score"], ada["04_ste: zero"], ada["04_ste: values"]) == ("8", "0", "1")
    assert (ada["02_stop_gradient: score"], bob["02_stop_gradient: score"]) == ("10", "")
    assert (bob["04_ste: status"], bob["04_ste: score"], bob["04_ste: zero"]) == ("missing", "", "")
    assert sum(key.startswith("04_ste") for key in ada) == 2 + 10


def test_gradescope_gets_every_check_as_a_test():
    content = json.loads(json.dumps(gradescope.results([ONE, TWO])))
    tests = content["tests"]
    assert "score" not in content  # Gradescope adds up the tests
    assert sum(test["score"] for test in tests) == 18
    assert sum(test["max_score"] for test in tests) == 20
    failed = [test for test in tests if test["status"] == "failed"]
    assert [test["output"] for test in failed] == [
        "The message of zero.",
        "The message of jacobian.",
    ]
    assert failed[0]["tags"] == ["04_ste", ZERO] and "expected" not in json.dumps(content)


def test_gradescope_gets_the_override_and_the_reason_of_an_unreadable_file():
    assert gradescope.results([graded("ada", "zero", override=9.5)])["score"] == 9.5
    lost = gradescope.results([graded("ada", status="unreadable", message="The file is empty.")])
    assert lost["score"] == 0 and "The file is empty." in lost["output"]


def test_a_failure_of_ours_reaches_no_gradebook():
    assert gradescope.results([graded("ada", status="error"), TWO]) is None
