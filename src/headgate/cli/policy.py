"""``headgate policy``: what a policy decides and whether it fits a source, before anything is served under it."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from cyclopts import App, Parameter

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import Caller
from headgate.adapter.introspection import INTROSPECT
from headgate.adapter.operations import DRY_RUN, Operation
from headgate.adapter.schemas import type_name
from headgate.cli.call import pairs, params_of
from headgate.cli.exits import OK, USAGE
from headgate.cli.guards import Configured, configured
from headgate.cli.options import WHOLE, AsJson
from headgate.cli.output import complain, guarded, print_json, print_line, told
from headgate.cli.targets import DatabaseChoices, Source, opened_source
from headgate.cli.verdicts import Result, Tried, show_call, show_cases, warn
from headgate.engine.gating import converted
from headgate.engine.refusals import unknown_operation
from headgate.engine.validation import validate
from headgate.protocol.danger import Trust
from headgate.protocol.errors import AqlError
from headgate.protocol.limits import Limits
from headgate.protocol.requests import Request, decode
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety.judging import Judgement, Standing, judge
from headgate.safety.loop.operations import startable
from headgate.safety.loop.service import SafetyLoop
from headgate.safety.policy.cases import Case, caller_of, read_cases
from headgate.safety.policy.checking import check_policy
from headgate.safety.policy.reading import PolicyError, policy_from, read_policy
from headgate.safety.policy.rules import DEFAULT_RULE, Facts, Policy
from headgate.safety.policy.tables import Mistake, one_of
from headgate.safety.trust import DEFAULT_TRUST
from headgate.server.settings import SettingError
from headgate.store.opening import open_store

__all__ = ["policy"]

policy = App(name="policy", help="Try a policy, or check it, before anything is served under it.")

PolicyFile: TypeAlias = Annotated[
    Path | None,
    Parameter(
        name=["--policy", "-p"],
        env_var="HEADGATE_POLICY",
        help="The policy: a TOML file. Without one: the policy of a source that is a headgate.toml.",
        show_default=False,
    ),
]
TrustLevel: TypeAlias = Annotated[
    str | None,
    Parameter(
        env_var="HEADGATE_TRUST",
        help="As if the source were trusted so: untested, generated, validated, community_reviewed or certified.",
        show_default=False,
    ),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Situation:
    """Who calls, and what a dry run would tell."""

    caller: Annotated[str | None, Parameter(help="Who calls, by name; nobody in particular unless said.")] = None
    client: Annotated[str | None, Parameter(help="The id of the client that calls.")] = None
    scope: Annotated[tuple[str, ...], Parameter(help="A scope that the caller has; may be repeated.", negative=())] = ()
    affected_rows: Annotated[int | None, Parameter(help="How many rows the call would affect."), WHOLE] = None

    def who(self) -> Caller:
        """The caller that these options make."""
        try:
            return caller_of(self.caller, self.client, self.scope)
        except Mistake as mistake:
            raise SettingError(f"--scope: {mistake}") from None

    def rows(self) -> int | None:
        """The number of rows, which is never below 0."""
        if self.affected_rows is not None and self.affected_rows < 0:
            raise SettingError(f"--affected-rows must be 0 or more, not {self.affected_rows}")
        return self.affected_rows


@policy.command(name="check")
def check_policy_file(
    *,
    policy: PolicyFile = None,
    source: Source = None,
    trust: TrustLevel = None,
    json: AsJson = False,
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
) -> int:
    """Say what is wrong with a policy or odd in it, for one source.

    Exit code 0: it can be used; 2: it has mistakes; 3: no such source.
    """

    async def work() -> int:
        async with _bench(policy, source, trust, database) as bench:
            if json:
                print_json({"mistakes": [], "warnings": bench.warnings}, compact=True)
                return OK
            warn(bench.warnings)
            odd = f"{len(bench.warnings)} odd" if bench.warnings else "nothing odd"
            print_line(f"{bench.policy.name} fits {bench.adapter.name}, with {odd}")
            return OK

    return _run(work, json=json)


@policy.command(name="test")
def try_policy(
    operation: Annotated[str | None, Parameter(help="The operation, such as delete_book.")] = None,
    /,
    *values: Annotated[
        str,
        Parameter(
            help="Parameters as name=value, or name:=JSON to say exactly what is meant.", allow_leading_hyphen=False
        ),
    ],
    policy: PolicyFile = None,
    source: Source = None,
    params: Annotated[
        str | None,
        Parameter(
            help="All parameters as one JSON object; '-' reads it from standard input.", allow_leading_hyphen=True
        ),
    ] = None,
    situation: Situation = Situation(),  # noqa: B008  (frozen)
    trust: TrustLevel = None,
    cases: Annotated[
        Path | None, Parameter(help="A TOML file of calls under [[case]], each with what to expect of it.")
    ] = None,
    json: AsJson = False,
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
) -> int:
    """Say what a policy decides of a call, and why; or of many calls, and whether each is decided as expected.

    Nothing is called. Exit code 0: decided, and as expected; 1: a case is decided otherwise; 2: a mistake in the
    policy, the cases or the call; 3: no such source.
    """

    async def work() -> int:
        if (operation is None) is (cases is None):
            raise SettingError("say which operation to test, or name a file with --cases: one of the two")
        if cases is not None and (params is not None or situation != Situation()):
            raise SettingError("with --cases, parameters and callers stand in the file: leave the options for them out")
        async with _bench(policy, source, trust, database) as bench:
            if cases is not None:
                return show_cases(_try_cases(bench, cases), bench.warnings, json)
            tried = _try_call(bench, operation or "", params_of(params), values, situation)
            return show_call(tried, bench.warnings, json)

    return _run(work, json=False)


def _run(work: Callable[[], Awaitable[int]], *, json: bool) -> int:
    """Run a command's work, with a line for each mistake in a file."""

    async def reported() -> int:
        try:
            return await work()
        except AqlError as error:
            for line in _complaints(error):
                complain(line)
            return USAGE
        except PolicyError as error:
            if json:
                print_json({"mistakes": error.mistakes, "warnings": []}, compact=True)
            for mistake in error.mistakes:
                complain(mistake)
            return USAGE

    with told(notes=False):
        return guarded(reported)


