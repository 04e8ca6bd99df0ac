"""The picture of the workbench in the documentation: ``python -m tools.docsite.workbench``.

It starts a server with the bundled model, fixes an arc in a headless Chromium, and writes ``docs/img/workbench.png``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.render.browser import Browser, find_browser

TARGET = Path(__file__).resolve().parents[2] / "docs" / "img" / "workbench.png"
TEXT = "I saw the man with the telescope that my sister had bought in Lisbon."
WIDTH, HEIGHT = 1000, 720
WORD = "document.querySelector('.editor .word[data-id=\"{}\"] .form')"


def main() -> None:
    """Take the picture."""
    command = find_browser()
    if command is None:
        sys.exit("no Chromium is installed")
    server = [sys.executable, "-m", "easyfirst", "serve", "--port", "0", "--no-open"]
    with (
        subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process,
        tempfile.TemporaryDirectory() as folder,
    ):
        assert process.stdout is not None
        address = process.stdout.readline().split(" at ")[1].split()[0]
        browser = Browser(command, Path(folder))
        try:
            TARGET.write_bytes(_picture(browser, address))
        finally:
            browser.close()
            process.terminate()
    print(f"wrote {TARGET}")


def _picture(browser: Browser, address: str) -> bytes:
    browser.open(address, width=WIDTH, height=HEIGHT)
    browser.evaluate(
        f"document.querySelector('textarea').value = {TEXT!r}; document.querySelector('textarea').rows = 2"
    )
    browser.evaluate("document.querySelector('form.input').requestSubmit()")
    browser.wait_for("document.querySelector('.editor svg') !== null && !document.querySelector('[aria-busy]')")
    browser.drag(WORD.format(7), WORD.format(4))
    browser.wait_for("document.querySelector('.editor .is-fixed') !== null")
    browser.click(WORD.format(12))
    browser.evaluate("scrollTo(0, 0)")
    return browser.screenshot()


if __name__ == "__main__":
    main()
