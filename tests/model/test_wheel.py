"""Models as wheels: what they contain, and what their metadata say."""

from __future__ import annotations

import base64
import configparser
import csv
import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from easyfirst.errors import ModelError
from easyfirst.model.wheel import PackageFacts, model_files, write_wheel
from easyfirst.parser import Parser, load
from tests.small_models import small_model, small_tagger, small_tokenizer

FACTS = PackageFacts(name="pt-news", version="1.2.0rc1", easyfirst_version="0.3.0", licence="CC BY-SA 4.0")


def facts(**values: str) -> PackageFacts:
    return PackageFacts(**{"name": "pt", "version": "1.0.0", "easyfirst_version": "0.3.0"} | values)  # type: ignore[arg-type]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model after training, with files that are no part of it."""
    path = tmp_path / "my-model"
    Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger()).save(path)
    (path / "LICENSE").write_text("All rights given away.\n", encoding="utf-8")
    (path / "NOTICE-data.txt").write_text("From a treebank.\n", encoding="utf-8")
    (path / "training").mkdir()
    for other in (
        "training/checkpoint.safetensors",
        "weights.safetensors.tmp",
        ".hidden.json",
        "my, notes.json",
        "x.npz",
    ):
        (path / other).write_bytes(b"not a part of the model")
    return path


