"""Calls of servers that keep tables and tasks, reckon, edit and run."""

from tests.upstreams.calls.call import Call

__all__ = ["CALCULATOR", "SHELL", "SQLITE", "TASKMANAGER", "TEXT_EDITOR"]

SQLITE = (
    Call("list_tables"),
    Call("create_table", {"query": "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, copies INTEGER)"}),
    Call("write_query", {"query": "INSERT INTO books (title, copies) VALUES ('Emma', 2), ('Ulysses', NULL)"}),
    Call("read_query", {"query": "SELECT * FROM books ORDER BY id"}),
    Call("read_query", {"query": "SELECT * FROM books WHERE id > 9"}),
    Call("read_query", {"query": "DELETE FROM books"}),
    Call("write_query", {"query": "SELECT 1"}),
    Call("read_query", {"query": "SELECT * FROM nowhere"}),
    Call("describe_table", {"table_name": "books"}),
    Call("list_tables"),
    Call("append_insight", {"insight": "Few copies"}),
    Call("read_query", {}, fails=True),
)
CALCULATOR = (
    Call("calculate", {"expression": "(2 + 3) * 4 ^ 2"}),
    Call("calculate", {"expression": "sqrt(2) * pi"}),
    Call("calculate", {"expression": "2 ** 200"}),
    Call("calculate", {"expression": "1 / 0"}, fails=True),
    Call("calculate", {"expression": "__import__('os')"}, fails=True),
    Call("calculate", {}, fails=True),
)
TEXT_EDITOR = (
    Call(
        "get_text_file_contents",
        {"files": [{"file_path": "{home}/notes/one.txt", "ranges": [{"start": 2, "end": 4}, {"start": 9}]}]},
    ),
    Call("get_text_file_contents", {"files": [{"file_path": "{home}/none.txt", "ranges": [{"start": 1}]}]}, fails=True),
    Call(
        "edit_text_file_contents",
        {
            "files": [
                {"path": "{home}/fresh.txt", "file_hash": "", "patches": [{"contents": "new\n", "range_hash": ""}]}
            ]
        },
    ),
    Call("get_text_file_contents", {"files": [{"file_path": "{home}/fresh.txt", "ranges": [{"start": 1}]}]}),
    Call(
        "edit_text_file_contents",
        {
            "files": [
                {"path": "{home}/notes/one.txt", "file_hash": "wrong", "patches": [{"contents": "", "range_hash": ""}]}
            ]
        },
    ),
)
SHELL = (
    Call("shell_execute", {"command": ["ls", "notes"], "directory": "{home}"}),
    Call("shell_execute", {"command": ["cat"], "stdin": "passed\non", "directory": "{home}"}),
    Call("shell_execute", {"command": ["wc", "-l", "one.txt"], "directory": "{home}/notes", "timeout": 5}),
    Call("shell_execute", {"command": ["cat", "nothing"], "directory": "{home}"}, fails=True),
    Call("shell_execute", {"command": ["rm", "one.txt"], "directory": "{home}/notes"}, fails=True),
    Call("shell_execute", {"command": [], "directory": "{home}"}, fails=True),
)
_TASK = {"requestId": "req-1", "taskId": "task-1"}
TASKMANAGER = (
    Call("list_requests"),
    Call(
        "request_planning",
        {
            "originalRequest": "Tidy up",
            "splitDetails": "in two",
            "tasks": [{"title": "Sort", "description": "by title"}, {"title": "Dust", "description": "the shelves"}],
        },
    ),
    Call("get_next_task", {"requestId": "req-1"}),
    Call("get_next_task", {"requestId": "req-9"}),
    Call("mark_task_done", {**_TASK, "completedDetails": "sorted"}),
    Call("approve_task_completion", _TASK),
    Call("update_task", {"requestId": "req-1", "taskId": "task-2", "title": "Dust well"}),
    Call("add_tasks_to_request", {"requestId": "req-1", "tasks": [{"title": "Rest", "description": "a while"}]}),
    Call("open_task_details", {"taskId": "task-2"}),
    Call("delete_task", {"requestId": "req-1", "taskId": "task-3"}),
    Call("approve_request_completion", {"requestId": "req-1"}),
    Call("list_requests"),
    Call("mark_task_done", {"requestId": "req-1"}, fails=True),
)
