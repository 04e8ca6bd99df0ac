"""The page, the table of the README and the picture: up to date, and honest about what wins and what is missing."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import pytest

from bench.peers import columns, page, plot
from bench.peers.adapters.worker import BULK, SINGLE, TEXT, TOKENS
from bench.peers.measure import score_name
from bench.peers.record import Record
from bench.peers.speed import speed_name
from bench.peers.systems import LOCKS, OURS, SYSTEMS

COMMAND = "run python -m bench.peers render"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """easyfirst is more accurate, UDPipe faster alone and smaller, and supar reads no text."""
    made = Record(tmp_path / "peers.json")
    for name, las, bulk, single in ((OURS, 85.3, 9000.0, 4000.0), ("udpipe", 77.0, 5000.0, 6000.0)):
        made.systems[name] = {
            score_name(TEXT): {"f1": {"LAS": las, "UAS": las + 3, "Sentences": None}},
            speed_name(TEXT, BULK, 1): {"words": 100, "runs": [{"cpu": 100 / bulk, "wall": 1.0, "load": 0.1}] * 3},
            speed_name(TEXT, BULK, 2): {"words": 100, "runs": [{"cpu": 1.0, "wall": 0.5, "load": 2.0}]},
            speed_name(TEXT, SINGLE, 1): {"words": 100, "runs": [{"cpu": 100 / single, "wall": 1.0}]},
            "installed": {"bytes": 100_000_000 if name == OURS else 9_000_000},
        }
    made.systems["supar"] = {
        score_name(TEXT): {"cannot": "it has no tokenizer"},
        score_name(TOKENS): {"f1": {"LAS": 90.0}},
    }
    made.facts = {"date": "2026-01-02", "cpu": "a CPU", "python": "3.11"}
    return made


class TestFiles:
    @pytest.mark.parametrize("number", range(3), ids=["page", "picture", "README"])
    def test_they_are_up_to_date(self, number: int) -> None:
        path = (page.PAGE, page.PICTURE, page.README)[number]
        assert path.read_text(encoding="utf-8") == page.texts(Record())[number], COMMAND

    def test_they_are_written(self, record: Record, tmp_path: Path) -> None:
        files = [tmp_path / name for name in ("page.md", "picture.svg", "README.md")]
        page.write(record, files)
        assert tuple(path.read_text(encoding="utf-8") for path in files) == page.texts(record)

    def test_a_readme_without_a_place_for_the_table(self) -> None:
        assert page.with_block(f"a\n{page.BEGIN}\nold\n{page.END}\nb", "new") == f"a\n{page.BEGIN}\nnew\n{page.END}\nb"
        with pytest.raises(ValueError, match="there are no lines"):
            page.with_block("nothing", "new")

    @pytest.mark.parametrize("environment", sorted({system.environment for system in SYSTEMS}))
    def test_every_environment_is_pinned(self, environment: str) -> None:
        lines = (LOCKS / f"{environment}.txt").read_text(encoding="utf-8").splitlines()
        packages = [line for line in lines if line and not line.startswith("#")]
        assert packages
        assert all("==" in line for line in packages)
        assert not any(line.startswith(("nvidia", "triton")) for line in packages)


class TestPage:
    def test_without_results(self, tmp_path: Path) -> None:
        text = page.page(Record(tmp_path / "none.json"))
        assert text.count(page.NOT_YET) == 7
        assert "In none of the columns" not in text
        assert "img/peers.svg" not in text
        assert "**This comparison is not complete:** still to be trained and measured are easyfirst, spaCy," in text
        assert "still to be measured" in page.readme_block(Record(tmp_path / "none.json"))

    def test_the_best_value_is_bold(self, record: Record) -> None:
        text = page.page(record)
        assert "| easyfirst | – | – | – | **88.3** | **85.3** |" in text
        assert "| UDPipe 1, greedy | – | – | – | 80.0 | 77.0 |" in text
        assert "| UDPipe 1, greedy | 5,000 | **6,000** | – | – | **2.00 ×** | – |" in text

    def test_a_system_without_rivals_is_not_bold(self, record: Record) -> None:
        del record.systems["udpipe"]
        assert "| easyfirst | – | – | – | 88.3 | 85.3 |" in page.page(record)

    def test_the_readme_shows_what_was_scored(self, record: Record) -> None:
        record.systems["spacy"] = {"installed": {"bytes": 300_000_000}}
        rows = [line for line in page.readme_block(record).splitlines() if line.startswith("| ")]
        assert [row.split(" | ")[0] for row in rows] == [
            *("| System", "| ---", "| easyfirst", "| UDPipe 1, greedy", "| supar, biaffine"),
        ]
        del record.systems["udpipe"], record.systems["supar"]
        assert "still to be measured are spaCy," in page.readme_block(record)

    def test_systems_without_a_value_are_left_out(self, record: Record) -> None:
        from_text, from_tokens = page.page(record).split("### From gold tokens")
        assert "supar, biaffine |" not in from_text
        assert "| supar, biaffine | – | – | – | – | 90.0 |" in from_tokens.split("## Speed")[0]

    def test_where_a_peer_wins_the_page_says_so(self, record: Record) -> None:
        lines = page.page(record).split("## Where another system is better")[1].split("\n## ")[0].split("\n- ")[1:]
        assert [line.partition(".")[0] for line in lines] == [
            "**Text, one sentence at a time**: UDPipe 1, greedy (6,000, ours 4,000)",
            "**The installed size**: UDPipe 1, greedy (9, ours 100)",
        ]
        assert "a single call into its core" in lines[0]

    def test_where_no_peer_wins(self, record: Record) -> None:
        cells = record.systems["udpipe"]
        del cells[speed_name(TEXT, SINGLE, 1)], cells["installed"]
        assert "In none of the columns that were measured." in page.page(record)

    def test_without_figures_of_ours_nothing_is_claimed(self, record: Record) -> None:
        del record.systems[OURS]
        section = page.page(record).split("## Where another system is better")[1].split("\n## ")[0]
        assert section.strip() == page.NOT_YET

    def test_equal_figures_are_no_win(self, record: Record) -> None:
        record.systems["udpipe"][score_name(TEXT)]["f1"]["LAS"] = 85.34
        assert "**LAS, from raw text**" not in page.page(record)
        record.systems["udpipe"][score_name(TEXT)]["f1"]["LAS"] = 85.36
        assert "**LAS, from raw text**: UDPipe 1, greedy (85.4, ours 85.3)" in page.page(record)

    def test_the_load_and_the_machine_are_named(self, record: Record) -> None:
        assert "Measured on 2026-01-02, a CPU, Python 3.11, load average 0.1 to 2.0" in page.page(record)

    def test_training_says_how_much_it_got(self, record: Record) -> None:
        record.systems["spacy"] = {"training": {"cpu_seconds": 1440.0, "minutes": 60.0, "is_finished": False}}
        record.systems["udpipe"]["training"] = {
            **{"cpu_seconds": 3000.0, "minutes": 60.0, "is_finished": True},
            "settings": {"parser": "iterations=10"},
        }
        text = page.page(record)
        assert "- **spaCy**: 24 minutes of CPU time so far; its training has not ended.\n" in text
        assert "50 minutes of CPU time of a budget of 60 (parser: iterations=10).\n" in text

    def test_every_column_in_which_a_peer_may_win_has_a_remark(self) -> None:
        without = [column.name for column in columns.REMARKED if not column.remark]
        assert without == [
            *("sentences, from gold tokens", "the gain of two threads, from text"),
            *("the gain of two threads, from tokens", "the time to the first parse by the clock"),
        ]


class TestPicture:
    def test_points_are_where_they_belong(self, record: Record) -> None:
        root = ET.fromstring(page.picture(record))
        names = "{http://www.w3.org/2000/svg}"
        dots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in root.iter(f"{names}circle")]
        (x, y), (other_x, other_y) = dots
        assert x > other_x  # faster
        assert y < other_y  # more accurate
        texts = [text.text for text in root.iter(f"{names}text")]
        assert texts.count("not measured yet") == 1  # supar has a score from tokens, but no speed
        assert {"easyfirst", "UDPipe 1, greedy", "From raw text"} <= set(texts)

    def test_ticks(self) -> None:
        assert plot.speed_ticks(450, 9000) == [200, 500, 1000, 2000, 5000, 10000]
        assert plot.speed_ticks(1000, 1000) == [1000, 2000]
        assert plot.accuracy_ticks(77.0, 85.3) == [76, 78, 80, 82, 84, 86]
        assert plot.accuracy_ticks(80, 80) == [80, 81]

    def test_labels_of_close_points_do_not_overlap(self) -> None:
        points = [plot.Point(str(i), str(i), 1000.0, 80.0) for i in range(4)]
        heights = plot.places(points, [100.0] * 4, [50.0, 52.0, 51.0, 90.0])
        assert all(abs(one - other) >= plot.SMALL for one, other in combinations(heights, 2))
        assert plot.places(points[:2], [0.0, 300.0], [50.0, 50.0]) == [50.0, 50.0]
