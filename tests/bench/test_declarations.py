"""The declarations of the tables: they are correct and can be run, and mistakes are reported with their place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.tables import experiments, render
from bench.tables.declarations import DeclarationError
from bench.tables.plan_files import TREEBANKS, read_plan
from bench.tables.records import Results
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining

ROOT = Path(__file__).resolve().parent.parent.parent
TABLES = ROOT / "bench" / "tables"


ROW = "[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'a'\nlabel = 'A'\noptions = {}\n"

FIGURES = [
    ("rows.bottom-up", "83.3 79.0 82.7 78.6", "79.3 77.1 78.8 76.3"),
    ("rows.htlstm", "92.4 90.1 92.0 89.8", "86.2 84.5 86.2 84.7"),
    ("rows.bilstm", "93.0 90.5 92.6 90.2", "86.2 84.5 86.1 84.4"),
    ("rows.external", "93.3 90.8 93.0 90.9", "87.2 85.7 87.1 85.5"),
    ("rows.no-tags", "92.9 90.5 92.9 90.6", "82.9 80.0 82.6 79.5"),
    ("rows.dyer", "92.7 90.4 92.4 90.0", "86.3 84.7 85.7 84.1"),
    ("rows.dyer-external", "93.2 90.9 93.1 90.9", "87.2 85.9 87.2 85.7"),
    ("rows.chen-manning-external", "92.2 89.7 91.8 89.6", ""),
    ("rows.chen-manning", "", "84.0 82.4 83.9 82.4"),
    ("rows.dyer-no-tags", "93.1 90.4 92.7 90.3", "82.8 79.8 82.2 79.1"),
    ("oracle.rand", "93.0 90.5", "86.2 84.5"),
    ("oracle.rand-nodyn", "92.2 89.8", "85.7 84.1"),
    ("oracle.ext", "93.3 90.8", "87.2 85.7"),
    ("oracle.ext-nodyn", "92.7 90.4", "86.6 85.1"),
]


def declared_rows() -> Iterator[tuple[str, experiments.Row]]:
    for table in read_plan().tables:
        for row in table.rows:
            yield f"{table.id}.{row.id}", row


class TestDeclarations:
    def test_rows(self) -> None:
        names = {name for name, _ in declared_rows()}
        wanted = {"bottom-up", "htlstm", "bilstm", "external", "no-tags"}
        assert {f"rows.{row}" for row in wanted} <= names
        assert {"oracle.rand", "oracle.rand-nodyn", "oracle.ext", "oracle.ext-nodyn"} <= names
        assert {"choices.gru", "choices.elman", "choices.window-1", "choices.window-3"} <= names

    @pytest.mark.parametrize(("name", "row"), list(declared_rows()), ids=lambda value: str(value)[:30])
    def test_settings_of_taggers(self, name: str, row: experiments.Row) -> None:
        assert row.is_ours or row.paper, name
        known = {field.name for kind in (TaggerConfig, TaggerTraining) for field in dataclasses.fields(kind)}
        settings = [key.partition(".") for key in row.settings]
        assert {setting for table, _, setting in settings if table == "tagger"} <= known

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (
                "options = { embedings = 'x' }",
                r"^t\.a: easyfirst train has no option --embedings; did you mean --embeddings\?$",
            ),
            ("options = { xyz = 'x' }", r"^t\.a: easyfirst train has no option --xyz$"),
            ("options = { epochs = 'three' }", r"^t\.a: epochs: 'three' is not a valid int"),
            ("options = { epochs = 0 }", r"^t\.a: training.epochs must be"),
            ("options = { epochs = true }", r"^t\.a: epochs must be a value, not true"),
            ("options = { no-dynamic-oracle = 1 }", r"^t\.a: no-dynamic-oracle must be true or false, not 1"),
            ("options = { jobs = 8 }", r"^t\.a: jobs is set by the runner; remove it"),
            ("", r"^t\.a: nothing to train; write options = \{\} to use"),
            ("options = { preset = 'stronk' }", r"^t\.a: unknown preset 'stronk'; there are: bottom-up"),
            ("options = {}\nsettings = { 'training.epoch' = 3 }", r"^t\.a: unknown setting training\.epoch; there are"),
            ("options = { tags = 'foo' }", r"^t\.a: network\.tags|^t\.a: .*tags"),
            (
                "options = { embeddings = '{vektors}' }",
                r"^t\.a: unknown placeholder \{vektors\} for embeddings; use",
            ),
            ("options = { epochs = [1] }", r"^t\.a: epochs must be a string, a number, true or false, not \[1\]"),
            ("options = { seed = 3 }", r"^t\.a: seed is set by the runner"),
            ("options = {}\npredicted_tags = true", r"^t\.a: predicted_tags needs a tagger"),
            ("options = {}\nsettings = { 'epochs' = 3 }", r"^t\.a: unknown setting epochs; write TABLE\.NAME"),
        ],
    )
    def test_what_train_would_reject(self, tmp_path: Path, row: str, message: str) -> None:
        path = tmp_path / "bad.toml"
        path.write_text(f"[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'a'\nlabel = 'A'\n{row}\n", "utf-8")
        with pytest.raises(DeclarationError, match=message):
            read_plan([path])

    def test_rows_with_the_same_options_share_a_run(self) -> None:
        runs = read_plan().runs()
        assert len({run.key for run in runs}) == len(runs)
        [shared] = [run for run in runs if "rows.bilstm.en.1" in run.places]
        assert "oracle.rand.en.1" in shared.places
        assert shared.wants_test

    def test_an_ensemble_is_one_run(self) -> None:
        runs = {run.name: run for run in read_plan().runs()}
        ensemble = runs["strong.gold-together.en.1+2"]
        assert [member.name for member in ensemble.members] == [f"strong.gold.en.{seed}" for seed in (1, 2)]
        assert ensemble.members[0].key == runs["strong.gold.en.1"].key
        assert ensemble.key not in {member.key for member in ensemble.members}
        assert runs["strong.predicted-together.en.1+2+3+4+5"].predicted_tags

    def test_vectors_are_part_of_the_key(self) -> None:
        plan = read_plan()
        runs = {run.name: run for run in plan.runs()}
        assert runs["rows.external.en.1"].vectors == {"{vectors}": "en-100d.npz"}
        assert runs["strong.gold.en.1"].vectors == {"{positional}": "en-300d.npz"}
        assert runs["rows.bilstm.en.1"].vectors == {}
        run = runs["strong.gold.en.1"]
        others = dataclasses.replace(run, treebank=dataclasses.replace(run.treebank, positional="others.npz"))
        assert others.key != run.key

    def test_vectors_missing_from_the_treebank(self, tmp_path: Path) -> None:
        treebanks = TREEBANKS.read_text(encoding="utf-8").replace('positional = "en-300d.npz"', "")
        (tmp_path / "treebanks.toml").write_text(treebanks, encoding="utf-8")
        with pytest.raises(DeclarationError, match=r"strong\.gold: embeddings is {positional}, but"):
            read_plan(treebanks=tmp_path / "treebanks.toml")

    def test_seeds_by_language(self) -> None:
        row = experiments.Row("a", "A", seeds={"zh": [1, 2]})
        assert (list(row.seeds_of("zh")), list(row.seeds_of("en"))) == ([1, 2], [1])
        assert experiments.Row("a", "A", seeds=[3]).seeds_of("en") == [3]

    @pytest.mark.parametrize(("row", "english", "chinese"), FIGURES)
    def test_figures_of_the_paper(self, row: str, english: str, chinese: str) -> None:
        """The figures were copied from the paper twice, independently: dev UAS, LAS, test UAS, LAS."""
        paper = dict(declared_rows())[row].paper
        for language, figures in (("en", english), ("zh", chinese)):
            dev_and_test = [paper.get(language, {}).get(part, []) for part in ("dev", "test")]
            assert [*dev_and_test[0], *dev_and_test[1]] == [float(figure) for figure in figures.split()]

    def test_all_figures_are_compared(self) -> None:
        assert {row for row, *_ in FIGURES} == {name for name, row in declared_rows() if row.paper}

    def test_figures_of_the_oracle_are_those_of_the_rows(self) -> None:
        rows = dict(declared_rows())
        for here, there in (("oracle.rand", "rows.bilstm"), ("oracle.ext", "rows.external")):
            for language in ("en", "zh"):
                assert rows[here].paper[language]["dev"] == rows[there].paper[language]["dev"]

    def test_licensed_treebanks_have_the_papers_tags(self) -> None:
        plan = read_plan([TABLES / "paper.toml"], TABLES / "licensed.toml")
        tags = {run.places[0]: run.options["tags"] for run in plan.runs()}
        assert tags.pop("rows.no-tags.en.1") == tags.pop("rows.no-tags.zh.1") == "none"
        assert set(tags.values()) == {"xpos"}

    @pytest.mark.parametrize(
        "text",
        [
            "[[table]]\nid = 't'\n",
            "[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'a'\nlabel = 'A'\nlanguages = ['xx']\n",
            "[[finding]]\nid = 'f'\nclaim = 'c'\npairs = [['t.a', 't.b']]\n",
            "[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'a'\nlabel = 'A'\noptions = {}\n"
            "[[table.row]]\nid = 'b'\nlabel = 'B'\ncombines = 'a'\n",
            "[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'b'\nlabel = 'B'\ncombines = 'a'\n",
            "[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'a'\nlabel = 'A'\noptions = {}\nseeds = [1, 2]\n"
            "[[table.row]]\nid = 'b'\nlabel = 'B'\ncombines = 'a'\npredicted_tags = true\n",
            "[other]\n",
            "not TOML",
            "table = 3\n",
            "[[tabel]]\nid = 't'\n[[tabel.row]]\nid = 'a'\n",
            "[table]\nid = 't'\n",
            f"{ROW}seeds = 3\n",
            f"{ROW}seeds = [1, 1]\n",
            f"{ROW}seeds = ['x']\n",
            f"{ROW}cost = 'x'\n",
            f"{ROW}paper.en = {{ dev = ['x'] }}\n",
            f"{ROW}paper.xx = {{ dev = [1.0, 2.0] }}\n",
            f"{ROW}predicted_tags = 1\n",
            "[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'a'\nlabel = 'A'\noptions = 3\n",
            "[[table]]\nid = 't'\ntitle = 'T'\nlanguages = 'en'\n",
            "[[table]]\nid = 't'\ntitle = 'T'\n[table.row]\nid = 'a'\n",
        ],
    )
    def test_mistakes(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "bad.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DeclarationError, match=r"bad\.toml|^t\.|there is no row"):
            read_plan([path])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (ROW + ROW.partition("'T'\n")[2], r"^t\.a: two rows have this id"),
            (ROW.replace("'T'\n", "'T'\nagainst = 'z'\n"), r"^against, in table t: there is no row t\.z"),
            (
                ROW + "[[table.row]]\nid = 'b'\nlabel = 'B'\ncombines = 'z'\n",
                r"^combines, in t\.b: there is no row t\.z",
            ),
            (
                ROW + "[[finding]]\nid = 'f'\nclaim = 'c'\npairs = [['t.a', 't.z']]\n",
                "^pairs, in finding f: there is no",
            ),
            (
                ROW.replace("'T'\n", "'T'\nlangguages = []\n"),
                "unknown key langguages; allowed are id, title,",
            ),
            (ROW.replace("'T'\n", "'T'\nx = 1\n"), "tags, row, options, settings, seeds, cost$"),
            (ROW + "x = 1\n", "combines, paper, inherit$"),
            (ROW + ROW, "^t: two tables have this id"),
            (
                ROW + "[[finding]]\nid = 'f'\nclaim = 'c'\npairs = [['t.a']]\n",
                r"finding f: \['t\.a'\] is not a pair of rows",
            ),
            (ROW + "paper.en = { foo = [1.0, 2.0] }\n", r"^t\.a: paper has only dev and test, not foo"),
            (
                ROW.replace("'T'\n", "'T'\nagainst = 'b'\n") + "[[table.row]]\nid = 'b'\nlabel = 'B'\noptions = {}\n",
                "^t: against is b, but it must be the table's first row",
            ),
            (
                ROW + "[[reference]]\nlabel = 'R'\nrow = 't.a'\nlanguage = 'xx'\nepochs = [[1.0, 2.0]]\n",
                "^reference R: unknown language xx",
            ),
            (ROW + "seeds = { dee = [1, 2] }\n", r"^t\.a: unknown language dee; the languages are en, zh$"),
            (ROW + "seeds = 2\n", r"seeds must be a list \(\[…\]\), each an integer, or a table"),
            (ROW.replace("'a'", "'a/b'"), r"^table t: 'a/b' becomes part of run names; use only letters"),
            (ROW.replace("'t'", "'t.u'"), r"^table t\.u: 't\.u' becomes part of run names"),
        ],
    )
    def test_messages_name_the_place_and_the_alternatives(self, tmp_path: Path, text: str, message: str) -> None:
        path = tmp_path / "bad.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DeclarationError, match=message):
            read_plan([path])

    def test_options_of_a_treebank_are_checked_too(self, tmp_path: Path) -> None:
        treebanks = (
            (TABLES / "treebanks.toml").read_text().replace("minutes = 35", "minutes = 35\noptions = { tagz = 'x' }")
        )
        (tmp_path / "treebanks.toml").write_text(treebanks, encoding="utf-8")
        with pytest.raises(DeclarationError, match=r"^rows\.bottom-up: easyfirst train has no option --tagz"):
            read_plan([TABLES / "paper.toml"], tmp_path / "treebanks.toml")

    def test_mistakes_in_treebanks(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.toml"
        for text, message in (
            ("en = 3", "must be a table, not 3"),
            ("[en]\nname = 'x'", r"\[en\]: missing tags, train"),
            (
                (TABLES / "treebanks.toml").read_text().replace("minutes = 35", "minutes = 'many'"),
                "minutes must be a number",
            ),
            (
                (TABLES / "treebanks.toml").read_text().replace("minutes = 35", "minute = 35"),
                "unknown key minute; allowed are name, tags",
            ),
            (
                (TABLES / "treebanks.toml").read_text().replace("minutes = 35", "minutes = 35\nlanguage = 'x'"),
                "unknown key language; allowed are",
            ),
            ("['e n']\nname = 'x'", "'e n' becomes part of run names"),
        ):
            path.write_text(text, encoding="utf-8")
            with pytest.raises(DeclarationError, match=message):
                read_plan([TABLES / "paper.toml"], path)
        path.write_bytes(b"\xff")
        with pytest.raises(DeclarationError, match=r"bad\.toml"):
            read_plan([path])

    def test_one_treebank_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "ptb.toml"
        path.write_text((TABLES / "licensed.toml").read_text(encoding="utf-8").partition("[zh]")[0], encoding="utf-8")
        plan = read_plan([TABLES / "paper.toml"], path)
        assert {run.treebank.language for run in plan.runs()} == {"en"}
        page = render.page(plan, Results(tmp_path / "none.jsonl"), None)
        assert "Chinese" not in page.partition("## The paper's findings")[0]
