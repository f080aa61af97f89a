"""What a fitted model shows: trust, summary, picture, report, notebook view; every warning is kept."""

import html
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from heterodag import HOST, HeterodagError, VarSort, simulate
from heterodag.errors import AssumptionWarning, remembered_warnings, warn
from heterodag.io.exports import graph_json, graph_result


@pytest.fixture(scope="module")
def fitted():
    frame = simulate(400, 4, "ER", 1, "straight", 3, spread="straight").to_frame()
    return HOST().fit(frame), frame


def sentences(model):
    return {item.topic: item for item in model.trust()}


def test_a_clean_fit_has_a_green_box(fitted):
    model, _ = fitted
    box = model.trust()
    assert box.worst == "green", str(box)
    assert box.title == "Can I trust this? Nothing that was checked speaks against it."
    assert sentences(model)["left out"].sentence == "Nothing was left out: all 400 rows and 4 columns were used."
    edges = int(model.adjacency_.sum())
    assert f"All {edges} arrows" in sentences(model)["directions"].sentence


def test_the_same_words_stand_everywhere(fitted, tmp_path):
    model, frame = fitted
    page = html.unescape(model.report(tmp_path / "page.html", frame).read_text(encoding="utf-8"))
    stored = json.loads(graph_json(graph_result(model)))["trust"]
    assert [item["sentence"] for item in stored] == [item.sentence for item in model.trust()]
    for item in model.trust():
        assert item.sentence in model.summary()
        assert item.sentence in html.unescape(model._repr_html_())
        assert item.sentence in page


def test_open_arrows_and_misfits_are_in_the_box():
    X = np.random.default_rng(0).standard_normal((500, 2))
    X[:, 1] += X[:, 0]
    with pytest.warns(AssumptionWarning, match="is open"):
        model = HOST().fit(X)
    box = sentences(model)["directions"]
    assert (box.severity, box.check) == ("amber", "open")
    assert model.warnings_ == [box.text]
    assert model.trust().title == "Can I trust this? With care: 1 point to look at."
    assert json.loads(graph_json(graph_result(model)))["warnings"] == model.warnings_


def test_rows_left_out_reach_the_box_and_the_warnings():
    frame = simulate(200, 3, "ER", 1, "straight", 3, spread="straight").to_frame()
    frame.iloc[3, 1] = np.nan
    with pytest.warns(UserWarning, match="1 of 200 rows"):
        model = HOST(missing="drop").fit(frame)
    assert "1 of 200 rows" in sentences(model)["left out"].sentence
    assert any("1 of 200 rows" in sentence for sentence in model.warnings_)
    model.fit(frame.dropna())
    assert sentences(model)["left out"].severity == "green"


def test_methods_say_what_they_do_not_know():
    frame = simulate(200, 3, random_state=1).to_frame()
    model = VarSort().fit(frame)
    found = sentences(model)
    assert found["model fit"].check == found["directions"].check == "not checked"
    model.bootstrap(frame, 3, random_state=0)
    assert sentences(model)["directions"].check == "bootstrap"


def test_frequencies_are_kept_until_the_next_fit(fitted):
    _, frame = fitted
    model = HOST().fit(frame)
    result = model.bootstrap(frame, 3, random_state=0)
    edges = model.edges()
    i, j = (model.names().index(edges.loc[0, end]) for end in ("cause", "effect"))
    assert edges.loc[0, "frequency"] == result.directed[i, j]
    assert edges.loc[0, "reversed_frequency"] == result.directed[j, i]
    assert "3 resamples" in str(model.trust())
    assert "frequency" not in model.fit(frame).edges()


def test_a_summary_shows_itself_as_it_is(fitted):
    model, _ = fitted
    text = model.summary()
    assert repr(text) == str(text)
    assert text.startswith("HOST: 4 variables, 400 rows, ")
    for cause, effect in model.edges()[["cause", "effect"]].itertuples(index=False):
        assert re.search(rf"^{cause} +{effect} ", text, re.MULTILINE)


def test_notebooks_show_the_graph_after_the_fit_and_the_parameters_before(fitted):
    model, frame = fitted
    view = model._repr_mimebundle_()["text/html"]
    assert "<svg" in view
    assert "Causal order" in view
    assert "<svg" not in HOST()._repr_mimebundle_()["text/html"]
    hostile = HOST().fit(frame.rename(columns={"x0": "<script>alert(1)</script>"}))
    assert "<script>" not in hostile._repr_html_()


def test_pictures_and_reports_from_the_model(fitted, tmp_path):
    model, frame = fitted
    assert len(model.plot().texts) >= 4
    page = model.report(tmp_path / "x.html").read_text(encoding="utf-8")
    assert "400 rows" in page
    assert page == model.report(tmp_path / "y.html", frame).read_text(encoding="utf-8")
    with pytest.raises(HeterodagError, match="Cannot write"):
        model.report(tmp_path / "x.html" / "inside.html")


def test_reprs_of_results_say_what_they_are(fitted):
    model, frame = fitted
    scm, result = model.to_scm(), model.bootstrap(frame, 2, random_state=0)
    assert repr(scm).startswith("HeteroscedasticSCM of 4 variables with ")
    assert "<table" in scm._repr_html_()
    assert repr(result).startswith("BootstrapResult of 2 resamples of 4 variables: ")
    assert "<table" in result._repr_html_()


def test_a_fit_without_mechanisms_says_how_to_make_a_causal_model(fitted):
    _, frame = fitted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST(max_seconds=1e-9, refine=False, selection="partial-correlation")
        with pytest.raises(HeterodagError):
            model.fit(frame).to_scm()


def test_warnings_are_kept_once_and_only_while_remembered():
    with remembered_warnings() as said:
        for sentence in ("One.", "One.", "Two."):
            with pytest.warns(UserWarning, match=sentence):
                warn(sentence, UserWarning)
    assert said == ["One.", "Two."]
    with pytest.warns(UserWarning, match="Three"):
        warn("Three.", UserWarning)
    assert said == ["One.", "Two."]


def test_the_rows_a_model_keeps_are_few():
    wide = pd.DataFrame(np.random.default_rng(0).standard_normal((3000, 2)), columns=["a", "b"])
    model = VarSort().fit(wide)
    assert model.sample_.shape == (1500, 2)
    np.testing.assert_array_equal(model.sample_, wide.to_numpy()[::2])


def test_open_arrows_of_fixed_models_are_in_the_box_too():
    X = np.random.default_rng(0).standard_normal((500, 2))
    X[:, 1] += X[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST(parametrization="linear", form="location-scale", noise="gaussian").fit(X)
    assert model.open_.any()
    checks = [item.check for item in model.trust() if item.topic == "directions"]
    assert "open" in checks
    assert "nothing found" not in checks
    assert "No sign that the model describes some variable badly" in str(model.trust())
