"""The command line as people meet it: outputs, exit statuses, one-sentence errors, silence in pipes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from heterodag import _version
from heterodag.cli.app import app
from heterodag.cli.commands import OUTPUTS, print_graph
from heterodag.cli.reading import split_names
from heterodag.cli.terminal import Screen, printable
from heterodag.io.exports import graph_result
from heterodag.io.graphfiles import read_graph

PROGRAM = [sys.executable, "-c", "from heterodag.cli.app import main; main()"]


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def execute(*arguments, **options):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, **options)


def table(name="data.csv", n=150, columns=("dose", "level [bold]", "age")):
    rng = np.random.default_rng(0)
    first = rng.standard_normal(n)
    frame = pd.DataFrame({columns[0]: first})
    frame[columns[1]] = np.exp(first) * rng.standard_normal(n)
    for column in columns[2:]:
        frame[column] = rng.standard_normal(n)
    frame.to_csv(name, index=False)
    return frame


def read(name):
    return Path(name).read_text(encoding="utf-8")


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")


def files(folder="."):
    return sorted(entry.name for entry in os.scandir(folder))


def test_fit_writes_everything_and_says_so():
    table()
    done = run("fit", "data.csv")
    assert done.exit_code == 0, done.output
    assert files("heterodag-out") == sorted(OUTPUTS)
    assert "150 rows and 3 columns from data.csv." in done.stdout
    for name in ("dose", "level [bold]", "age"):
        assert name in done.stdout
    assert "at alpha 0.001" in done.stdout
    assert "report.html in a browser" in done.stdout
    graph = read_graph("heterodag-out/graph.json")
    assert sorted(graph.order) == sorted(["dose", "level [bold]", "age"])
    edges = pd.read_csv("heterodag-out/edges.csv")
    assert len(edges) == graph.adjacency.to_numpy().sum()
    page = read("heterodag-out/report.html")
    assert "data.csv" in page
    assert "150 rows" in page


def test_fit_again_replaces_its_own_files_only():
    table()
    assert run("fit", "data.csv", "--quiet").exit_code == 0
    before = read("heterodag-out/edges.csv")
    write("heterodag-out/notes.txt", "mine")
    assert run("fit", "data.csv", "--quiet", "--columns", "dose,age").exit_code == 0
    assert read("heterodag-out/notes.txt") == "mine"
    assert list(read_graph("heterodag-out/graph.json").adjacency.columns) == ["dose", "age"]
    assert before.startswith("cause,effect,pvalue,nats,direction_nats,open,mean_effect,")


def test_fit_does_not_replace_files_of_others():
    table()
    os.mkdir("mine")
    write("mine/report.html", "thesis")
    refused = run("fit", "data.csv", "--out", "mine")
    assert refused.exit_code == 2
    assert "'report.html' that heterodag did not write" in refused.stderr
    assert files("mine") == ["report.html"]
    assert read("mine/report.html") == "thesis"
    assert run("fit", "data.csv", "--out", "mine", "--force").exit_code == 0
    assert "thesis" not in read("mine/report.html")


def test_fit_options_reach_the_estimator_and_only_if_given():
    table()
    assert (
        run("fit", "data.csv", "--alpha", "0.2", "--tolerance", "0", "--no-refine", "--jobs", "1", "-q").exit_code
        == 0
    )
    given = json.loads(read("heterodag-out/graph.json"))["settings"]
    assert (given["alpha"], given["tolerance"], given["refine"], given["n_jobs"]) == (0.2, 0.0, False, 1)
    assert run("fit", "data.csv", "--quiet").exit_code == 0
    from heterodag.estimators import HOST

    defaults = HOST().get_params()
    settings = json.loads(read("heterodag-out/graph.json"))["settings"]
    assert {name: settings[name] for name in ("alpha", "refine", "tolerance", "selection")} == {
        name: defaults[name] for name in ("alpha", "refine", "tolerance", "selection")
    }


def test_help_states_the_defaults_of_the_estimator():
    from heterodag.estimators import HOST

    defaults = HOST().get_params()
    text = " ".join(run("fit", "--help").stdout.split())
    for name in ("parametrization", "form", "noise", "normality", "tolerance", "selection", "alpha"):
        assert f"[default: {defaults[name]:{'g' if isinstance(defaults[name], float) else ''}}]" in text


def test_mechanisms_can_be_fixed():
    table()
    fixed = ("--parametrization", "linear", "--form", "natural", "--noise", "gaussian")
    assert run("fit", "data.csv", *fixed, "--quiet").exit_code == 0
    content = json.loads(read("heterodag-out/graph.json"))
    assert [content["settings"][name] for name in ("parametrization", "form", "noise")] == [*fixed[1::2]]
    assert {(m["form"], m["curves"], m["noise"]) for m in content["mechanisms"]} == {("natural", "", "normal")}


def test_paper_configuration_is_used():
    from heterodag.estimators import HOST

    table()
    done = run("fit", "data.csv", "--paper", "--selection", "likelihood", "--quiet")
    assert done.exit_code == 0, done.output
    settings = json.loads(read("heterodag-out/graph.json"))["settings"]
    assert settings["refine"] == HOST.paper().get_params()["refine"]
    assert settings["selection"] == "likelihood"


ERRORS = {
    "no such file": (["fit", "nowhere.csv"], "no file 'nowhere.csv'"),
    "unknown column": (["fit", "data.csv", "--columns", "dose,agee"], "'agee'"),
    "folder": (["fit", "."], "holds no Parquet files"),
    "bad alpha": (["fit", "data.csv", "--alpha", "3"], "`alpha` must"),
    "bad selection": (["fit", "data.csv", "--selection", "magic"], "`selection` must"),
    "bad normality": (["fit", "data.csv", "--normality", "magic"], "`normality` must"),
    "out is a file": (["fit", "data.csv", "--out", "data.csv"], "'data.csv' is not a folder"),
    "delimiter": (["fit", "data.csv", "--delimiter", ";"], "--delimiter ','"),
    "simulate ending": (["simulate", "--out", "x.docx"], "--out must end in"),
    "simulate exists": (["simulate", "--out", "data.csv"], "exists already; pass --force"),
    "simulate graph": (
        ["simulate", "--out", "x.csv", "--graph", "tree"],
        "`graph` must be one of 'ER', 'SF'",
    ),
    "bad noise": (["fit", "data.csv", "--noise", "pink"], "`noise` must be one of 'auto'"),
    "simulate noise": (["simulate", "--out", "x.csv", "--noise", "pink"], "`noise` must be one of 'normal'"),
    "simulate spread": (
        ["simulate", "--out", "x.csv", "--spread", "curved"],
        "`spread` must not be given with the mechanism 'linear'",
    ),
    "evaluate": (["evaluate", "nowhere.json", "data.csv"], "no file 'nowhere.json'"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_one_sentence_with_status_2_and_no_files(case):
    arguments, fragment = ERRORS[case]
    table()
    done = run(*arguments)
    assert done.exit_code == 2
    assert fragment in done.stderr
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert files() == ["data.csv"]


@pytest.mark.parametrize("arguments", [["fit"], ["fit", "a", "b"], ["nonsense"], ["fit", "a", "--alpha", "x"]])
def test_usage_errors_have_status_2(arguments):
    done = run(*arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_internal_errors_name_the_exception_and_debug_shows_it(monkeypatch):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("by chance")

    table()
    monkeypatch.setattr("heterodag.report.render_report", broken)
    done = run("fit", "data.csv")
    assert done.exit_code == 1
    assert done.stderr == (
        "Error: unexpected ZeroDivisionError: by chance; run again with --debug for the details.\n"
    )
    assert files() == ["data.csv"]
    debugged = run("fit", "data.csv", "--debug")
    assert debugged.exit_code == 1
    assert "Traceback" in debugged.stderr
    assert "Traceback" in run("fit", "nowhere.csv", "--debug").stderr


def test_quiet_prints_nothing():
    table()
    done = execute("fit", "data.csv", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    failed = execute("fit", "nowhere.csv", "--quiet")
    assert failed.returncode == 2
    assert failed.stderr.startswith("Error: There is no file 'nowhere.csv'")


def test_pipes_get_results_but_no_progress():
    table(columns=("a" * 60, "b" * 60, "c" * 60))
    done = execute("fit", "data.csv")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""
    assert "a" * 60 in done.stdout
    assert not any(line != line.rstrip() for line in done.stdout.splitlines())


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX thing")
def test_a_terminal_gets_progress():
    import pty

    table()
    leader, follower = pty.openpty()
    command = [*PROGRAM, "fit", "data.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower) as process:
        os.close(follower)
        shown = drained(leader)
        results = process.stdout.read()
    assert process.returncode == 0
    assert "Reading data.csv" in shown
    assert "learning" in shown
    assert json.loads(read("heterodag-out/graph.json"))["settings"]["verbose"] == 0
    assert b"\x1b" not in results


def drained(terminal):
    """Read until the other side hangs up, which Linux reports as an error and others as an empty read."""
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            piece = b""
        if not piece:
            os.close(terminal)
            return b"".join(pieces).decode(errors="replace")
        pieces.append(piece)


@pytest.mark.skipif(os.name != "posix", reason="signals are a POSIX thing")
def test_interrupt_ends_cleanly():
    code = (
        "import heterodag.cli.commands as c, time, sys\n"
        "def slow(*a, **k):\n    sys.stdout.write('ready'); sys.stdout.flush(); time.sleep(30)\n"
        "c.fit = slow\n"
        "from heterodag.cli.app import main; main()"
    )
    command = [sys.executable, "-c", code, "fit", "data.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.read(5) == "ready"
        process.send_signal(signal.SIGINT)
        _, problems = process.communicate(timeout=30)
    assert process.returncode == 130
    assert problems == "Interrupted.\n"
    assert files() == []


@pytest.mark.skipif(os.name != "posix", reason="needs a shell with head")
def test_broken_pipe_is_quiet():
    run("simulate", "--out", "x.csv", "--n", 50, "--d", 30)
    program = f"{sys.executable} -c 'from heterodag.cli.app import main; main()'"
    command = f"{program} evaluate x.truth.json x.truth.json | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""


@pytest.mark.filterwarnings("default::heterodag.errors.AssumptionWarning")
def test_warnings_come_as_one_line(monkeypatch):
    import warnings

    from heterodag.errors import AssumptionWarning

    def warning(*args, **kwargs):
        warnings.warn("the rows\nlook odd", AssumptionWarning, stacklevel=1)
        warnings.warn("too deep for users", RuntimeWarning, stacklevel=1)

    monkeypatch.setattr("heterodag.cli.commands.fit", warning)
    assert run("fit", "x.csv").stderr == "Warning: the rows look odd\n"
    assert run("fit", "x.csv", "--quiet").stderr == ""


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.parquet"])
def test_simulate_then_fit_then_evaluate(name):
    made = run("simulate", "--n", 200, "--d", 4, "--seed", 3, "--out", name)
    assert made.exit_code == 0, made.output
    assert files() == sorted([name, "a.truth.json"])
    assert run("fit", name, "--out", "out", "--quiet").exit_code == 0
    done = run("evaluate", "out/graph.json", "a.truth.json", "--json")
    assert done.exit_code == 0, done.output
    measures = json.loads(done.stdout)
    assert set(measures) == {"order_divergence", "shd", "precision", "recall", "f1", "auc"}
    assert 0 <= measures["f1"] <= 1


def test_simulate_is_seeded():
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        run("simulate", "--n", 20, "--d", 3, "--seed", seed, "--out", name)
    assert read("a.csv") == read("b.csv") != read("c.csv")
    content = json.loads(read("a.truth.json"))
    assert content["names"] == ["x0", "x1", "x2"]
    assert content["settings"]["random_state"] == 1


def test_simulate_makes_worlds():
    from heterodag import simulate

    asked = {"mechanism": "curved", "spread": "straight", "noise": "laplace"}
    options = [word for name, value in asked.items() for word in (f"--{name}", value)]
    done = run("simulate", "--n", 20, "--d", 3, "--seed", 1, *options, "--out", "a.csv")
    assert done.exit_code == 0, done.output
    np.testing.assert_allclose(pd.read_csv("a.csv"), simulate(20, 3, random_state=1, **asked).X)
    assert asked.items() <= json.loads(read("a.truth.json"))["settings"].items()


def test_evaluate_takes_nodes_of_edge_lists_from_the_other_file():
    write("edges.csv", "cause,effect\na,b\n")
    write("truth.csv", "a,b,c\n0,1,0\n0,0,1\n0,0,0\n")
    write("empty.csv", "cause,effect\n")
    for one, shd in (("edges.csv", 1), ("empty.csv", 2)):
        for pair in ((one, "truth.csv"), ("truth.csv", one)):
            done = run("evaluate", *pair, "--json")
            assert json.loads(done.stdout)["shd"] == shd
    for pair in (("edges.csv", "empty.csv"), ("empty.csv", "edges.csv")):
        assert json.loads(run("evaluate", *pair, "--json").stdout)["shd"] == 1
    assert "names no variables" in run("evaluate", "empty.csv", "empty.csv").stderr
    both = run("evaluate", "edges.csv", "edges.csv")
    assert both.exit_code == 0
    assert "structural Hamming distance   0" in both.stdout
    write("other.csv", "a,z\n0,1\n0,0\n")
    done = run("evaluate", "truth.csv", "other.csv")
    assert done.exit_code == 2
    assert "different variables" in done.stderr


class Known:
    """A fitted model of three variables; `certain` says how sure its edges are."""

    adjacency_ = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    pvalues_ = np.array([[np.nan, 0.0, 1e-9], [np.nan, np.nan, 0.0], [np.nan] * 3])

    left_out_ = ()
    warnings_ = ()

    def __init__(self, certain):
        if certain:
            self.nats_ = np.array([[np.nan, 5.0, 7.0], [np.nan, np.nan, 90.0], [np.nan] * 3])
            self.direction_nats_ = np.array([[np.nan, 0.4, np.inf], [np.nan, np.nan, 33.3], [np.nan] * 3])
            self.open_ = self.direction_nats_ < 1
            words = {"form": "natural", "curves": "", "spread": "moving", "noise": "normal", "rows": 150}
            parents = ["", "dose", 'dose, level "x"']
            named = zip(self.names(), parents, strict=True)
            self.mechanisms_ = pd.DataFrame([{"variable": name, "parents": above} | words for name, above in named])

    def get_params(self, deep=True):
        return {"alpha": 0.001}

    def names(self):
        return ["dose", 'level "x"', "age"]


def fit_known(monkeypatch, certain):
    """Return the printed lines of `heterodag fit`, which is made to learn a `Known` model."""
    table()
    monkeypatch.setattr("heterodag.cli.commands.learn", lambda *args: Known(certain))
    done = run("fit", "data.csv")
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_fit_prints_how_sure_directions_are(monkeypatch):
    lines = fit_known(monkeypatch, certain=True)
    assert lines[1:6] == [
        "3 edges at alpha 0.001:",
        "cause       effect      p-value   evidence (nats)   direction (nats)",
        'level "x"   age         0         90.0              33.3',
        'dose        level "x"   0         5.0               0.4 open',
        "dose        age         1e-09     7.0               given",
    ]
    page = read("heterodag-out/report.html")
    assert "1 of 3 arrows is open" in page
    assert "<h2>Mechanisms</h2>" in page
    assert "dir=none" in read("heterodag-out/graph.dot")
    assert read("heterodag-out/edges.csv").splitlines()[2] == 'dose,"level ""x""",0.0,5.0,0.4,true'


