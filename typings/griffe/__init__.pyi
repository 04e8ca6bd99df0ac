class Docstring:
    value: str

class Object:
    name: str
    docstring: Docstring | None
    parent: Object | None
    @property
    def is_class(self) -> bool: ...

class Extension: ...
