"""What MkDocs calls while it builds the site (``hooks`` in ``mkdocs.yml``).

Files that pages link to outside ``docs/`` become part of the site, and the reference of the command line is generated.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.docsite.command_reference import command_reference
from tools.docsite.repository_links import DOCS, OUTSIDE, as_page, is_code, reached, rewritten, site_path

ROOT = Path(__file__).resolve().parent.parent.parent
COMMANDS = "<!-- the reference of the command line -->"
COMMENT = re.compile(r"^<!-- [^\n]* -->\n", re.MULTILINE)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files outside ``docs/`` that pages link to."""
    pages = [f"{DOCS}/{file.src_uri}" for file in files.documentation_pages()]
    for path in reached(ROOT, pages):
        source = ROOT / path
        if is_code(path):
            content = as_page(path, source.read_text(encoding="utf-8"))
            files.append(File.generated(config, site_path(path), content=content))
        else:
            files.append(File.generated(config, site_path(path), abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page, and insert the reference of the command line."""
    del config, files
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, command_reference())
    uri = page.file.src_uri
    path = uri.removeprefix(f"{OUTSIDE}/") if uri.startswith(f"{OUTSIDE}/") else f"{DOCS}/{uri}"
    shows_code = not (ROOT / path).exists()
    return markdown if shows_code else rewritten(COMMENT.sub("", markdown), path)
