"""What somebody wants to do, in their own words, and the operation of ``github.txt`` that does it.

They were written, and kept in a commit of their own, before any search had been asked for them. Some have no word in
common with the operation: every search loses those that knows nothing but words.
"""

from typing import Final

__all__ = ["KEYWORDS", "QUESTIONS"]

QUESTIONS: Final = {
    "who am I logged in as": "get_me",
    "find people named Ada": "search_users",
    "make a new private repository": "create_repository",
    "copy somebody's repository into my account": "fork_repository",
    "read the README of a project": "get_file_contents",
    "commit several files together": "push_files",
    "where is this function used in the code": "search_code",
    "start a new branch off main": "create_branch",
    "delete the old feature branch": "delete_branch",
    "what changed between two versions": "compare_commits",
    "history of commits by one author": "list_commits",
    "the latest version that was released": "get_latest_release",
    "publish version 2.0": "create_release",
    "report a bug": "create_issue",
    "close issue 42": "update_issue",
    "reply to an issue": "add_issue_comment",
    "what did people say about this issue": "list_issue_comments",
    "open issues of a repository with the label bug": "list_issues",
    "change the colour of a label": "update_label",
    "open a PR for my branch": "create_pull_request",
    "is the pull request passing its checks": "get_pull_request_status",
    "which files does the pull request touch": "list_pull_request_files",
    "merge the pull request": "merge_pull_request",
    "approve a pull request": "submit_pending_review",
    "why did the build fail": "get_job_logs",
    "run the failed jobs again": "rerun_failed_jobs",
    "stop the running workflow": "cancel_workflow_run",
    "download what the workflow produced": "list_workflow_run_artifacts",
    "anything new for me": "list_notifications",
    "share a snippet of code": "create_gist",
    "known vulnerabilities in our packages": "list_dependabot_alerts",
    "what is being talked about in the forum": "list_discussions",
}

KEYWORDS: Final = {
    "merge pull request": "merge_pull_request",
    "create issue": "create_issue",
    "workflow job logs": "get_job_logs",
    "list branches": "list_branches",
    "delete file": "delete_file",
    "search code": "search_code",
    "add issue comment": "add_issue_comment",
    "latest release": "get_latest_release",
    "replace repository topics": "replace_repository_topics",
    "list notifications": "list_notifications",
}
"""The same for who knows the names: what an agent types."""
