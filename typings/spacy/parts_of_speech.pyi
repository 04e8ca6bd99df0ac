IDS: dict[str, int]