def test_fit_prints_as_before_where_directions_are_not_known(monkeypatch):
    lines = fit_known(monkeypatch, certain=False)
    assert lines[1:6] == [
        "3 edges at alpha 0.001:",
        "cause       effect      p-value",
        'dose        level "x"   0',
        'level "x"   age         0',
        "dose        age         1e-09",
    ]
    assert lines[6:8] == ["", ""]
    assert lines[8].startswith("Wrote ")
    assert read("heterodag-out/edges.csv").startswith("cause,effect,pvalue\n")
    assert "open" not in read("heterodag-out/graph.json")


def test_evaluate_counts_an_open_edge_as_the_one_the_file_names(monkeypatch):
    fit_known(monkeypatch, certain=True)
    write("truth.csv", 'dose,"level ""x""",age\n0,1,1\n0,0,1\n0,0,0\n')
    write("turned.csv", 'dose,"level ""x""",age\n0,0,1\n1,0,1\n0,0,0\n')
    for name in ("graph.json", "edges.csv", "graph.graphml"):
        for truth, shd in (("truth.csv", 0), ("turned.csv", 1)):
            done = run("evaluate", f"heterodag-out/{name}", truth, "--json")
            assert done.exit_code == 0, done.output
            assert json.loads(done.stdout)["shd"] == shd


