"""Which engine runs: arguments, environment variables, and what happens where the core cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import easyfirst
from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.parser_config import preset
from easyfirst.model.parser_store import ParserModel, initial_parser, save_parser
from easyfirst.native.backend import Backend
from easyfirst.native.library import find_core, why_missing
from easyfirst.parser import Parser
from easyfirst.parsing.engine import Engine, NumpyEngine
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.parsing.native_engine import NativeEngine
from tests.native.cores import ALL_PRECISIONS, ISAS
from tests.parsing.small_parsers import FORMS, SMALL, sizes_of, small_parser, tagged

LIBRARY, ISA, ENGINE, PRECISION = (f"EASYFIRST_{name}" for name in ("NATIVE_LIBRARY", "ISA", "ENGINE", "PRECISION"))


@pytest.fixture(autouse=True)
def _no_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (ISA, ENGINE, PRECISION):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    save_parser(tmp_path / "model", small_parser().model)
    return tmp_path / "model"


def model_of(rnn: str) -> ParserModel:
    """Return a small model whose networks have cells of this kind."""
    config = preset("paper", network={**SMALL, "rnn": rnn})
    vocabulary = small_parser().model.vocabulary
    arrays = initial_parser(config.network, sizes_of(vocabulary, config.network), np.random.default_rng(0))
    return ParserModel(config, vocabulary, arrays)


def engine_of(model: ParserModel, **chosen: str) -> Engine:
    return make_engine(model.arrays, model.config, model.vocabulary, Backend.choose(**chosen))


class TestDefaults:
    def test_the_core_with_weights_of_8_bits_is_the_default(self) -> None:
        backend = Backend.choose()
        assert (backend.core, backend.precision, backend.is_required) == (find_core(), "int8", False)
        assert str(backend) == f"native ({ISAS[-1]}, int8)"

    def test_a_parser_uses_it(self, directory: Path) -> None:
        assert isinstance(easyfirst.load(directory)._engine, NativeEngine)
        assert isinstance(Parser(small_parser().model)._engine, NativeEngine)


class TestArguments:
    @pytest.mark.parametrize("precision", ALL_PRECISIONS)
    def test_the_native_engine(self, directory: Path, precision: str) -> None:
        parser = easyfirst.load(directory, engine="native", precision=precision)
        assert isinstance(parser._engine, NativeEngine)
        expected = easyfirst.load(directory, engine="numpy").parse([tagged(FORMS)])
        found = parser.parse([tagged(FORMS)])
        tolerance = {"float32": 1e-5, "int8": 1e-2, "int8-fast": 0.1}[precision]
        assert found[0].derivation[0].score == pytest.approx(expected[0].derivation[0].score, abs=tolerance)

    def test_numpy(self, directory: Path) -> None:
        parser = easyfirst.load(directory, engine="numpy")
        assert isinstance(parser._engine, NumpyEngine)
        assert str(Backend.choose("numpy")) == "numpy"

    def test_arguments_come_before_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(ENGINE, "numpy")
        monkeypatch.setenv(PRECISION, "int8-fast")
        backend = Backend.choose("native", "float32")
        assert (backend.core, backend.precision) == (find_core(), "float32")

    @pytest.mark.parametrize("wrong", ["NumPy", "", "cuda", "native "])
    def test_a_wrong_engine(self, directory: Path, wrong: str) -> None:
        with pytest.raises(ConfigError, match=f"engine is '{wrong}'; it must be one of native, numpy"):
            easyfirst.load(directory, engine=wrong)

    @pytest.mark.parametrize("wrong", ["int4", "", "FLOAT32"])
    def test_a_wrong_precision(self, directory: Path, wrong: str) -> None:
        with pytest.raises(ConfigError, match=f"precision is '{wrong}'; .* one of float32, int8, int8-fast"):
            easyfirst.load(directory, precision=wrong)


class TestEnvironment:
    def test_the_engine(self, monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
        monkeypatch.setenv(ENGINE, "numpy")
        assert isinstance(easyfirst.load(directory)._engine, NumpyEngine)
        monkeypatch.setenv(ENGINE, "native")
        assert isinstance(easyfirst.load(directory)._engine, NativeEngine)

    def test_the_precision(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for precision in ALL_PRECISIONS:
            monkeypatch.setenv(PRECISION, precision)
            assert Backend.choose().precision == precision

    @pytest.mark.parametrize("name", [ENGINE, PRECISION])
    def test_an_empty_variable_is_none(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.setenv(name, "")
        assert Backend.choose() == Backend(find_core(), "int8")

    @pytest.mark.parametrize(
        ("name", "choices"), [(ENGINE, "native, numpy"), (PRECISION, "float32, int8, int8-fast"), (ISA, "base")]
    )
    def test_a_wrong_value(self, monkeypatch: pytest.MonkeyPatch, directory: Path, name: str, choices: str) -> None:
        monkeypatch.setenv(name, "quantum")
        with pytest.raises(ConfigError, match=f"{name}.*quantum.*one of {choices}"):
            easyfirst.load(directory)

    @pytest.mark.parametrize("isa", ISAS)
    def test_the_instruction_set(self, monkeypatch: pytest.MonkeyPatch, isa: str) -> None:
        monkeypatch.setenv(ISA, isa)
        core = Backend.choose().core
        assert core is not None
        assert core.isa == isa


class TestWithoutCore:
    @pytest.fixture(params=["missing", "text", "a directory", "another library", "empty"])
    def library(self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A library file that cannot be used."""
        path = tmp_path / "_core.so"
        if request.param == "text":
            path.write_text("This is not a library.", encoding="ascii")
        elif request.param == "a directory":
            path.mkdir()
        elif request.param == "empty":
            path.touch()
        elif request.param == "another library":
            path = Path(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
        monkeypatch.setenv(LIBRARY, str(path))
        return path

    def test_numpy_steps_in(self, library: Path, directory: Path) -> None:
        parser = easyfirst.load(directory)
        assert isinstance(parser._engine, NumpyEngine)
        assert find_core() is None
        assert str(library) in (why_missing() or "")
        assert len(parser.parse([tagged(FORMS)])[0].heads) == len(FORMS)

    def test_the_native_engine_is_refused(self, library: Path, directory: Path) -> None:
        with pytest.raises(ConfigError, match=r"there is no native engine: .*cannot be loaded.*use engine 'numpy'"):
            easyfirst.load(directory, engine="native")

    def test_an_installation_without_a_library(self, monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
        monkeypatch.delenv(LIBRARY, raising=False)
        monkeypatch.setattr("easyfirst.native.library.NAMES", ())
        assert isinstance(easyfirst.load(directory)._engine, NumpyEngine)
        with pytest.raises(ConfigError, match="this installation has no compiled core"):
            easyfirst.load(directory, engine="native")


class TestOtherCells:
    @pytest.mark.parametrize("rnn", ["gru", "elman"])
    def test_numpy_runs_them_by_default(self, rnn: str) -> None:
        model = model_of(rnn)
        engine = engine_of(model)
        assert isinstance(engine, NumpyEngine)
        assert len(engine.derive([tagged(FORMS)])[0].heads) == len(FORMS) - 1

    @pytest.mark.parametrize("rnn", ["gru", "elman"])
    def test_the_native_engine_refuses_them(self, rnn: str, tmp_path: Path) -> None:
        save_parser(tmp_path / "model", model_of(rnn))
        with pytest.raises(ModelError, match=f"LSTMs only, and this model has {rnn.upper()} cells"):
            easyfirst.load(tmp_path / "model", engine="native")
