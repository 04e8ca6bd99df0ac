"""``python -m easyfirst`` is the command ``easyfirst``."""

from easyfirst.cli import main

if __name__ == "__main__":
    main()
