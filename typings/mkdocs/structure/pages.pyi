from mkdocs.structure.files import File

class Page:
    file: File
