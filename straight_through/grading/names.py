"""What two spellings of a person's name have in common."""

import re
import unicodedata


def words(name: str) -> list[str]:
    """The words of a name without accents and apostrophes, which a zip may lose."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return re.findall(r"[^\W_]+", re.sub(r"['’`]", "", plain.casefold()))


def agree(name: str, spellings: list[str]) -> bool:
    """False if a name contradicts: not even initials, order or what an LMS drops explain it."""
    mine = words(name)
    if not mine or not any(map(words, spellings)):
        return True
    for spelling in spellings:
        squeezed = {re.sub(r"[^a-z0-9]", "", s.lower()) for s in (name, spelling)}  # Canvas does
        if len(squeezed) == 1 and squeezed != {""}:
            return True
        if alike(name, spelling) and set(mine) & set(words(spelling)):
            return True
    return False


def alike(one: str, other: str) -> bool:
    """True if every word of the shorter name is one of the other, or short for one."""
    few, many = sorted((words(one), words(other)), key=len)
    return all(any(a.startswith(b) or b.startswith(a) for b in many) for a in few)


def turned(name: str) -> set[str]:
    """The name squeezed into one word, whichever of its words comes first, and as Canvas does."""
    canvas = [re.sub(r"[^a-z0-9]", "", part) for part in re.split(r"[\s,]+", name.lower())]
    return {
        "".join(parts[k:] + parts[:k]) for parts in (words(name), canvas) for k in range(len(parts))
    } - {""}
