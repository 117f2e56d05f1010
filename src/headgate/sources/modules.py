"""An adapter in a Python module: ``package.module:adapter`` or ``path/to/file.py:adapter``."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from headgate.adapter.adapter import Adapter
from headgate.adapter.errors import AdapterError
from headgate.adapter.suggestions import did_you_mean, nearest

__all__ = ["load_adapter", "module_file"]


def load_adapter(source: str, *, again: bool = False) -> Adapter:
    """The adapter that a source names; ``again`` runs the module anew. An AdapterError says what is missing."""
    where, _, name = source.rpartition(":") if ":" in source else (source, "", "")
    module = _module(where, again=again)
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
    where = source.rpartition(":")[0] if ":" in source else source
    module = sys.modules.get(_module_name(where))
    return Path(module.__file__) if module is not None and module.__file__ else None


def _only_one(adapters: dict[str, Adapter], where: str) -> Adapter:
    distinct = {id(adapter): adapter for adapter in adapters.values()}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    found = ", ".join(adapters) or "none"
    raise AdapterError(f"Say which adapter of '{where}' to serve, as in '{where}:NAME'; found: {found}")


def _module_name(where: str) -> str:
    return Path(where).stem if where.endswith(".py") else where


def _module(where: str, *, again: bool) -> ModuleType:
    name = _module_name(where)
    if again:
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
    try:
        return _from_file(Path(where), name) if where.endswith(".py") else _by_name(name)
    except AdapterError:
        raise
    except Exception as error:
        raise AdapterError(f"'{where}' cannot be loaded: {type(error).__name__}: {error}") from error


def _by_name(name: str) -> ModuleType:
    """Import a module, also from the folder that the command was started in."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if not all(part.isidentifier() for part in name.split(".")):
        raise AdapterError(f"'{name}' is neither a module such as 'package.module' nor a file such as 'library.py'")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise AdapterError(f"There is no module '{name}' here or among the installed packages") from None
        raise


def _from_file(path: Path, name: str) -> ModuleType:
    if not path.is_file():
        raise AdapterError(f"There is no file '{path}'")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AdapterError(f"'{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
