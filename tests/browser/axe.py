"""The accessibility engine axe, on the page that a browser shows."""

from importlib.resources import files
from typing import Any

from playwright.async_api import BrowserContext, Page

__all__ = ["complaints", "install"]

_SOURCE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
"""The engine as it is published, in a package that is pinned with the others: no second package manager is needed."""

_RUN = """async () => {
    const found = await axe.run(document, {
        resultTypes: ["violations", "incomplete"],
        rules: { "target-size": { enabled: true } },
    });
    const told = (all) => all.flatMap((rule) =>
        rule.nodes.map((node) => `${rule.id}: ${node.target} ${node.failureSummary ?? ""}`));
    const measured = found.passes.some((rule) => rule.id === "color-contrast");
    const outside = (node) => !document.querySelector(node.target[0])?.closest("svg");
    const doubtful = found.incomplete.filter((rule) => rule.id === "color-contrast")
        .map((rule) => ({ ...rule, nodes: rule.nodes.filter(outside) }));
    return { wrong: told([...found.violations, ...doubtful]), measured };
}"""
"""All rules, those of good practice too; a contrast that could not be measured is as bad as one that is too low.

In drawings axe cannot measure it: a test of its own compares their letters with some that it can.
"""


async def install(context: BrowserContext) -> None:
    """Have the engine in every page of a profile. It comes by the debugging protocol, so that the content security
    policy, which would refuse it as it must, stays in force."""
    await context.add_init_script(_SOURCE)


async def complaints(page: Page) -> list[str]:
    """What is wrong with a page for whoever cannot see, hear or point as others do."""
    result: dict[str, Any] = await page.evaluate(_RUN)
    nothing_measured = [] if result["measured"] else ["no contrast was measured"]
    return [*result["wrong"], *nothing_measured]
