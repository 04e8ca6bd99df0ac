from collections.abc import Sequence

from mkdocs.config.defaults import MkDocsConfig

class File:
    src_uri: str
    @classmethod
    def generated(
        cls, config: MkDocsConfig, src_uri: str, *, content: str | bytes | None = None, abs_src_path: str | None = None
    ) -> File: ...

class Files:
    def append(self, file: File) -> None: ...
    def documentation_pages(self) -> Sequence[File]: ...
