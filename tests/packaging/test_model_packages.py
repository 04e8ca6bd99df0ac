"""A packaged model in a fresh environment: pip installs it, easyfirst finds it, pip removes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import easyfirst
from easyfirst.parser import Parser
from tests.commands import run_process
from tests.small_models import small_model, small_tagger, small_tokenizer

TEXT = "The fox jumps. It likes apples."


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of a fresh environment with pip, which also sees easyfirst and what it needs."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True, symlinks=os.name != "nt")
    folder = environment / ("Scripts" if os.name == "nt" else "bin")
    [packages] = environment.rglob("site-packages")
    own = Path(easyfirst.__file__).parent.parent
    (packages / "ours.pth").write_text(f"{own}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return folder / ("python.exe" if os.name == "nt" else "python")


def run(*command: str | Path) -> str:
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(list(map(str, command)), env=outside, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_install_and_use(python: Path, tmp_path: Path) -> None:
    model = tmp_path / "my-model"
    Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger()).save(model)
    done = run_process("package", model, "--name", "pt-news", "--version", "1.2.0", "--licence", "MIT", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    command = [python, "-m", "easyfirst"]
    assert "pt-news" not in json.loads(run(*command, "models", "--json"))

    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    [wheel] = tmp_path.glob("*.whl")
    run(*pip, "install", "--no-deps", "--no-index", wheel)
    shown = run(*pip, "show", "--verbose", "easyfirst-pt-news")
    assert "Version: 1.2.0" in shown
    assert "pt-news = easyfirst_pt_news" in shown

    facts = json.loads(run(*command, "models", "--json"))["pt-news"]
    assert (facts["package"], facts["version"], facts["licence"]) == ("easyfirst-pt-news", "1.2.0", "MIT")
    assert json.loads(run(*command, "info", "pt-news", "--json"))["package"] == "easyfirst-pt-news"
    expected = run(sys.executable, "-c", _SHOW.format(own=easyfirst.__file__, name=str(model)))
    assert expected.startswith("# newdoc id = ")
    written = run(*command, "parse", "--model", "pt-news", "--text", TEXT)
    assert written.replace("text-1", "text", 1).replace("text-1-", "text-") == expected
    assert run(python, "-c", _SHOW.format(own=easyfirst.__file__, name="pt-news")) == expected
    module = f"import easyfirst_pt_news as m; print(m.__version__, m.load()({TEXT!r}).to_conllu(), sep='\\n', end='')"
    assert run(python, "-c", module) == f"1.2.0\n{expected}"

    run(*pip, "uninstall", "--yes", "easyfirst-pt-news")
    assert "pt-news" not in json.loads(run(*command, "models", "--json"))
    assert not list(python.parent.parent.rglob("easyfirst_pt_news*"))


_SHOW = f"""
import sys
from pathlib import Path
sys.path.append(str(Path({{own!r}}).parent.parent))
import easyfirst
print(easyfirst.load({{name!r}})({TEXT!r}).to_conllu(), end="")
assert "easyfirst_pt_news" not in sys.modules
"""
