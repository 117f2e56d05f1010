"""What ``headgate check`` knows to look for: the checks as a table, and one in full."""

from rich.table import Table
from rich.text import Text

from headgate.cli.check_choices import Choosing, Reporting
from headgate.cli.exits import OK
from headgate.cli.output import console, print_json, print_line

__all__ = ["explain_check", "list_checks"]


def list_checks(choosing: Choosing, reporting: Reporting) -> int:
    """All checks, or those of an area: a table on a terminal, lines with tabs in a pipe, or JSON."""
    from headgate.conformance.checks import ALL_CHECKS  # noqa: PLC0415
    from headgate.conformance.choice import area_of  # noqa: PLC0415

    area = area_of(choosing.category) if choosing.category else None
    checks = [one for one in ALL_CHECKS if area is None or one.area is area]
    rows = [(one.id, str(one.level), one.demand.value, one.section, one.title) for one in checks]
    terminal = console()
    if not reporting.is_text:
        keys = ("id", "level", "demand", "section", "title")
        listed = [dict(zip(keys, row, strict=True)) for row in rows]
        extra = [{"level": one.level, "category": one.area.value, "how": one.how} for one in checks]
        print_json([row | more for row, more in zip(listed, extra, strict=True)], compact=False)
    elif terminal.is_terminal:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("check", "level", "demand", "section", "what it proves"):
            table.add_column(column, no_wrap=column == "check")
        for row in rows:
            table.add_row(*map(Text, row))
        terminal.print(table)
    else:
        for row in rows:
            print_line("\t".join(row))
    return OK


def explain_check(id: str) -> int:  # noqa: A002  (a row's own word)
    """One check in full."""
    from headgate.conformance.choice import check_of  # noqa: PLC0415
    from headgate.conformance.sections import titled  # noqa: PLC0415

    found = check_of(id)
    meaning = {"MUST": "a failure", "SHOULD": "a warning", "MAY": "nothing that counts"}[found.demand.value]
    terminal = console()
    terminal.print(Text(found.id, style="bold"), soft_wrap=True)
    terminal.print(Text(found.title), soft_wrap=True)
    print_line("")
    facts = {
        "demand": f"{found.demand.value}: where it does not hold, that is {meaning}",
        "level": str(found.level),
        "area": found.area.value,
        "section": titled(found.section),
        "how": found.how,
        "covers": ", ".join(found.proves),
    }
    for name, value in facts.items():
        if value:
            terminal.print(Text.assemble((f"{name:<8} ", "dim"), value), soft_wrap=True)
    return OK
