"""Operations with the names of a well-known MCP server of 89 tools, and larger registries of the same kind."""

from itertools import islice, product

from headgate import Adapter, Category, Operation, Parameter

__all__ = ["adapter_of", "github", "many"]

_NAMES = {
    Category.CREATE: "add_comment_to_pending_review add_issue_comment add_project_item add_sub_issue create_branch "
    "create_gist create_issue create_pending_review create_pull_request create_repository fork_repository push_files "
    "submit_pull_request_review",
    Category.READ: "download_workflow_run_artifact get_code_scanning_alert get_commit get_dependabot_alert "
    "get_discussion get_discussion_comments get_file_contents get_gist get_global_security_advisory get_issue "
    "get_issue_comments get_job_logs get_label get_latest_release get_me get_notification_details get_project "
    "get_project_field get_project_item get_pull_request get_pull_request_comments get_pull_request_diff "
    "get_pull_request_files get_pull_request_reviews get_pull_request_status get_release_by_tag "
    "get_secret_scanning_alert get_tag get_team_members get_teams get_workflow_run get_workflow_run_logs "
    "get_workflow_run_usage list_branches list_code_scanning_alerts list_commits list_dependabot_alerts "
    "list_discussion_categories list_discussions list_gists list_global_security_advisories list_issue_types "
    "list_issues list_label list_notifications list_org_repository_security_advisories list_project_fields "
    "list_project_items list_projects list_pull_requests list_releases list_repository_security_advisories "
    "list_secret_scanning_alerts list_starred_repositories list_sub_issues list_tags list_workflow_jobs "
    "list_workflow_run_artifacts list_workflow_runs list_workflows search_code search_repositories",
    Category.UPDATE: "assign_copilot_to_issue create_or_update_file dismiss_notification "
    "manage_notification_subscription mark_all_notifications_read",
    Category.DELETE: "delete_file delete_pending_review delete_project_item delete_workflow_run_logs",
    Category.EXECUTE: "cancel_workflow_run merge_pull_request rerun_failed_jobs rerun_workflow_run run_workflow",
}
_VERBS = {
    "create": Category.CREATE,
    "get": Category.READ,
    "update": Category.UPDATE,
    "delete": Category.DELETE,
    "execute": Category.EXECUTE,
}
_THINGS = [
    "alert",
    "branch",
    "comment",
    "deploy",
    "event",
    "file",
    "group",
    "hook",
    "issue",
    "job",
    "key",
    "label",
    "merge",
    "note",
    "order",
    "page",
    "queue",
    "release",
]
_KINDS = [
    "account",
    "board",
    "cluster",
    "device",
    "export",
    "folder",
    "gateway",
    "history",
    "invoice",
    "ledger",
    "market",
    "network",
]


async def _nothing(**_params: object) -> None:
    pass


def adapter_of(names: dict[str, Category], name: str = "github") -> Adapter:
    """An adapter whose operations have these names; each needs an owner and a repository."""
    adapter = Adapter(name, "Repositories, issues and pull requests")
    for operation, category in names.items():
        parameters = [Parameter("owner", {"type": "string"}), Parameter("repo", {"type": "string"})]
        if category is Category.UPDATE:
            parameters.append(Parameter("input", {"type": "object"}))
        summary = operation.replace("_", " ").capitalize()
        adapter.add(Operation(operation, category, _nothing, tuple(parameters), summary))
    return adapter


def github() -> Adapter:
    """89 operations."""
    return adapter_of({name: category for category, names in _NAMES.items() for name in names.split()})


def many(count: int) -> Adapter:
    """As many operations, of every category and on as many resources as there is room for."""
    every = product(range(count), _KINDS, _THINGS, _VERBS.items())
    names = {
        f"{verb}_{thing}_{kind}" + (f"_v{number}" if number else ""): category
        for number, kind, thing, (verb, category) in islice(every, count)
    }
    assert len(names) == count
    return adapter_of(names)