# a policy beside the adapter that it is for


@dataclass(frozen=True, slots=True)
class _Bench:
    """A policy that fits an adapter, and the trust that the adapter is given."""

    policy: Policy
    adapter: Adapter
    operations: Mapping[str, Operation]
    """Those of the adapter, and what else a policy rules."""
    trust: Trust
    warnings: list[str]
    trusts: Mapping[str, Trust]
    """Of each source, where there are several."""

    def judge(self, operation: Operation, params: Mapping[str, object], caller: Caller, rows: int | None) -> Tried:
        """What the policy decides of a call."""
        source, trust = operation.source or self.adapter.name, self.trusts.get(operation.source, self.trust)
        facts = Facts(operation, source, caller, params, rows, self._read(operation, params))
        standing = Standing.of(self.policy, facts, trust)
        is_dry = not operation.category.read_only and params.get(DRY_RUN) is True
        return Tried(operation, standing.classified.origin, trust, judge(standing, facts), is_dry)

    @staticmethod
    def _read(operation: Operation, params: Mapping[str, object]) -> Mapping[str, object]:
        return converted(operation, params, validate(operation, params, Limits(), strict=True).values)

    def validated(self, name: str, params: Mapping[str, object]) -> tuple[Operation, Mapping[str, object]]:
        """The operation and its parameters, as the engine would take them; or an AqlError."""
        if name == INTROSPECT:
            raise SettingError("introspection is open in every case: no policy rules it")
        request = decode({"operation": name, "params": dict(params)}, Limits())
        operation = self.operations.get(name)
        if operation is None or not isinstance(request, Request):
            raise unknown_operation(name, list(self.operations))
        return operation, validate(operation, request.params, Limits(), strict=True).given


