"""Whatever an LMS, a browser or a learner does to names and zips, the right notebook is found."""

import io
import os
import stat
import unicodedata
import zipfile

import nbformat
import pytest
from classroom import RIGHT, hand_in, notebook

from straight_through.grading import cells, sources
from straight_through.grading.collect import UsageError, collect
from straight_through.grading.roster import read_roster

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


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(cells, "MAX_BYTES", 20_000)
    monkeypatch.setattr(cells, "MAX_READ", 200_000)


def giant(characters=100_000):
    made = notebook(RIGHT)
    made.cells.append(nbformat.v4.new_code_cell("train()"))
    made.cells[-1].outputs = [nbformat.v4.new_output("stream", text="x" * characters)]
    return nbformat.writes(made).encode()


@pytest.mark.parametrize("form", ["folder", "zip", "zip in a folder", "zip in a zip"])
def test_a_notebook_with_giant_outputs_is_read_from_any_layout(form, tmp_path, small_limits):
    path = put(tmp_path, "in/ada/04_ste.ipynb", giant())
    if "zip in" in form:
        as_zip(path.parent, path.with_name("homework.zip"))
        path.unlink()
    place = tmp_path / "in"
    (found,) = collect(place if form.endswith("folder") else as_zip(place, tmp_path / "c.zip"))
    assert found.raw is not None and len(found.raw) < 20_000 and b'"outputs": null' in found.raw
    assert RIGHT.split("\n")[0] in found.raw.decode()


def test_what_stays_a_giant_is_refused_alike_in_a_folder_and_a_zip(tmp_path, small_limits):
    for learner, size in (("ada", 100_000), ("bob", 300_000)):
        put(tmp_path, f"in/{learner}/04_ste.ipynb", b'{"cells": ["' + b"x" * size + b'"]}')
    there = collect(tmp_path / "in")
    same = collect(as_zip(tmp_path / "in", tmp_path / "c.zip"))
    assert all("Clear the outputs" in item.problem for item in there)
    assert [item.problem for item in same] == [item.problem for item in there]


def test_giants_have_a_limit_of_their_own_and_use_up_nobody_elses(
    tmp_path, monkeypatch, small_limits
):
    monkeypatch.setattr(sources, "MAX_TOTAL", len(ANSWERED))
    monkeypatch.setattr(sources, "MAX_GIANTS", 2 * len(giant()))
    contents = [(f"{learner}/04_ste.ipynb", giant()) for learner in "abc"]
    found = collect(zipped(tmp_path / "c.zip", [*contents, ("d/04_ste.ipynb", ANSWERED)]))
    assert [item.raw is not None for item in found] == [True, True, False, True]
    assert "give the folder" in found[2].problem


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


ANONYMOUS = {  # what Moodle's language packs make of an anonymous grading worksheet
    "English": (
        "Identifier,Status,Grade,Maximum grade",
        "Participant {},Submitted for grading,,20.00",
    ),
    "German": (
        "ID,Status,Bewertung,Bestwertung",
        'Teilnehmer/in{},Zur Bewertung abgegeben,,"20,00"',
    ),
    "French": (
        "Identifiant,Statut,Note,Note maximale",
        'Participant{},Remis pour évaluation,,"20,00"',
    ),
    "Spanish": (
        "Identificador,Estado,Calificación,Calificación máxima",
        'Participante{},Enviado para calificar,,"20,00"',
    ),
}


@pytest.mark.parametrize("language", ANONYMOUS)
def test_an_anonymous_worksheet_in_any_language_gives_numbers_and_no_names(language, tmp_path):
    head, row = ANONYMOUS[language]
    text = "\n".join([head, row.format(101), row.format(107), ""])
    roster = put(tmp_path, "roster.csv", ("\ufeff" + text).encode())
    assert read_roster(roster) == {"101": "", "107": ""}
    word = row.split("{")[0].strip().replace("/", "")  # as Moodle names the folders
    put(tmp_path, f"in/{word}_101_assignsubmission_file/04_ste.ipynb")
    found = collect(tmp_path / "in", roster=roster)
    assert [(f.learner, f.path is None) for f in found] == [("101", False), ("107", True)]
    assert found.skipped == () and found[1].name == ""


NAMED = {
    "German": ("ID,Vollständiger Name,E-Mail-Adresse,Status", "Teilnehmer/in101,{},a@x.org,Abgabe"),
    "French": ("Identifiant,Nom complet,Statut,Note", "Participant101,{},Remis pour évaluation,"),
    "Spanish": (
        "Identificador,Nombre completo,Estado",
        "Participante101,{},Enviado para calificar",
    ),
}


@pytest.mark.parametrize("language", NAMED)
def test_a_worksheet_with_names_in_any_language_gives_the_names(language, tmp_path):
    head, row = NAMED[language]
    roster = put(tmp_path, "roster.csv", f"{head}\n{row.format('Ada Lovelace')}\n".encode())
    assert read_roster(roster) == {"101": "Ada Lovelace"}


