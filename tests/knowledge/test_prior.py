"""Prior knowledge as users write it: in Python, as a mapping, as a JSON file; every contradiction by name."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from heterodag import DataError, ParameterError, PriorKnowledge
from heterodag.knowledge import as_knowledge

NAMES = ["age", "dose", "level", "pain"]


def test_names_and_indices_mean_the_same():
    by_name = PriorKnowledge(required=[("age", "dose")], tiers=[["age"], ["level", "pain"]], leaves=["pain"])
    by_index = PriorKnowledge(required=[(0, 1)], tiers=[[0], [2, np.int64(3)]], leaves=[3])
    for field in ("required", "forbidden", "settled", "must_precede"):
        assert np.array_equal(getattr(by_name.resolve(NAMES, 4), field), getattr(by_index.resolve(NAMES, 4), field))


def test_a_table_without_names_has_its_labels():
    assert PriorKnowledge(roots=["x2"]).resolve(None, 3).forbidden[:, 2].sum() == 2


def test_it_cannot_change_and_compares_by_value():
    one, other = PriorKnowledge(required=[["a", "b"]]), PriorKnowledge(required=(("a", "b"),))
    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(FrozenInstanceError):
        one.required = ()


def test_json_round_trip(tmp_path):
    known = PriorKnowledge([("âge", "b")], [("b", 2)], [["âge"], ["b"]], ["âge"], [3])
    path = tmp_path / "known.json"
    text = known.to_json(path)
    assert PriorKnowledge.from_json(path) == known
    assert json.loads(text) == json.loads(path.read_text(encoding="utf-8"))
    assert as_knowledge(json.loads(text)) == known


#: what stands in the file, and what the message must say: the culprits, by name.
REFUSED = [
    ({"required": [["age", "dose"], ["dose", "age"]]}, ["age -> dose -> age", "the required edges"]),
    ({"required": [["pain", "age"], ["age", "dose"], ["dose", "pain"]]}, ["cycle", "'dose' -> 'pain' is required"]),
    ({"required": [["age", "dose"]], "forbidden": [["age", "dose"]]}, ["require and forbid", "age -> dose"]),
    ({"required": [["age", "dsoe"]]}, ["dsoe", "Did you mean 'dose'?"]),
    ({"forbidden": [["zzz", "age"]]}, ["`forbidden`", "zzz", "'age', 'dose', 'level', 'pain'"]),
    ({"tiers": [["age"], ["weight"]]}, ["`tiers`", "weight"]),
    ({"roots": ["weight"]}, ["`roots`", "weight"]),
    ({"leaves": [4]}, ["`leaves`", "from 0 to 3", "4"]),
    ({"roots": [-1]}, ["`roots`", "-1"]),
    ({"tiers": [["age", "dose"], ["dose"]]}, ["'dose' is in tier 1 and tier 2"]),
    ({"tiers": [["age", "age"]]}, ["'age' is in tier 1 and tier 1"]),
    ({"required": [["dose", "age"]], "tiers": [["age"], ["dose"]]}, ["'age' is in an earlier tier than 'dose'"]),
    (
        {"required": [["dose", "level"], ["level", "age"]], "tiers": [["age"], ["dose"]]},
        ["required edges and tiers", "'dose' -> 'level' is required", "'age' is in an earlier tier than 'dose'"],
    ),
    ({"required": [["age", "dose"]], "roots": ["dose"]}, ["'dose' a root", "age -> dose"]),
    ({"required": [["age", "dose"]], "leaves": ["age"]}, ["'age' a leaf", "age -> dose"]),
    ({"required": [["age", "age"]]}, ["`required`", "age -> age"]),
    ({"forbidden": [["age", 0]]}, ["`forbidden`", "age -> age"]),
]


@pytest.mark.parametrize(("content", "said"), REFUSED, ids=[str(content) for content, _ in REFUSED])
def test_contradictions_are_refused_with_their_names(content, said, tmp_path):
    path = tmp_path / "known.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    known = PriorKnowledge.from_json(path)
    with pytest.raises(ParameterError) as caught:
        known.resolve(NAMES, 4)
    for words in said:
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[1]", "one JSON object"),
        ('{"requird": []}', "requird"),
        ('{"required": "a"}', "`required` must be a list"),
        ('{"required": [["a"]]}', "pairs (cause, effect)"),
        ('{"required": ["ab"]}', "pairs (cause, effect)"),
        ('{"required": [["a", "b", "c"]]}', "pairs (cause, effect)"),
        ('{"roots": [1.5]}', "whole-number index"),
        ('{"roots": [true]}', "whole-number index"),
        ('{"tiers": ["ab"]}', "`tiers` must be a list of lists"),
        ('{"tiers": "ab"}', "`tiers` must be a list; got"),
        ('{"roots": ["a"], "roots": ["b"]}', "more than once"),
    ],
)
def test_a_file_of_another_shape_is_refused(text, said, tmp_path):
    path = tmp_path / "known.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        PriorKnowledge.from_json(path)
    assert said in str(caught.value)
    assert "known.json" in str(caught.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be opened"):
        PriorKnowledge.from_json(tmp_path / "none.json")


@pytest.mark.parametrize("value", [[("a", "b")], "a -> b", 3])
def test_other_kinds_of_knowledge_are_refused(value):
    with pytest.raises(ParameterError, match="prior_knowledge"):
        as_knowledge(value)
