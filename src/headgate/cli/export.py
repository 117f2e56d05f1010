"""``headgate export``: a source in a form that others can read."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headgate.cli.evidence import EvidenceChoices, captured
from headgate.cli.exits import OK, UNREACHABLE
from headgate.cli.openings import Found, Looked, Reaching, Sources, looked_at
from headgate.cli.output import complain, guarded, print_line, told
from headgate.cli.targets import DatabaseChoices, Source
from headgate.protocol.visible import visible
from headgate.server.settings import SettingError

__all__ = ["export"]


def export(
    *sources: Sources,
    source: Source = None,
    bundle: Annotated[
        bool,
        Parameter(
            help="Write the discovery bundle of an MCP server: what it lists, and what is made of it.",
            negative=(),
            show_default=False,
        ),
    ] = False,
    adapter: Annotated[
        bool,
        Parameter(
            help="Write an adapter file of any source, from which the same operations can be served.",
            negative=(),
            show_default=False,
        ),
    ] = False,
    output: Annotated[
        Path | None,
        Parameter(
            name=["--output", "-o"],
            help="The file to write, or a folder for adapter files. Without one: standard output.",
            show_default=False,
        ),
    ] = None,
    evidence: EvidenceChoices = EvidenceChoices(),  # noqa: B008  (frozen)
    reaching: Reaching = Reaching(),  # noqa: B008  (frozen)
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
) -> int:
    """Write what a source offers in a form that others can read; only for --evidence anything is called.

    Exit code 0: written; 2: wrong usage; 3: a source could not be opened.
    """

    async def work() -> int:
        if [bundle, adapter, evidence.evidence is not None].count(True) != 1:
            raise SettingError("say what to write: --bundle or --adapter, or --evidence FILE")
        if evidence.evidence is not None:
            targets = [*sources, *([source] if source else [])]
            _write(_text(await captured(targets, evidence, reaching, database)), evidence.evidence)
            return OK
        evidence.refuse_alone()
        looked = await looked_at(sources, source, reaching, database)
        if looked.found and bundle:
            _write(_text(_bundles(looked)), output)
        elif looked.found:
            _write_adapters(looked, output)
        return UNREACHABLE if looked.failed else OK

    with told(notes=False):
        return guarded(work)


def _bundles(looked: Looked) -> object:
    """One bundle, or a list of them if there are several servers."""
    made = [_bundle(one) for one in looked.found]
    return made[0] if len(made) == 1 else made


def _bundle(found: Found) -> dict[str, object]:
    from headgate.sources.mcp.bundle import discovery_bundle  # noqa: PLC0415  (most of a second of imports)

    if found.spec.mcp is None or found.capture is None:
        kind = found.spec.kind.value.replace("_", " ")
        raise SettingError(f"--bundle is for MCP servers: source '{found.spec.name}' is of the kind '{kind}'")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return discovery_bundle(found.spec.mcp, found.capture, now, found.spec.curation)


def _write_adapters(looked: Looked, output: Path | None) -> None:
    """One adapter file, or one for each source in a folder."""
    from headgate.sources.files.exporting import file_name_of  # noqa: PLC0415
    from headgate.sources.gate.exporting import exported_source  # noqa: PLC0415

    if len(looked.found) > 1:
        _make_folder(output)
    is_folder = output is not None and output.is_dir()
    folder = output if is_folder or output is None else output.parent
    for one in looked.found:
        text = exported_source(one.adapter, one.spec, folder).rstrip("\n")
        _write(text, output / file_name_of(one.adapter) if output is not None and is_folder else output)


def _make_folder(output: Path | None) -> None:
    """Make the folder of several adapter files, unless it is there."""
    if output is None or output.is_file() or output.suffix == ".md":
        raise SettingError("several sources make several adapter files: name a folder for them with --output")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"the folder '{output}' cannot be made: {error.strerror}") from None


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print_line("\n".join(map(visible, text.split("\n"))))
        return
    try:
        output.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise SettingError(f"'{output}' cannot be written: {error.strerror}") from None
    complain(f"written to '{output}'")


def _text(content: object) -> str:
    """JSON from which exactly the same can be read again, and in which nothing steers a terminal."""
    lines = json.dumps(content, ensure_ascii=False, indent=2).split("\n")
    return "\n".join(map(visible, lines))
