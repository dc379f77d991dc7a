"""Whatever an LMS, a browser or a learner does to names and zips, the right notebook is found."""

import io
import os
import stat
import unicodedata
import zipfile

import nbformat
import pytest
from classroom import RIGHT, hand_in, notebook

from straight_through.grading import sources
from straight_through.grading.collect import UsageError, collect, read_roster

ANSWERED = nbformat.writes(notebook(RIGHT)).encode()
STUB = nbformat.writes(notebook("def ste_quantize(x):\n    raise NotImplementedError")).encode()


def put(folder, name, content=ANSWERED, age=0):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


def zipped(path, contents):
    """A zip of (name or ZipInfo, bytes)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents:
            archive.writestr(name, content)
    return path


def as_zip(folder, path):
    names = sorted(p for p in folder.rglob("*") if p.is_file())
    return zipped(path, [(str(p.relative_to(folder)), p.read_bytes()) for p in names])


def who(found) -> dict:
    return {(f.learner, f.exercise): f for f in found}


MOODLE_FOLDERS = [
    "Ada Lovelace_101_assignsubmission_file/04_ste.ipynb",
    "Ada Lovelace_102_assignsubmission_file/04_ste (1).ipynb",
    "Zoë O'Neil_103_assignsubmission_file_/04_ste.ipynb",
    "Zoë O'Neil_103_assignsubmission_onlinetext/onlinetext.html",
]
MOODLE_FLAT = [
    "Ada Lovelace_101_assignsubmission_file_04_ste.ipynb",
    "Ada Lovelace_102_assignsubmission_file_04_ste-1.ipynb",
    "Zoë O'Neil_103_assignsubmission_file_/04_ste.ipynb",
]
CANVAS = [
    "lovelaceada_101_9001_04_ste.ipynb",
    "lovelaceada_LATE_102_9002_04_ste-2.ipynb",
    "oneilzo_103_9003_my 04_ste.ipynb",
    "oneilzo_103_9004_notes.pdf",
    "oneilzo_103_text.html",
]


@pytest.mark.parametrize("names", [MOODLE_FOLDERS, MOODLE_FLAT, CANVAS])
@pytest.mark.parametrize("form", ["folder", "zip", "zip with one folder around it"])
def test_downloads_of_moodle_and_canvas(names, form, tmp_path):
    place = tmp_path / "in" / ("Lab 4" if "around" in form else "")
    for name in names:
        put(place, name)
    place = tmp_path / "in"
    if form != "folder":
        place = as_zip(place, tmp_path / "course-Lab_4_submissions.zip")
    found = collect(place)
    assert [(f.learner, f.exercise, f.raw) for f in found] == [
        (learner, "04_ste", ANSWERED) for learner in ("101", "102", "103")
    ]
    assert found[0].name == found[1].name  # two people of one name stay apart
    assert not found.skipped


def test_names_and_lateness_of_the_lms_are_kept(tmp_path):
    for name in CANVAS:
        put(tmp_path / "canvas", name)
    for name in MOODLE_FOLDERS:
        put(tmp_path / "moodle", name)
    late = who(collect(tmp_path / "canvas"))["102", "04_ste"]
    assert late.name == "lovelaceada" and "Canvas marks it as late" in late.notes
    assert who(collect(tmp_path / "moodle"))["103", "04_ste"].name == "Zoë O'Neil"


def test_anonymous_canvas_downloads(tmp_path):
    put(tmp_path, "anon_x7Yz9_9001_04_ste.ipynb")
    put(tmp_path, "LATE_anon_Qq12_9002_04_ste.ipynb")
    assert [f.learner for f in collect(tmp_path)] == ["Qq12", "x7Yz9"]


def test_of_two_canvas_uploads_the_later_one_counts(tmp_path):
    put(tmp_path, "lovelaceada_101_9001_04_ste.ipynb", b"early", age=0)
    put(tmp_path, "lovelaceada_101_9002_04_ste-1.ipynb", ANSWERED, age=60)
    assert collect(tmp_path)[0].raw == ANSWERED


@pytest.mark.parametrize("place", ["", "submitted"])
def test_nbgraders_folder_with_its_time(tmp_path, place):
    put(tmp_path, "submitted/ada/lab4/04_ste.ipynb")
    put(tmp_path, "submitted/ada/lab4/timestamp.txt", b"2026-03-02 15:58:23.948203 Europe/Paris\n")
    put(tmp_path, "submitted/bob/lab4/04_ste.ipynb")
    put(tmp_path, "source/lab4/04_ste.ipynb")
    ada, bob = collect(tmp_path / place)
    assert (ada.learner, ada.submitted_at) == ("ada", "2026-03-02 15:58:23.948203 Europe/Paris")
    assert (bob.learner, bob.submitted_at) == ("bob", None)


def test_a_learner_may_be_called_submitted(tmp_path):
    for learner in ("ada", "submitted"):
        put(tmp_path, f"{learner}/04_ste.ipynb")
    assert [f.learner for f in collect(tmp_path)] == ["ada", "submitted"]


@pytest.mark.parametrize(
    "name",
    [
        "04_ste (1).ipynb",
        "04_ste-1.ipynb",
        "04_ste (2) (1).ipynb",
        "04_ste-Copy1.ipynb",
        "Copy of 04_ste.ipynb",
        "04 STE final.ipynb",
        "lovelace_04_ste.ipynb",
        "04_ste.IPYNB",
        "04_ste.ipynb.txt",
        "04_ste.ipynb (1)",
        "Untitled7.ipynb",
        unicodedata.normalize("NFD", "04_ste für Zoë.ipynb"),
    ],
)
def test_a_renamed_file_is_recognised_and_said(name, tmp_path):
    put(tmp_path, f"ada/{name}")
    (found,) = collect(tmp_path)
    assert (found.exercise, found.raw) == ("04_ste", ANSWERED)
    if name != "04_ste.IPYNB":
        assert "took" in found.notes[0]


def test_of_several_files_the_newest_that_is_not_a_stub_counts(tmp_path):
    put(tmp_path, "ada/04_ste.ipynb", STUB, age=0)
    put(tmp_path, "ada/04_ste (1).ipynb", ANSWERED, age=10)
    put(tmp_path, "ada/old/04_ste.ipynb", b"{}", age=20)
    (found,) = collect(tmp_path)
    assert found.raw == ANSWERED and "chose 04_ste (1).ipynb of 3 files" in found.notes[0]


def test_of_two_copies_of_one_age_the_higher_number_counts(tmp_path):
    for number in (2, 10, 9):
        put(tmp_path, f"ada/04_ste ({number}).ipynb", ANSWERED + b" " * number)
    assert collect(tmp_path)[0].raw == ANSWERED + b" " * 10


def test_what_is_no_hand_in_is_ignored(tmp_path):
    put(tmp_path, "ada/04_ste.ipynb", age=100)
    for name in (
        "ada/.ipynb_checkpoints/04_ste-checkpoint.ipynb",
        "ada/04_ste.backup-1.ipynb",
        "ada/._04_ste.ipynb",
        "ada/__MACOSX/04_ste.ipynb",
        "ada/solutions/04_ste.ipynb",
        "ada/notebooks/04_ste.ipynb",
        "__MACOSX/ada/04_ste.ipynb",
        "graded/feedback/04_ste.ipynb",
        "graded/gradebook.sqlite",
    ):
        put(tmp_path, name, b"wrong one")
    (found,) = collect(tmp_path)
    assert found.file == "ada/04_ste.ipynb" and found.raw == ANSWERED


def test_a_folder_name_in_either_unicode_form_is_one_learner(tmp_path):
    put(tmp_path, unicodedata.normalize("NFD", "Zoë") + "/04_ste.ipynb")
    put(tmp_path, unicodedata.normalize("NFC", "Zoë") + "/03_rounding.ipynb")
    assert {f.learner for f in collect(tmp_path)} == {unicodedata.normalize("NFC", "Zoë")}


def test_names_cannot_steer_a_terminal(tmp_path):
    put(tmp_path, "eve\x1b[2J\u202egnp/04_ste\x07.ipynb")
    (found,) = collect(tmp_path)
    assert not set("\x1b\u202e\x07") & set(found.learner + found.file + "".join(found.notes))
    put(tmp_path, "eve\x1b[3J\u202egnp/04_ste.ipynb")
    assert len(collect(tmp_path)) == 2  # two folders stay two learners


# ---- zips that mean harm


def link(name, target):
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target


def test_evil_entries_are_skipped_and_the_rest_is_graded(tmp_path):
    place = zipped(
        tmp_path / "class.zip",
        [
            ("ada/04_ste.ipynb", ANSWERED),
            ("../../04_ste.ipynb", ANSWERED),
            ("/etc/04_ste.ipynb", ANSWERED),
            ("C:\\class\\04_ste.ipynb", ANSWERED),
            ("bob\\..\\..\\04_ste.ipynb", ANSWERED),
            link("eve/04_ste.ipynb", "/etc/passwd"),
            ("bomb/04_ste.ipynb", b"\0" * (60 * 2**20)),
            ("html/04_ste.ipynb", b"<html>"),
        ],
    )
    found = who(collect(place))
    assert [learner for learner, _ in found] == ["ada", "bomb", "eve", "html"]
    assert found["ada", "04_ste"].raw == ANSWERED
    assert "link" in found["eve", "04_ste"].problem and found["eve", "04_ste"].raw is None
    assert "60 MB" in found["bomb", "04_ste"].problem
    skipped = collect(place).skipped
    assert len(skipped) == 4 and all("points out of the zip" in line for line in skipped)
    assert os.listdir(tmp_path) == ["class.zip"]  # nothing was unpacked


def test_a_bomb_that_lies_about_its_size_is_stopped(tmp_path):
    place = zipped(tmp_path / "class.zip", [("bomb/04_ste.ipynb", b"\0" * (60 * 2**20))])
    raw = place.read_bytes().replace((60 * 2**20).to_bytes(4, "little"), b"\x10\0\0\0")
    place.write_bytes(raw)
    (found,) = collect(place)
    assert found.raw is None and found.problem


def test_all_files_together_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_TOTAL", 2 * len(ANSWERED))
    place = zipped(tmp_path / "class.zip", [(f"{c}/04_ste.ipynb", ANSWERED) for c in "abcd"])
    assert [f.raw is not None for f in collect(place)] == [True, True, False, False]


def test_an_encrypted_zip_is_unreadable_and_says_why(tmp_path):
    place = zipped(tmp_path / "class.zip", [("ada/04_ste.ipynb", b"x"), ("bob/04_ste.ipynb", STUB)])
    raw = bytearray(place.read_bytes())
    raw[6] |= 1  # the local header's flag, and the one in the central directory
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    place.write_bytes(raw)
    ada, bob = collect(place)
    assert "encrypted" in ada.problem and bob.raw == STUB


def test_a_learners_own_zip_is_looked_into(tmp_path):
    inner = io.BytesIO()
    zipped(inner, [("homework/04_ste.ipynb", ANSWERED), ("../04_ste.ipynb", b"evil")])
    put(tmp_path, "lovelaceada_101_9001_homework.zip", inner.getvalue())
    put(tmp_path, "oneilzo_103_9003_04_ste.ipynb")
    put(tmp_path, "brokenbob_104_9005_04_ste.zip", b"PK no zip")
    found = who(collect(tmp_path))
    assert found["101", "04_ste"].raw == ANSWERED
    assert found["104", "04_ste"].path is None  # a row of his own, which says what was there
    assert "04_ste.zip" in found["104", "04_ste"].problem


def test_a_damaged_zip_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="class.zip is no zip"):
        collect(put(tmp_path, "class.zip", b"PK\3\4 cut"))


def test_links_in_a_folder_are_not_followed(tmp_path):
    outside = put(tmp_path, "outside/04_ste.ipynb")
    put(tmp_path, "class/ada/04_ste.ipynb")
    (tmp_path / "class" / "eve").mkdir()
    (tmp_path / "class" / "eve" / "04_ste.ipynb").symlink_to(outside)
    (tmp_path / "class" / "mallory").symlink_to(outside.parent)
    found = collect(tmp_path / "class")
    assert [(f.learner, f.raw is None) for f in found] == [("ada", False), ("eve", True)]
    assert found.skipped == ("mallory: a link, and links are not followed",)


# ---- who is missing


def test_the_roster_decides_who_is_missing(tmp_path):
    put(tmp_path, "in/Ada/04_ste.ipynb")
    roster = put(tmp_path, "roster.csv", b"learner,name\nada,Ada L.\nbob,Bob B.\n\n")
    found = collect(tmp_path / "in", roster=roster)
    assert [(f.learner, f.name, f.path is None) for f in found] == [
        ("Ada", "Ada L.", False),
        ("bob", "Bob B.", True),
    ]


def test_the_worksheet_of_the_lms_serves_as_roster(tmp_path):
    for name in MOODLE_FLAT:
        put(tmp_path, f"in/{name}")
    text = "\ufeffIdentifier,Full name,Grade\nParticipant 101,A,\nParticipant 107,Cy D.,\n"
    moodle = put(tmp_path, "moodle.csv", text.encode())
    text = "Student,ID,SIS Login ID,Section\n    Points Possible,,,\nA,101,a,S\nCy,107,c,S\n"
    canvas = put(tmp_path, "canvas.csv", (text + '"Student, Test",9,t,S\n').encode())
    for roster in (moodle, canvas):
        missing = [f.learner for f in collect(tmp_path / "in", roster=roster) if f.path is None]
        assert missing == ["107"]


def test_a_worksheet_in_another_language_serves_as_roster(tmp_path):
    text = (
        "Kennung;Vollständiger Name;E-Mail-Adresse;Status;Bewertung;Bestwertung\n"
        "Teilnehmer/in 101;Ada Lovelace;ada@example.org;Abgabe;;20,00\n"
        "Teilnehmer/in 107;Šárka Nová;s@example.org;Keine Abgabe;;20,00\n"
    )
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        shown = text if encoding != "cp1252" else text.replace("á", "a")
        people = read_roster(put(tmp_path, "roster.csv", shown.encode(encoding, "replace")))
        assert list(people) == ["101", "107"] and people["101"] == "Ada Lovelace"
        assert people["107"].startswith("Š")


@pytest.mark.parametrize(
    "text, people",
    [
        ("Email,Name\na@x.org,Ada\n", {"a@x.org": "Ada"}),
        ("Last name,First name,Email address\nLovelace,Ada,a@x.org\n", {"a@x.org": "Ada Lovelace"}),
        ("Last name,First name\nLovelace,Ada\n", {"Ada Lovelace": "Ada Lovelace"}),
        ("Student,ID\nAda,7\nBob\n", {"7": "Ada"}),
        ("ada\nbob\n", {"ada": "", "bob": ""}),
        ("learner,name\nstudent1,Ada\nstudent2,Bob\n", {"student1": "Ada", "student2": "Bob"}),
        ("group 1\ngroup 2\n", {"group 1": "", "group 2": ""}),
    ],
)
def test_the_header_of_a_roster_is_no_learner(tmp_path, text, people):
    assert read_roster(put(tmp_path, "roster.csv", text.encode())) == people


def test_a_quote_that_does_not_end_swallows_nobody(tmp_path):
    roster = put(tmp_path, "roster.csv", b'learner,name\nada,"Ada L.\nbob,Bob B.\n')
    with pytest.raises(UsageError, match="roster.csv.*quote in it does not end"):
        read_roster(roster)


def test_a_learner_with_a_folder_but_no_notebook_gets_a_row(tmp_path):
    put(tmp_path, "ada/04_ste.ipynb")
    put(tmp_path, "bob/essay.pdf", b"%PDF")
    found = who(collect(tmp_path))
    assert found["bob", "04_ste"].path is None and "essay.pdf" in found["bob", "04_ste"].problem


def test_ones_own_folder_and_a_single_file(tmp_path):
    path = hand_in(tmp_path, "ada", RIGHT)
    for place in (path.parent, path, as_zip(path.parent, tmp_path / "ada.zip")):
        assert [(f.learner, f.exercise) for f in collect(place)] == [("ada", "04_ste")]


@pytest.mark.parametrize("top", ["class/", ""])
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_a_copy_of_the_whole_course_is_one_learners(tmp_path, top, form):
    for folder, content in (("exercises", ANSWERED), ("notebooks", STUB)):
        put(tmp_path / "ada", f"{top}{folder}/04_ste.ipynb", content)
    put(tmp_path / "ada", f"{top}straight_through/__init__.py", b"")
    place = tmp_path / "ada" / top
    if form == "zip":
        place = as_zip(tmp_path / "ada", tmp_path / "ada.zip")
    (found,) = collect(place)
    assert (found.learner, found.raw) == (place.stem, ANSWERED)
    assert found.file.endswith("exercises/04_ste.ipynb")


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize(
    "top, learners",
    [
        ("{}", ["ada", "bob"]),
        ("in/{}", ["ada", "bob"]),
        ("{}_7_assignsubmission_file", ["7"]),
        ("in/{}_7_assignsubmission_file/class", ["7"]),
    ],
)
def test_copies_of_the_course_in_learners_folders(tmp_path, top, learners, form):
    place = tmp_path / "in"
    for learner in ("ada", "bob")[: len(learners)]:
        for folder, content in (("exercises", ANSWERED), ("notebooks", STUB)):
            put(tmp_path, f"in/{top.format(learner)}/{folder}/04_ste.ipynb", content)
    if form == "zip":
        place = as_zip(place, tmp_path / "submissions.zip")
    elif top.startswith("in"):
        place = place / "in"
    found = collect(place)
    assert [(f.learner, f.raw) for f in found] == [(name, ANSWERED) for name in learners]


def test_a_learners_zip_of_the_course_in_a_zip_of_the_class(tmp_path):
    inner = io.BytesIO()
    zipped(inner, [("exercises/04_ste.ipynb", ANSWERED), ("notebooks/04_ste.ipynb", STUB)])
    for name, learner in (("ada.zip", "ada"), ("lovelaceada_101_9001_class.zip", "101")):
        place = zipped(tmp_path / "submissions.zip", [(name, inner.getvalue())])
        assert [(f.learner, f.raw) for f in collect(place)] == [(learner, ANSWERED)]


def test_the_same_files_always_come_in_the_same_order(tmp_path):
    for learner in ("zoe", "Ada", "bob", "10", "9"):
        put(tmp_path, f"{learner}/04_ste.ipynb")
    assert [f.learner for f in collect(tmp_path)] == ["10", "9", "Ada", "bob", "zoe"]
