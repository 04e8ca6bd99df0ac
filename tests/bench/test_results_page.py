"""The results page: known and unknown results, differences and verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from bench.tables import render, summary
from bench.tables.declarations import DeclarationError
from bench.tables.plan_files import read_plan
from bench.tables.records import Results
from easyfirst.model.parser_config import preset

ROOT = Path(__file__).resolve().parent.parent.parent
TABLES = ROOT / "bench" / "tables"

ROW = "[[table]]\nid = 't'\ntitle = 'T'\n[[table.row]]\nid = 'a'\nlabel = 'A'\noptions = {}\n"


class TestPage:
    def test_systems_the_paper_quotes(self) -> None:
        """The figures were copied from the paper twice, independently: UAS on PTB-YM, PTB-SD and CTB, and the time."""
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
        plan = read_plan()
        render.write(tmp_path / "page.md", plan, Results(tmp_path / "none.jsonl"))
        text = (tmp_path / "page.md").read_text(encoding="utf-8")
        assert "| + htlstm | 92.4 / 90.1 | 92.0 / 89.8 | not run yet |" in text
        assert f"0 of {len(plan.runs())} runs are done" in text
        for name in ("Dyer", "Chen & Manning", "Zhang & Nivre", "Martins", "Pei", "Weiss", "Le & Zuidema", "Zhu"):
            assert name in text

    def test_every_finding_has_its_place(self) -> None:
        plan = read_plan()
        found = {finding.id for finding in plan.findings}
        assert {*found, *render.FIRST} <= set(render.read_findings())
        tables = {render.BELOW + table.id for table in plan.tables}
        assert set(render.read_findings()) <= {*found, *render.FIRST, *tables}

    def test_other_treebanks_get_no_findings_of_ours(self, tmp_path: Path) -> None:
        plan = read_plan([TABLES / "paper.toml"], TABLES / "licensed.toml")
        render.write(tmp_path / "page.md", plan, Results(tmp_path / "none.jsonl"), None)
        text = (tmp_path / "page.md").read_text(encoding="utf-8")
        assert text.startswith("# Results: the paper's tables on PTB, Stanford Dependencies 3.3.0 and CTB 5.1")
        assert "### External vectors add 0.3 to 1." in text
        assert not any(word in text for word in ("onfirmed", "EWT", "gold UPOS", "To be written", "authors' impl"))
        assert "each result is a line of `none.jsonl`" in text

    def test_a_page_of_other_tables_omits_the_paper(self, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text(ROW, encoding="utf-8")
        plan = read_plan([tmp_path / "mine.toml"], TABLES / "licensed.toml")
        text = render.page(plan, Results(tmp_path / "none.jsonl"), None)
        assert text.startswith("# Results on PTB, ")
        assert "declared in\n`mine.toml`, each" in text
        assert not any(word in text for word in ("**Paper**", "The paper's findings", "Dyer", "quote"))

    def test_seeds_with_different_settings_have_no_mean(self) -> None:
        plan = read_plan()
        [table] = [table for table in plan.tables if table.id == "rows"]
        row = table.row("bilstm")
        one, two = plan.runs_of(table, row, "en")
        config = {"network": {"window": 2}, "training": {}}
        newer = {"network": {"window": 2, "colour": 1}, "training": {}}  # a setting that a later version added
        recorded = {one.key: {"config": config, "data": {"a": "1"}}, two.key: {"config": newer, "data": {"a": "1"}}}
        assert len(summary.lines_of(plan, table, row, "en", recorded)) == 2
        recorded[two.key]["data"] = {"a": "2"}
        with pytest.raises(DeclarationError, match=r"rows\.bilstm: the recorded seeds differ in a"):
            summary.lines_of(plan, table, row, "en", recorded)
        recorded[two.key] = {"config": {"network": {"window": 3}, "training": {}}, "data": {"a": "1"}}
        with pytest.raises(DeclarationError, match="differ in window"):
            summary.lines_of(plan, table, row, "en", recorded)

    def test_prose_is_copied(self, tmp_path: Path) -> None:
        path = tmp_path / "findings.md"
        path.write_text("<!-- a\n## hidden\n-->\n## baseline\n\nIt is so.\n\n## tags\n", encoding="utf-8")
        assert render.read_findings(path) == {"baseline": "It is so.", "tags": ""}
        text = render.page(read_plan(), Results(tmp_path / "none.jsonl"), path)
        assert "\nIt is so.\n" in text
        assert "and the discussion\nis in `findings.md`." in text

    def test_prose_below_a_table(self, tmp_path: Path) -> None:
        path = tmp_path / "findings.md"
        path.write_text("## below rows\n\nThat is it.\n", encoding="utf-8")
        text = render.page(read_plan(), Results(tmp_path / "none.jsonl"), path)
        assert "\nThat is it.\n\n## The dynamic oracle" in text

    def test_the_page_is_up_to_date(self) -> None:
        text = render.page(read_plan(), Results(), render.FINDINGS)
        assert render.PAGE.read_text(encoding="utf-8") == text, "run python -m bench.tables.render"

    def test_recorded_runs_have_the_current_settings_of_their_rows(self) -> None:
        """If a preset changes, the rows that name it need new runs, and the recorded runs need rows that spell out the
        old settings."""
        by_option = {
            "tags": "tags",
            "epochs": "epochs",
            "no-dynamic-oracle": "use_dynamic_oracle",
            "freeze-embeddings": "freeze_external",
            "parts": "freeze_external",  # the tagger shares the vectors
        }
        recorded = Results().read()
        for run in read_plan().runs():
            if line := recorded.get(run.key):
                config = preset(run.options["preset"]).to_dict()
                for part, then in line["config"].items():
                    written = {name.rpartition(".")[2] for name in run.settings if name.startswith(f"{part}.")}
                    written |= {by_option[name] for name in run.options if name in by_option}
                    now = {name: value for name, value in config[part].items() if name not in written}
                    assert {**then, **now} == {**now, **then}, run.name

    @pytest.mark.parametrize(
        ("place", "tags"),
        [
            ("rows.bilstm", "gold UPOS"),
            ("rows.external", "gold UPOS"),
            ("strong.gold", "gold UPOS and XPOS"),
            ("strong.gold-together", "gold UPOS and XPOS"),
            ("strong.predicted", "predicted"),
            ("strong.predicted-together", "predicted"),
        ],
    )
    def test_figures_that_user_pages_quote(self, place: str, tags: str) -> None:
        plan, recorded = read_plan(), Results().read()
        [table] = [table for table in plan.tables if table.id == place.partition(".")[0]]
        lines = summary.lines_of(plan, table, plan.row(place), "en", recorded)
        found = [[summary.score(lines, part, "ud", name) for name in summary.SCORES] for part in ("dev", "test")]
        cells = [" / ".join(f"{score.mean:.1f}" for score in part if score) for part in found]
        pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        quoted = f" | {tags} | {' | '.join(cells)} |\n"
        assert any(quoted in page.read_text(encoding="utf-8") for page in pages)

    def test_our_page_takes_all_of_our_results_and_nothing_else(self, tmp_path: Path) -> None:
        parser = argparse.ArgumentParser()
        render.add_arguments(parser)
        assert render.places(parser.parse_args([])) == (render.PAGE, render.FINDINGS)
        page = str(tmp_path / "page.md")
        for others in (
            [str(TABLES / "choices.toml")],
            ["--results", "mine.jsonl"],
            ["--treebanks", str(TABLES / "licensed.toml")],
        ):
            with pytest.raises(DeclarationError, match="--page"):
                render.places(parser.parse_args(others))
            assert render.places(parser.parse_args([*others, "--page", page])) == (Path(page), None)

    def test_our_results_file_is_for_our_tables_only(self, tmp_path: Path) -> None:
        parser = argparse.ArgumentParser()
        render.add_arguments(parser)
        mine = tmp_path / "mine.toml"
        for ours in ([], [str(TABLES / "choices.toml")], [str(mine), "--results", "mine.jsonl"]):
            render.check_results(parser.parse_args(ours))
        for others in ([str(mine)], ["--treebanks", str(mine)]):
            with pytest.raises(DeclarationError, match="--results"):
                render.check_results(parser.parse_args(others))

    def test_predicted_tags_are_named_above_the_table(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        row = ROW.replace("options = {}", "options = { parts = 'tagger,parser' }\npredicted_tags = true")
        for text, tags in ((ROW, "gold UPOS tags"), (row, "predicted tags")):
            path.write_text(text, encoding="utf-8")
            page = render.page(read_plan([path]), Results(tmp_path / "none.jsonl"), None)
            assert f"(ours: UD_English-EWT, {tags})" in page

    def test_ties(self) -> None:
        two, one = summary.Score(90.0, 0.3, 2), summary.Score(90.2, 0.0, 1)
        assert summary.verdict(one, two, None) == "tie (spread 0.30)"
        assert summary.verdict(summary.Score(91.0, 0.2, 3), two, None) == "differ (spread 0.30)"
        three = summary.Score(90.0, 0.3, 3)
        assert summary.verdict(one, one, 0.1) == "tie (spread 0.10)"
        assert summary.verdict(summary.Score(90.4, 0.0, 1), two, 0.5) == "tie (spread 0.50)"  # the spread of other rows
        assert (
            summary.verdict(summary.Score(90.4, 0.2, 3), two, 0.5) == "tie (spread 0.50)"
        )  # two seeds may be close by chance
        assert summary.verdict(summary.Score(90.4, 0.2, 3), three, 0.5) == "differ (spread 0.30)"
        assert summary.verdict(one, one, None) == "one seed: spread not known"
        assert str(two) == "90.00 [0.30]"

    def test_spreads_of_predicted_tags_apply_only_to_predicted_tags(self) -> None:
        plan = read_plan()
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
        plan = read_plan()
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