@pytest.fixture
def wheel(model: Path, tmp_path: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(write_wheel(model, tmp_path / "dist", FACTS))


def metadata(wheel: zipfile.ZipFile) -> Metadata:
    [name] = [name for name in wheel.namelist() if name.endswith("/METADATA")]
    return Metadata.from_email(wheel.read(name), validate=True)


class TestContents:
    def test_files(self, wheel: zipfile.ZipFile) -> None:
        parts = [f"{part}{name}" for part in ("", "tagger/", "tokenizer/") for name in ("config.json", "vocab.json")]
        weights = [f"{part}weights.safetensors" for part in ("", "tagger/", "tokenizer/")]
        own = ["README.md", "LICENSE", "NOTICE-data.txt", *parts, *weights]
        about = ["METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE-data.txt"]
        assert set(wheel.namelist()) == {
            "easyfirst_pt_news/__init__.py",
            *(f"easyfirst_pt_news/pt-news/{name}" for name in own),
            *(f"easyfirst_pt_news-1.2.0rc1.dist-info/{name}" for name in about),
        }
        assert len(wheel.namelist()) == len(set(wheel.namelist()))

    def test_the_record_has_the_hash_of_every_file(self, wheel: zipfile.ZipFile) -> None:
        record = "easyfirst_pt_news-1.2.0rc1.dist-info/RECORD"
        rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
        assert {name for name, _, _ in rows} == set(wheel.namelist())
        for name, digest, size in rows:
            if name == record:
                assert (digest, size) == ("", "")
                continue
            content = wheel.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert (digest, int(size)) == (f"sha256={expected}", len(content))

    def test_the_model_in_it_is_the_same(self, wheel: zipfile.ZipFile, model: Path, tmp_path: Path) -> None:
        wheel.extractall(tmp_path / "unpacked")
        unpacked = tmp_path / "unpacked" / "easyfirst_pt_news" / "pt-news"
        for file in model_files(model):
            assert (unpacked / file.relative_to(model)).read_bytes() == file.read_bytes()
        text = "The fox jumps. It likes apples."
        assert load(unpacked)(text).to_conllu() == load(model)(text).to_conllu()

    def test_metadata(self, wheel: zipfile.ZipFile) -> None:
        found = metadata(wheel)
        assert (found.name, found.version) == ("easyfirst-pt-news", Version("1.2.0rc1"))
        assert found.license_expression == "CC-BY-SA-4.0"
        assert found.license_files == ["LICENSE", "NOTICE-data.txt"]
        assert found.requires_dist == [Requirement("easyfirst>=0.3.0")]
        assert found.description_content_type == "text/markdown; charset=UTF-8"
        card = wheel.read("easyfirst_pt_news/pt-news/README.md").decode()
        assert found.description == card
        assert card.startswith("# easyfirst-pt-news\n\n")
        assert "- Licence: CC BY-SA 4.0\n" in card
        assert "easyfirst parse --model pt-news input.conllu" in card

    def test_entry_point_and_name(self, wheel: zipfile.ZipFile) -> None:
        parser = configparser.ConfigParser(delimiters=("=",))
        parser.read_string(wheel.read("easyfirst_pt_news-1.2.0rc1.dist-info/entry_points.txt").decode())
        assert dict(parser["easyfirst_models"]) == {"pt-news": "easyfirst_pt_news"}
        name, version, build, [tag] = parse_wheel_filename(Path(wheel.filename or "").name)
        assert (name, version, build, str(tag)) == (
            canonicalize_name(FACTS.package),
            Version("1.2.0rc1"),
            (),
            "py3-none-any",
        )

    def test_the_same_bytes_wherever_and_whenever(self, model: Path, tmp_path: Path) -> None:
        first = write_wheel(model, tmp_path / "a", FACTS).read_bytes()
        for file in model.rglob("*"):
            file.touch()
            file.chmod(0o700)
        moved = model.rename(tmp_path / "another place")
        assert write_wheel(moved, tmp_path / "b" / "c", FACTS).read_bytes() == first

    def test_a_model_without_a_card(self, model: Path, tmp_path: Path) -> None:
        (model / "README.md").unlink()
        with zipfile.ZipFile(write_wheel(model, tmp_path, facts())) as wheel:
            found = metadata(wheel)
        assert found.license_expression is None
        assert found.license is None
        assert (found.description or "").startswith("# easyfirst-pt\n")

    @pytest.mark.parametrize("licence", ["MIT AND more", "CC BY-SA 4.0 (all of it: é)", "Proprietary"])
    def test_other_licences_are_free_text(self, model: Path, tmp_path: Path, licence: str) -> None:
        with zipfile.ZipFile(write_wheel(model, tmp_path, facts(licence=licence))) as wheel:
            assert metadata(wheel).license == licence


def test_nothing_is_left_behind_by_a_failure(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "dist"
    path = write_wheel(model, out, FACTS)
    before = path.read_bytes()
    monkeypatch.setattr(zipfile.ZipFile, "writestr", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(ModelError, match="cannot be written: full"):
        write_wheel(model, out, FACTS)
    assert list(out.iterdir()) == [path]
    assert path.read_bytes() == before


class TestFacts:
    @given(st.from_regex(r"[a-z0-9]([a-z0-9_.-]*[a-z0-9])?", fullmatch=True) | st.text(max_size=8))
    def test_names_that_are_accepted_are_names_of_packages(self, name: str) -> None:
        try:
            found = facts(name=name)
        except ModelError:
            return
        assert canonicalize_name(found.package, validate=True) == found.package
        assert found.module.isidentifier()
        assert parse_wheel_filename(found.file)[0] == found.package

    @pytest.mark.parametrize(
        "name", ["", "PT", "pt_br", "pt.br", "-pt", "pt-", "pt--br", "1pt", "../pt", "pt\n", "português"]
    )
    def test_other_names(self, name: str) -> None:
        with pytest.raises(ModelError, match="cannot be the name of a model in a package; use lower-case letters"):
            facts(name=name)

    @given(
        st.from_regex(r"[0-9]+(\.[0-9]+)*((a|b|rc|\.post|\.dev|-|\+|!)[0-9]*)*", fullmatch=True) | st.text(max_size=8)
    )
    def test_versions_are_accepted_if_and_only_if_they_are_canonical(self, version: str) -> None:
        try:
            is_canonical = str(Version(version)) == version and "+" not in version
        except InvalidVersion:
            is_canonical = False
        if is_canonical:
            assert facts(version=version).version == version
        else:
            with pytest.raises(ModelError, match="is not a version in the normal form"):
                facts(version=version)

    @pytest.mark.parametrize("licence", ["", " ", "MIT\nName: other", "MIT\r"])
    def test_licences_cannot_forge_metadata(self, licence: str) -> None:
        with pytest.raises(ModelError, match="the licence is empty or has control characters"):
            facts(licence=licence)

    @pytest.mark.parametrize("language", ["", "pt,en", "pt\nName: other"])
    def test_neither_can_languages(self, language: str) -> None:
        with pytest.raises(ModelError, match="cannot be a language"):
            PackageFacts(name="pt", version="1", easyfirst_version="1", languages=("pt", language))
