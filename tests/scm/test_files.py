"""The causal model on disk: complete, stamped, and refused when it does not fit."""

import json
from pathlib import Path

import numpy as np
import pytest

from heterodag import DataError, HeteroscedasticSCM, simulate

HERE = Path(__file__).parent
PAPER = {"parametrization": "linear", "noise": "gaussian"}
#: Lines in both forms, and the best of everything for a world with curves and skewed noise.
ASKED = [{"form": "natural"} | PAPER, {"form": "location-scale"} | PAPER, {}]


@pytest.fixture(scope="module", params=ASKED, ids=["natural", "location-scale", "auto"])
def scm(request):
    world = {} if request.param else {"mechanism": "curved", "spread": "straight", "noise": "exponential"}
    data = simulate(300, 4, degree=1, random_state=1, **world)
    frame = data.to_frame().rename(columns={"x0": "größe"})
    return HeteroscedasticSCM.from_dag(data.adjacency, frame, **request.param)


@pytest.fixture(scope="module")
def skewed():
    data = simulate(500, 2, mechanism="curved", noise="exponential", adjacency=[[0, 1], [0, 0]], random_state=1)
    return HeteroscedasticSCM.from_dag(data.adjacency, data.X, noise="flexible", names=["a", "b"])


def test_what_comes_back_is_the_same_to_the_last_bit(scm, tmp_path):
    path = tmp_path / "model.json"
    scm.save(path)
    again = HeteroscedasticSCM.load(path)
    assert again.names == scm.names
    assert again.settings == scm.settings
    assert again.summary().equals(scm.summary())
    assert np.array_equal(again.adjacency, scm.adjacency)
    assert again.sample(50, random_state=3).equals(scm.sample(50, random_state=3))
    cause = int(np.flatnonzero(scm.adjacency.any(axis=1))[0])
    effect = int(np.flatnonzero(scm.adjacency[cause])[0])
    ask = {"n": 200, "random_state": 0}
    assert again.effect(cause, effect, **ask).equals(scm.effect(cause, effect, **ask))
    drawn = scm.sample(50, random_state=4)
    assert np.array_equal(again.log_likelihood(drawn), scm.log_likelihood(drawn))
    assert again.predict_interval(drawn, effect).equals(scm.predict_interval(drawn, effect))
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
        (change(format_version=4), "has format version 4, written by heterodag"),
        (change(format_version=2), "reads versions 1 and 3: fit and save the model again"),
        (change(form="cubic"), "form 'cubic'"),
        (change(parametrization="mlp"), "parametrization 'mlp'"),
        (change(noise="cauchy"), "noise 'cauchy'"),
        (change(noise=["auto"]), "noise ['auto']"),
        (in_first(form="cubic"), "form 'cubic' of"),
        (in_first(form=None), "form None of"),
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
    assert said in refusal(scm, tmp_path / "model.json", spoil)


def refusal(scm, path, spoil):
    """Return what is said about the file of a model after it was spoilt."""
    scm.save(path)
    path.write_text(json.dumps(spoil(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        HeteroscedasticSCM.load(path)
    assert path.name in str(caught.value)
    return str(caught.value)


def in_noise(**values):
    def apply(content):
        own = content["mechanisms"][0]["noise"] | values
        content["mechanisms"][0]["noise"] = {key: value for key, value in own.items() if value != "gone"}
        return content

    return apply


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (in_noise(theta=[0.0]), "theta of 'noise of a'"),
        (in_noise(theta=[0.0] * 7), "theta of 'noise of a'"),
        (in_noise(theta=[0.0] * 17), "theta of 'noise of a'"),
        (in_noise(theta=[[0.0] * 8]), "theta of 'noise of a'"),
        (in_noise(theta=[None] * 8), "theta of 'noise of a'"),
        (in_noise(theta=[1e9] * 8), "integral of 'noise of a', which must be 1"),
        (in_noise(theta=3), "theta of 'noise of a'"),
        (in_noise(theta="gone"), "theta"),
        (in_noise(log_z=[0.0]), "log_z of 'noise of a'"),
        (in_noise(log_z=5.0), "integral of 'noise of a', which must be 1"),
        (in_noise(log_z="none"), "could not convert"),
        (in_noise(reach=-8.0), "reach of 'noise of a'"),
        (in_noise(reach=0.5), "integral of 'noise of a'"),
        (in_noise(reach="gone"), "reach"),
        (in_noise(low=3.0, high=-3.0), "edges of 'noise of a'"),
        (in_noise(low="far"), "could not convert"),
        (in_noise(high="gone"), "high"),
        (in_noise(rows=0), "rows of 'noise of a'"),
        (in_first(noise=[1.0]), "noise of a"),
        (in_first(noise="normal"), "noise of a"),
        (change(noise="gaussian"), "noise of 'a' in a model with normal noise"),
        (change(parametrization="linear"), "curves of 'b' in a model of lines"),
    ],
)
def test_broken_noise_is_refused(skewed, tmp_path, spoil, said):
    text = refusal(skewed, tmp_path / "model.json", spoil)
    assert said in text
    assert "is not a complete heterodag model" in text


@pytest.mark.parametrize(
    ("name", "form", "parametrization", "drawn", "mean"),
    [
        ("lines", "natural", "linear", [1.51151221, -0.89564588], [0.11696342, -0.22502814, 0.45895499]),
        ("curves", "location-scale", "spline", [1.51151221, -1.00180519], [0.92477372, 0.59651966, 1.25302778]),
    ],
)
def test_files_of_version_1_are_read(tmp_path, name, form, parametrization, drawn, mean):
    """Files and numbers were written by the last version without densities of noise."""
    scm = HeteroscedasticSCM.load(HERE / f"version_1_{name}.json")
    assert (scm.form, scm.parametrization, scm.settings.noise) == (form, parametrization, "gaussian")
    assert scm.summary()["noise"].tolist() == ["normal", "normal"]
    assert scm.summary()["form"].tolist() == [form, form]
    assert np.allclose(scm.sample(2, random_state=0).iloc[0], drawn)
    assert np.allclose(scm.describe_do({"a": 1.0}, "b", n=50, random_state=0).loc["mean"], mean)
    scm.save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["format_version"] == 3
    again = HeteroscedasticSCM.load(tmp_path / "model.json")
    assert again.sample(9, random_state=0).equals(scm.sample(9, random_state=0))


@pytest.mark.parametrize(("name", "other"), [("lines", "spline"), ("curves", "linear")])
def test_a_broken_file_of_version_1_is_refused(tmp_path, name, other):
    content = json.loads((HERE / f"version_1_{name}.json").read_text(encoding="utf-8")) | {"parametrization": other}
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DataError, match="curves, for splines only"):
        HeteroscedasticSCM.load(tmp_path / "model.json")


def test_a_cycle_in_the_file_is_refused(tmp_path):
    data = simulate(300, 2, adjacency=[[0, 1], [0, 0]], random_state=1)
    path = tmp_path / "model.json"
    HeteroscedasticSCM.from_dag(data.adjacency, data.X, form="natural", **PAPER).save(path)
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
