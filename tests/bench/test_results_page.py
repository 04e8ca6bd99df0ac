"""The page of the results says what is known and what is not, and what may be said of differences."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import experiments
import pytest
import render
import results
import summary

from easyfirst.model.parser_config import preset

ROOT = Path(__file__).resolve().parent.parent.parent
TABLES, EVALUATION = ROOT / "bench" / "tables", ROOT / "docs" / "evaluation.md"

ROW = "[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'a'\nlabel = 'A'\noptions = {}\n"


class TestPage:
    def test_systems_the_paper_quotes(self) -> None:
        """Copied from the paper a second time: UAS on PTB-YM, PTB-SD and CTB, and the time."""
        shown = list(render.published_lines())
        for name, figures in (
            ("Zhang & Nivre (2011)", "92.9 | – | 86.0 | O(n)+"),
            ("Martins et al. (2013)", "92.8 | 93.07 | – | O(n⁴)"),
            ("Pei et al. (2015)", "92.99 | – | – | O(n³)"),
            ("Kiperwasser & Goldberg (2016), the paper", "– | 92.6 | 86.1 | O(n log n)"),
            ("Weiss et al. (2015)", "– | 93.19 | – | O(n)"),
            ("Weiss et al. (2015)", "– | 93.99 | – | O(n)+"),
            ("Pei et al. (2015)", "93.29 | – | – | O(n³)"),
            ("Le & Zuidema (2014)", "93.12 | 93.84 | – | O(n³)"),
            ("Zhu et al. (2015)", "93.83 | – | 85.71 | O(n)+"),
            ("Kiperwasser & Goldberg (2016), the paper", "– | 93.0 | 87.1 | O(n log n)"),
        ):
            assert [line for line in shown if line.startswith(f"| {name} |") and line.endswith(f" | {figures} |")]

    def test_without_results(self, tmp_path: Path) -> None:
        plan = experiments.read_plan()
        render.write(tmp_path / "page.md", plan, results.Results(tmp_path / "none.jsonl"))
        text = (tmp_path / "page.md").read_text(encoding="utf-8")
        assert "| + htlstm | 92.4 / 90.1 | 92.0 / 89.8 | not run yet |" in text
        assert f"0 of {len(plan.runs())} runs are done" in text
        for name in ("Dyer", "Chen & Manning", "Zhang & Nivre", "Martins", "Pei", "Weiss", "Le & Zuidema", "Zhu"):
            assert name in text

    def test_every_finding_has_its_place(self) -> None:
        plan = experiments.read_plan()
        found = {finding.id for finding in plan.findings}
        assert {*found, *render.FIRST} <= set(render.read_findings())
        tables = {render.BELOW + table.id for table in plan.tables}
        assert set(render.read_findings()) <= {*found, *render.FIRST, *tables}

    def test_other_treebanks_get_no_findings_of_ours(self, tmp_path: Path) -> None:
        plan = experiments.read_plan([TABLES / "paper.toml"], TABLES / "licensed.toml")
        render.write(tmp_path / "page.md", plan, results.Results(tmp_path / "none.jsonl"), None)
        text = (tmp_path / "page.md").read_text(encoding="utf-8")
        assert text.startswith("# Results: the paper's tables on PTB, Stanford Dependencies 3.3.0 and CTB 5.1")
        assert "### External vectors add 0.3 to 1." in text
        assert not any(word in text for word in ("onfirmed", "EWT", "gold UPOS", "Not written", "authors' impl"))
        assert "every result is a line of `none.jsonl`" in text

    def test_a_page_of_other_tables_says_nothing_of_the_papers(self, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text(ROW, encoding="utf-8")
        plan = experiments.read_plan([tmp_path / "mine.toml"], TABLES / "licensed.toml")
        text = render.page(plan, results.Results(tmp_path / "none.jsonl"), None)
        assert text.startswith("# Results on PTB, ")
        assert "declared in\n`mine.toml`, every" in text
        assert not any(word in text for word in ("**Paper**", "What the paper found", "Dyer", "quote"))

    def test_seeds_with_other_settings_have_no_mean(self) -> None:
        plan = experiments.read_plan()
        [table] = [table for table in plan.tables if table.id == "rows"]
        row = table.row("bilstm")
        one, two = plan.runs_of(table, row, "en")
        config = {"network": {"window": 2}, "training": {}}
        newer = {"network": {"window": 2, "colour": 1}, "training": {}}  # a setting that there was not before
        recorded = {one.key: {"config": config, "data": {"a": "1"}}, two.key: {"config": newer, "data": {"a": "1"}}}
        assert len(summary.lines_of(plan, table, row, "en", recorded)) == 2
        recorded[two.key]["data"] = {"a": "2"}
        with pytest.raises(experiments.DeclarationError, match=r"rows\.bilstm: its seeds differ in a"):
            summary.lines_of(plan, table, row, "en", recorded)
        recorded[two.key] = {"config": {"network": {"window": 3}, "training": {}}, "data": {"a": "1"}}
        with pytest.raises(experiments.DeclarationError, match="differ in window"):
            summary.lines_of(plan, table, row, "en", recorded)

    def test_prose_is_copied(self, tmp_path: Path) -> None:
        path = tmp_path / "findings.md"
        path.write_text("<!-- a\n## hidden\n-->\n## baseline\n\nIt is so.\n\n## tags\n", encoding="utf-8")
        assert render.read_findings(path) == {"baseline": "It is so.", "tags": ""}
        text = render.page(experiments.read_plan(), results.Results(tmp_path / "none.jsonl"), path)
        assert "\nIt is so.\n" in text
        assert "what is said of them in words\nis in `findings.md`." in text

    def test_prose_below_a_table(self, tmp_path: Path) -> None:
        path = tmp_path / "findings.md"
        path.write_text("## below rows\n\nThat is it.\n", encoding="utf-8")
        text = render.page(experiments.read_plan(), results.Results(tmp_path / "none.jsonl"), path)
        assert "\nThat is it.\n\n## The dynamic oracle" in text

    def test_the_page_is_of_these_results(self) -> None:
        text = render.page(experiments.read_plan(), results.Results(), render.FINDINGS)
        assert render.PAGE.read_text(encoding="utf-8") == text, "run bench/tables/render.py"

    def test_recorded_runs_have_the_settings_that_their_rows_have_today(self) -> None:
        """A preset that is changed changes rows that name it: they need runs of their own, and those that there are
        rows that write the old settings out."""
        by_option = {
            "tags": "tags",
            "epochs": "epochs",
            "no-dynamic-oracle": "use_dynamic_oracle",
            "freeze-embeddings": "freeze_external",
            "parts": "freeze_external",  # vectors are a tagger's, too
        }
        recorded = results.Results().read()
        for run in experiments.read_plan().runs():
            if line := recorded.get(run.key):
                config = preset(run.options["preset"]).to_dict()
                for part, then in line["config"].items():
                    written = {name.rpartition(".")[2] for name in run.settings if name.startswith(f"{part}.")}
                    written |= {by_option[name] for name in run.options if name in by_option}
                    now = {name: value for name, value in config[part].items() if name not in written}
                    assert {**then, **now} == {**now, **then}, run.name

    @pytest.mark.parametrize(
        ("place", "said"),
        [
            ("rows.bilstm", "`paper` | gold UPOS"),
            ("rows.external", "`paper`, external vectors | gold UPOS"),
            ("strong.gold", "`strong`, vectors with positional context | gold UPOS and XPOS"),
            ("strong.gold-together", "the same, ensemble of two | gold UPOS and XPOS"),
            ("strong.predicted", "`strong`, vectors with positional context | predicted"),
            ("strong.predicted-together", "the same, ensemble of five | predicted"),
        ],
    )
    def test_figures_of_the_page_on_evaluation(self, place: str, said: str) -> None:
        plan, recorded = experiments.read_plan(), results.Results().read()
        [table] = [table for table in plan.tables if table.id == place.partition(".")[0]]
        lines = summary.lines_of(plan, table, plan.row(place), "en", recorded)
        found = [[summary.score(lines, part, "ud", name) for name in summary.SCORES] for part in ("dev", "test")]
        cells = [" / ".join(f"{score.mean:.1f}" for score in part if score) for part in found]
        assert f"| {said} | {' | '.join(cells)} |\n" in EVALUATION.read_text(encoding="utf-8")

    def test_only_all_of_ours_goes_to_our_page(self, tmp_path: Path) -> None:
        parser = argparse.ArgumentParser()
        render.add_arguments(parser)
        assert render.places(parser.parse_args([])) == (render.PAGE, render.FINDINGS)
        page = str(tmp_path / "page.md")
        for others in (
            [str(TABLES / "choices.toml")],
            ["--results", "mine.jsonl"],
            ["--treebanks", str(TABLES / "licensed.toml")],
        ):
            with pytest.raises(experiments.DeclarationError, match="--page"):
                render.places(parser.parse_args(others))
            assert render.places(parser.parse_args([*others, "--page", page])) == (Path(page), None)

    def test_our_results_are_not_for_tables_of_others(self, tmp_path: Path) -> None:
        parser = argparse.ArgumentParser()
        render.add_arguments(parser)
        mine = tmp_path / "mine.toml"
        for ours in ([], [str(TABLES / "choices.toml")], [str(mine), "--results", "mine.jsonl"]):
            render.check_results(parser.parse_args(ours))
        for others in ([str(mine)], ["--treebanks", str(mine)]):
            with pytest.raises(experiments.DeclarationError, match="--results"):
                render.check_results(parser.parse_args(others))

    def test_predicted_tags_stand_above_the_table(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        row = ROW.replace("options = {}", "options = { parts = 'tagger,parser' }\npredicted_tags = true")
        for text, said in ((ROW, "gold UPOS tags"), (row, "predicted tags")):
            path.write_text(text, encoding="utf-8")
            page = render.page(experiments.read_plan([path]), results.Results(tmp_path / "none.jsonl"), None)
            assert f"(ours: UD_English-EWT, {said})" in page

    def test_ties(self) -> None:
        two, one = summary.Score(90.0, 0.3, 2), summary.Score(90.2, 0.0, 1)
        assert summary.verdict(one, two, None) == "tie (spread 0.30)"
        assert summary.verdict(summary.Score(91.0, 0.2, 3), two, None) == "differ (spread 0.30)"
        three = summary.Score(90.0, 0.3, 3)
        assert summary.verdict(one, one, 0.1) == "tie (spread 0.10)"
        assert summary.verdict(summary.Score(90.4, 0.0, 1), two, 0.5) == "tie (spread 0.50)"  # of other rows
        assert (
            summary.verdict(summary.Score(90.4, 0.2, 3), two, 0.5) == "tie (spread 0.50)"
        )  # two may be close by chance
        assert summary.verdict(summary.Score(90.4, 0.2, 3), three, 0.5) == "differ (spread 0.30)"
        assert summary.verdict(one, one, None) == "one seed: spread not known"
        assert str(two) == "90.00 [0.30]"

    def test_spreads_of_predicted_tags_stand_in_for_such_only(self) -> None:
        plan = experiments.read_plan()
        [table] = [table for table in plan.tables if table.id == "strong"]
        runs = plan.runs_of(table, table.row("predicted"), "en")[:2]
        same: dict[str, Any] = {"config": {"network": {}, "training": {}}, "data": {}}
        recorded = {run.key: {**same, "dev": {"conllx": {"LAS": 80.0 + n}}} for n, run in enumerate(runs)}
        for predicted_tags, spread in ((True, 1.0), (False, None)):
            found = summary.largest_spread(plan, recorded, "en", "dev", "LAS", predicted_tags=predicted_tags)
            assert found == spread

    def test_seeds_are_averaged(self) -> None:
        lines = [{"dev": {"ud": {"LAS": value}}, "test": None} for value in (80.0, 81.0)]
        assert summary.score(lines, "dev", "ud", "LAS") == summary.Score(80.5, 1.0, 2)
        assert summary.score(lines, "test", "ud", "LAS") is None

    def test_epochs_beside_another_implementation(self) -> None:
        plan = experiments.read_plan()
        [reference] = plan.references
        [table] = [table for table in plan.tables if table.id == "rows"]
        one, two = plan.runs_of(table, table.row("bilstm"), "en")
        same: dict[str, Any] = {"config": {"network": {}, "training": {}}, "data": {}}
        epochs = {one.key: [[80.0, 70.0], [82.0, 72.0]], two.key: [[81.0, 70.5]]}
        recorded = {key: {**same, "dev_by_epoch": scores} for key, scores in epochs.items()}
        lines = list(render.reference_lines(plan, reference, recorded))
        assert "| 1 | 83.90 / 80.20 | 80.50 [1.00] / 70.25 [0.50] |" in lines
        assert "| 2 | 86.30 / 83.40 | 82.00 / 72.00 |" in lines
        assert "| 3 | 87.50 / 84.90 | not run yet |" in lines
