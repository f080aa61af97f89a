"""The causal model on disk: complete, stamped, and refused when it does not fit."""

import json

import numpy as np
import pytest

from heterodag import DataError, HeteroscedasticSCM, simulate


@pytest.fixture(scope="module", params=["natural", "location-scale"])
def scm(request):
    data = simulate(300, 4, degree=1, random_state=1)
    frame = data.to_frame().rename(columns={"x0": "größe"})
    return HeteroscedasticSCM.from_dag(data.adjacency, frame, form=request.param)


def test_what_comes_back_is_the_same_to_the_last_bit(scm, tmp_path):
    path = tmp_path / "model.json"
    scm.save(path)
    again = HeteroscedasticSCM.load(path)
    assert again.names == scm.names
    assert (again.form, again.parametrization) == (scm.form, scm.parametrization)
    assert np.array_equal(again.adjacency, scm.adjacency)
    assert again.sample(50, random_state=3).equals(scm.sample(50, random_state=3))
    cause = int(np.flatnonzero(scm.adjacency.any(axis=1))[0])
    effect = int(np.flatnonzero(scm.adjacency[cause])[0])
    ask = {"n": 200, "random_state": 0}
    assert again.effect(cause, effect, **ask).equals(scm.effect(cause, effect, **ask))
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def change(**values):
    return lambda content: content | values


def in_first(**values):
    def apply(content):
        content["mechanisms"][0] |= values
        return content

    return apply


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (change(format="something"), "is not a heterodag model"),
        (change(format_version=2), "has format version 2, written by heterodag"),
        (change(form="cubic"), "form 'cubic'"),
        (change(parametrization="mlp"), "parametrization 'mlp'"),
        (change(parametrization="spline"), "curves, for splines only"),
        (change(names=["a", "a", "b", "c"]), "its names"),
        (change(mechanisms=[]), "one mechanism per name"),
        (in_first(theta=[1.0]), "theta of"),
        (in_first(scale=[-1.0]), "scale of"),
        (in_first(parents=["nobody"]), "not a complete heterodag model"),
        (in_first(location="here"), "not a complete heterodag model"),
        (lambda content: [content], "is not a heterodag model"),
        (lambda content: {k: v for k, v in content.items() if k != "mechanisms"}, "not a complete heterodag model"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(scm, tmp_path, spoil, said):
    path = tmp_path / "model.json"
    scm.save(path)
    path.write_text(json.dumps(spoil(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        HeteroscedasticSCM.load(path)
    assert said in str(caught.value)
    assert "model.json" in str(caught.value)


def test_a_cycle_in_the_file_is_refused(tmp_path):
    data = simulate(300, 2, adjacency=[[0, 1], [0, 0]], random_state=1)
    path = tmp_path / "model.json"
    HeteroscedasticSCM.from_dag(data.adjacency, data.X).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    second = content["mechanisms"][1]
    content["mechanisms"][0] = second | {"name": "x0", "parents": ["x1"]}
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DataError, match="cycle"):
        HeteroscedasticSCM.load(path)


def test_other_files_are_refused(scm, tmp_path):
    with pytest.raises(DataError, match="cannot be opened"):
        HeteroscedasticSCM.load(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="is not JSON"):
        HeteroscedasticSCM.load(tmp_path / "text.json")
    with pytest.raises(DataError, match="Cannot write"):
        scm.save(tmp_path / "no" / "folder.json")
