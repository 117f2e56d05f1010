"""An adapter in a Python module: ``package.module:adapter`` or ``path/to/file.py:adapter``."""

import importlib
import importlib.util
import sys
import traceback
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = ["forget_modules", "load_adapter", "load_module", "module_file", "whereabouts"]

_OF_FILE: Final = "headgate_source_"


def load_adapter(source: str) -> Adapter:
    """The adapter that a source names. An AdapterError says what is missing."""
    where, name = _split(source)
    module = load_module(where)
    adapters = {key: value for key, value in vars(module).items() if isinstance(value, Adapter)}
    if not name:
        return _only_one(adapters, where)
    if name not in adapters:
        known = ", ".join(adapters) or "none"
        hint = did_you_mean(nearest(name, list(adapters), 1))
        raise AdapterError(f"'{where}' has no adapter named '{name}'; it has {known}{hint}")
    return adapters[name]


def module_file(source: str) -> Path | None:
    """The file behind a source that is loaded, to be watched."""
    file = getattr(sys.modules.get(_module_name(_split(source)[0])), "__file__", None)
    return Path(file).resolve() if file else None


def _split(source: str) -> tuple[str, str]:
    """Where the module is, and the name of the adapter in it, if it is said."""
    if ":" not in source or source.endswith(".py"):
        return source, ""
    where, _, name = source.rpartition(":")
    return where, name


def _only_one(adapters: dict[str, Adapter], where: str) -> Adapter:
    distinct = {id(adapter): adapter for adapter in adapters.values()}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    found = ", ".join(adapters) or "none"
    raise AdapterError(f"Say which adapter of '{where}' to serve, as in '{where}:NAME'; found: {found}")


def _module_name(where: str) -> str:
    """The name to import by. A file gets one of its own: it may be called like a module that others need."""
    return f"{_OF_FILE}{Path(where).stem}" if where.endswith(".py") else where


def whereabouts(module: str) -> str:
    """What another process must load to have the same module: its name, or its file."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return str(file) if file and module.startswith(_OF_FILE) else module


def load_module(where: str) -> ModuleType:
    """The module of a name or a file. An AdapterError says why it cannot be loaded."""
    name = _module_name(where)
    try:
        return _from_file(Path(where), name) if where.endswith(".py") else _by_name(name)
    except AdapterError:
        raise
    except SystemExit:
        raise AdapterError(f"'{where}' cannot be loaded: it ends the program when it is imported") from None
    except Exception as error:
        raise AdapterError(f"'{where}' cannot be loaded: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """What an author needs to know of an error in his module, in one line."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error}"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"


def forget_modules(folder: Path) -> None:
    """Drop an author's modules in a folder, so that loading reads each anew: also those that others import."""
    importlib.invalidate_caches()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and Path(file).is_relative_to(folder) and not _is_foreign(name, Path(file)):
            del sys.modules[name]


def _is_foreign(name: str, file: Path) -> bool:
    """Whether a module is none of the author's, although it lies in his folder: installed, or our own."""
    return name.partition(".")[0] in ("headgate", "__main__") or "site-packages" in file.parts


def _by_name(name: str) -> ModuleType:
    """Import a module, also from the folder that the command was started in."""
    if not all(part.isidentifier() for part in name.split(".")):
        raise AdapterError(f"'{name}' is neither a module such as 'package.module' nor a file such as 'library.py'")
    _make_importable(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise AdapterError(f"There is no module '{name}' here or among the installed packages") from None
        raise


def _from_file(path: Path, name: str) -> ModuleType:
    if not path.is_file():
        raise AdapterError(f"There is no file '{path}'")
    _make_importable(path.resolve().parent)
    loader = SourceFileLoader(name, str(path.resolve()))
    spec = ModuleSpec(name, loader, origin=loader.path)
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _make_importable(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