def test_the_reference_stands_after_the_direction(capsys):
    print_graph(Screen(), graph_result(Known(certain=True)), np.eye(3, k=1))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "cause       effect      p-value   evidence (nats)   direction (nats)   consensus graph"
    assert lines[3] == 'dose        level "x"   0         5.0               0.4 open           yes'


def test_demo_compares_with_the_consensus_graph():
    done = run("demo", "--out", "here")
    assert done.exit_code == 0, done.output
    assert files("here") == sorted([*OUTPUTS, "trial"])
    assert files("here/trial") == sorted([*OUTPUTS, "trial.csv"])
    assert "true graph of 6 edges: order divergence 0, structural Hamming distance 0." in done.stdout
    assert len(pd.read_csv("here/trial/trial.csv")) == 1000
    assert "853 cells, 11 proteins" in done.stdout
    assert "consensus graph of 17 edges: order divergence" in done.stdout
    assert "Causal order, causes first: " in done.stdout
    page = read("here/report.html")
    assert "Compared with the consensus graph" in page


def test_version_and_help_are_quick():
    assert execute("--version").stdout == f"heterodag {_version.__version__}\n"
    begun = time.monotonic()
    done = execute("--help")
    assert time.monotonic() - begun < 10
    for command in ("demo", "fit", "simulate", "evaluate"):
        assert command in done.stdout
    code = "import sys, heterodag.cli; print([m for m in ('pandas', 'scipy', 'matplotlib') if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_small_pieces():
    assert split_names('a, b,"c,d"') == ["a", "b", "c,d"]
    assert split_names(None) is None
    assert printable("a\x1b[31mb\tc\n") == "a\ufffd[31mb c "