@asynccontextmanager
async def _bench(
    path: Path | None, source: str | None, trust: str | None, choices: DatabaseChoices
) -> AsyncIterator[_Bench]:
    config, asked = configured(source), _trust(trust)
    if source and source.startswith(("http://", "https://")):
        raise SettingError("a policy is tried with an adapter, not with a running server: name the server's source")
    chosen = _with_parts(_policy(config.policy if path is None or path == Path() else path, source), config)
    async with AsyncExitStack() as stack:
        with redirect_stdout(sys.stderr):  # what a module prints is not the answer
            adapter = (await stack.enter_async_context(opened_source(config, choices))).adapter
        level = asked or chosen.trust or adapter.trust or DEFAULT_TRUST
        operations = _ruled(chosen, adapter)
        warnings = check_policy(chosen, adapter.name, operations, trust=level)
        yield _Bench(chosen, adapter, operations, level, warnings, _trusts(config, adapter, asked, chosen))


def _trusts(config: Configured, adapter: Adapter, asked: Trust | None, policy: Policy) -> Mapping[str, Trust]:
    specs = {spec.name: spec for spec in config.plan.sources} if config.plan else {}
    return {
        part.name: asked or specs[part.name].trust or policy.trust or part.trust or DEFAULT_TRUST
        for part in adapter.parts()
    }


def _with_parts(policy: Policy, config: Configured) -> Policy:
    """The policy with what is ruled of single sources."""
    specs = config.plan.sources if config.plan else ()
    return replace(policy, parts=tuple((spec.name, spec.policy) for spec in specs if spec.policy is not None))


def _ruled(policy: Policy, adapter: Adapter) -> Mapping[str, Operation]:
    """The operations that a policy may speak of: those of the adapter, and the start of agents if it has a loop."""
    if policy.autonomy.mode is None:
        return adapter.operations
    loop = SafetyLoop(adapter.name, open_store("memory:"), policy.autonomy)
    return {**adapter.operations, **startable(loop)}


def _policy(given: object, source: str | None) -> Policy:
    if given is None:
        raise SettingError("name the policy: --policy FILE")
    if isinstance(given, Mapping):
        return policy_from(given, source or "")
    if not isinstance(given, str | Path) or not str(given):
        raise SettingError(f"policy must be a table or the name of a file, not '{given}'")
    return read_policy(given)


def _trust(word: str | None) -> Trust | None:
    try:
        return one_of(list(Trust))(word) if word else None
    except Mistake as mistake:
        raise SettingError(f"--trust: {mistake}") from None


# calls


def _try_call(bench: _Bench, name: str, params: dict[str, Any], values: tuple[str, ...], situation: Situation) -> Tried:
    known = bench.operations.get(name)
    types = {one.name: type_name(one.schema, known.definitions) for one in known.parameters} if known else {}
    operation, given = bench.validated(name, params | pairs(values, types))
    return bench.judge(operation, given, situation.who(), situation.rows())


def _try_cases(bench: _Bench, path: Path) -> list[Result]:
    """Every case, or all that is wrong with any of them."""
    results: list[Result] = []
    mistakes: list[str] = []
    for case in read_cases(path):
        try:
            operation, params = bench.validated(case.operation, case.params)
            tried = bench.judge(operation, params, case.caller, case.affected_rows)
            _check_rule(bench.policy, case, tried.judgement)
            results.append(Result(case, tried.decision))
        except AqlError as error:
            mistakes += (f"{case.title}: {line}" for line in _complaints(error))
        except SettingError as error:
            mistakes.append(f"{case.title}: {error}")
    if mistakes:
        raise PolicyError(str(path), mistakes)
    return results


def _check_rule(policy: Policy, case: Case, judgement: Judgement) -> None:
    """A rule that does not exist would never be what decides."""
    known = [*(rule.name for rule in policy.rules), DEFAULT_RULE, *(one.rule for one in judgement.considered)]
    if case.rule and case.rule not in known:
        raise SettingError(f"there is no rule '{case.rule}'{did_you_mean(nearest(case.rule, known, 1))}")


def _complaints(error: AqlError) -> Iterator[str]:
    yield f"{error.error.code}: {error.error.message}"
    problems: Any = (error.error.details or {}).get("problems", ())
    for problem in problems[1:]:
        yield f"{problem['code']}: {problem['message']}"
