"""Everything that people read exists in Chinese."""

import re
from collections import defaultdict

from tests.contracts.messages import chinese, constants, said

PLACE = re.compile(r"%\((\w+)\)[sd]")


def test_every_sentence_is_translated() -> None:
    known = {entry.text for entry in chinese()}
    assert [f"{one.place} {one.text}" for one in said() if one.text not in known] == []


def test_no_translation_is_empty_or_a_guess() -> None:
    assert [f"{one.place} {one.text}" for one in chinese() if one.fuzzy or not one.translated.strip()] == []


def test_no_translation_is_left_over() -> None:
    used = {one.text for one in said()} | constants()
    assert [f"{one.place} {one.text}" for one in chinese() if one.text not in used] == []


def test_the_same_sentence_has_one_translation() -> None:
    translations = defaultdict(set)
    for entry in chinese():
        translations[entry.text].add(entry.translated)
    assert {text: found for text, found in translations.items() if len(found) > 1} == {}


def test_a_translation_fills_the_same_places() -> None:
    wrong = [
        f"{one.place} {one.text}"
        for one in chinese()
        if sorted(PLACE.findall(one.text)) != sorted(PLACE.findall(one.translated))
    ]
    assert wrong == []
