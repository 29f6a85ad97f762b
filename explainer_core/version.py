"""The version, in one place: pyproject.toml, the command line and the API page read it from here."""

__version__ = "0.2.0.dev0"
