"""Every file of rows says which commit made it, and the page says the same."""

import subprocess

import made_by
from rows import COLUMNS, MADE_BY, commit, note_commit, read, same_package


def test_every_file_of_rows_has_a_commit():
    known = {line["file"]: line for line in read(MADE_BY)}
    assert set(known) == set(made_by.stored())
    assert all(line[name] for line in known.values() for name in COLUMNS)


def test_the_page_says_what_the_list_says():
    assert made_by.PAGE.read_text(encoding="utf-8") == made_by.page()


def test_a_run_adds_its_commit_once(tmp_path, monkeypatch):
    import rows

    monkeypatch.setattr(rows, "RESULTS", tmp_path)
    monkeypatch.setattr(rows, "MADE_BY", tmp_path / "made_by.csv")
    monkeypatch.setattr(rows, "AGAIN", tmp_path / "again.csv")
    monkeypatch.setattr(rows, "commit", lambda: "1234567")
    for _ in range(2):
        note_commit(tmp_path / "some.csv")
    note_commit(tmp_path.parent / "elsewhere.csv")
    (line,) = read(tmp_path / "made_by.csv")
    assert (line["file"], line["commit"]) == ("some.csv", "1234567")


def test_what_came_out_again_says_nothing_of_rows_of_a_new_commit(tmp_path, monkeypatch):
    import rows

    for name in ("RESULTS", "MADE_BY", "AGAIN"):
        monkeypatch.setattr(rows, name, tmp_path / f"{name}.csv" if name != "RESULTS" else tmp_path)
    monkeypatch.setattr(rows, "commit", lambda: "1234567+")
    for name in ("some.csv", "other.csv"):
        note_commit(tmp_path / name)
    checked = [{"file": name, "same": "6"} for name in ("some.csv", "other.csv")]
    rows.write(rows.AGAIN, ["file", "same"], checked)
    note_commit(tmp_path / "some.csv")
    assert read(rows.AGAIN) == checked
    monkeypatch.setattr(rows, "commit", lambda: "7654321+")
    note_commit(tmp_path / "some.csv")
    assert read(rows.AGAIN) == checked[1:]


def test_outside_of_a_clone_the_commit_is_unknown(tmp_path, monkeypatch):
    import rows

    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.setattr(rows, "RESULTS", tmp_path / "a" / "b")
    assert commit() == "unknown"


def test_commits_with_the_same_package_count_once(tmp_path, monkeypatch):
    import rows

    def git(*words):
        names = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        done = subprocess.run(["git", *names, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def committed(file, text):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
        git("add", "-A")
        git("commit", "-q", "-m", "some words")
        return git("rev-parse", "HEAD")

    git("init", "-q")
    monkeypatch.setattr(rows, "RESULTS", tmp_path / "benchmarks" / "results")
    first, second, third = (committed(*change) for change in (("src/a", "1"), ("docs/a", "1"), ("src/a", "2")))
    assert same_package(first, second)
    assert not same_package(second, third)
    assert not same_package(f"{first}+", first)
    assert same_package(f"{first}+", f"{first}+")
    assert not same_package("nosuchcommit", first)