def missing(found) -> list[tuple[str, str]]:
    return [(f.learner, f.name) for f in found if f.path is None]


@pytest.mark.parametrize(
    "text",
    [
        "Email,Name\nzoe@x.org,Zoë O'Neil\nbob@x.org,Bob B.\nada@x.org,Ada Lovelace\n",
        'Name,ID number\n"O\'Neil, Zoë",7\nBob B.,bob@x.org\n"Lovelace, Ada",9\n',
        "Last name,First name,Email\nO'Neil,Zoë,z@x.org\nB.,Bob,bob@x.org\nLovelace,Ada,a@x.org\n",
    ],
)
@pytest.mark.parametrize("names", [MOODLE_FLAT[1:], CANVAS[1:]])
def test_a_roster_with_names_finds_those_whom_an_lms_numbers_otherwise(names, text, tmp_path):
    for name in names:
        put(tmp_path, f"in/{name}")
    found = collect(tmp_path / "in", roster=put(tmp_path, "r.csv", text.encode()))
    assert missing(found) == [("bob@x.org", "Bob B.")] and not found.skipped
    assert [f.learner for f in found if f.path] == ["102", "103"]


def test_a_folder_may_be_named_by_any_id_of_the_roster(tmp_path):
    text = "username,email,name\nada,a@x.org,Ada\nbob,b@x.org,Bob\ncy,c@x.org,Cy\n"
    put(tmp_path, "in/A@x.org/04_ste.ipynb")
    put(tmp_path, "in/bob/04_ste.ipynb")
    found = collect(tmp_path / "in", roster=put(tmp_path, "r.csv", text.encode()))
    assert missing(found) == [("cy", "Cy")]
    assert [f.name for f in found if f.path] == ["Ada", "Bob"]


@pytest.mark.parametrize("names", [MOODLE_FLAT, CANVAS, ["ada/04_ste.ipynb"]])
@pytest.mark.parametrize("text", ["Email\na@x.org\nb@x.org\n", "student id\n9001\n9002\n9003\n"])
def test_a_roster_that_names_nobody_of_the_hand_in_calls_nobody_missing(names, text, tmp_path):
    for name in names:
        put(tmp_path, f"in/{name}")
    found = collect(tmp_path / "in", roster=put(tmp_path, "r.csv", text.encode()))
    assert found and missing(found) == []
    (notice,) = found.skipped
    known = {3: "grading worksheet", 5: "gradebook", 1: "the names of their folders"}[len(names)]
    assert notice.startswith("r.csv: nobody on it") and known in notice


def test_a_worksheet_of_another_assignment_takes_nobody_for_somebody_else(tmp_path):
    for name in MOODLE_FLAT[1:]:
        put(tmp_path, f"in/{name}")
    text = "Identifier,Full name,Status\nParticipant 102,Bob Boole,\nParticipant 103,Cy Curry,\n"
    text += "Participant 104,Ada Lovelace,\nParticipant 105,Di Dirac,\n"
    found = collect(tmp_path / "in", roster=put(tmp_path, "r.csv", text.encode()))
    assert missing(found) == [("105", "Di Dirac")]
    assert [(f.learner, f.name) for f in found if f.path] == [
        ("102", "Ada Lovelace"),
        ("103", "Zoë O'Neil"),
    ]
    (notice,) = found.skipped
    assert "row 2 has the id of a learner with another name, and so have 1 more rows" in notice


@pytest.mark.parametrize("count, told", [(1, 1), (2, 0)])
def test_of_two_people_of_one_name_none_is_called_missing_by_guess(count, told, tmp_path):
    for name in MOODLE_FLAT[:count]:
        put(tmp_path, f"in/{name}")
    text = "email,name\na@x.org,Ada Lovelace\nb@x.org,Ada Lovelace\nc@x.org,Cy Curry\n"
    found = collect(tmp_path / "in", roster=put(tmp_path, "r.csv", text.encode()))
    assert missing(found) == [("c@x.org", "Cy Curry")]
    assert len(found.skipped) == told and all("rows 2 and 3" in line for line in found.skipped)


def test_what_a_learner_of_the_roster_lacks_is_listed_under_the_id_of_the_hand_in(tmp_path):
    put(tmp_path, "in/Ada/04_ste.ipynb")
    put(tmp_path, "in/bob/essay.pdf")
    roster = put(tmp_path, "r.csv", b"learner,name\nada,Ada L.\nbob,Bob B.\n")
    found = collect(tmp_path / "in", ["03_rounding", "04_ste"], roster)
    assert [(f.learner, f.exercise, f.path is None) for f in found] == [
        ("Ada", "03_rounding", True),
        ("Ada", "04_ste", False),
        ("bob", "03_rounding", True),
        ("bob", "04_ste", True),
    ]
    assert "essay.pdf" in found[3].problem


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
