"""The package that others wrote for tasks, on a server over HTTP: it starts them, follows them and cancels them."""

from pathlib import Path

from tests.interop.test_typescript_clients import MODERN, envelope, visit
from tests.server.errands import ERRANDS
from tests.server.processes import serve_http


def test_the_package_for_tasks_follows_long_work_to_its_end(js: Path, tmp_path: Path) -> None:
    with serve_http(ERRANDS, "--state", "memory:") as serving:
        seen = visit(js, "ext-tasks.mjs", serving.url, str(tmp_path))
    assert seen["protocolVersion"] == MODERN
    assert seen["errors"] == []
    done, failed, cancelled = seen["done"], seen["failed"], seen["cancelled"]
    assert (done["kind"], done["status"]) == ("task", "completed")
    data = envelope(done["result"])["data"]
    assert (data["execution_id"], data["result"]) == (done["taskId"], [0, 1, 2])
    assert (failed["kind"], failed["status"], failed["result"]["isError"]) == ("task", "completed", True)
    assert envelope(failed["result"])["error"]["code"] == "INTERNAL_ERROR"
    assert (seen["underWay"]["taskId"], seen["underWay"]["status"]) == (cancelled["taskId"], "working")
    assert (cancelled["kind"], cancelled["status"]) == ("task", "cancelled")
    assert {"tools/call", "tasks/get", "tasks/update", "tasks/cancel"} <= set(seen["sent"])
    assert (seen["immediate"]["kind"], envelope(seen["immediate"]["result"])["data"]) == ("immediate", 2)
    assert seen["unknown"] == {"code": -32602, "error": "Task not found"}
