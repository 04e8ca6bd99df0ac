from pathlib import Path
from typing import Any

class AutoConfig:
    @classmethod
    def for_model(cls, model_type: str, **values: Any) -> Any: ...

class AutoModel:
    @classmethod
    def from_config(cls, config: Any, *, dtype: Any = ...) -> Any: ...
    @classmethod
    def from_pretrained(cls, name: str | Path, **options: Any) -> Any: ...

class AutoTokenizer:
    @classmethod
    def from_pretrained(cls, name: str | Path, **options: Any) -> Any: ...
