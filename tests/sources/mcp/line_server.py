"""An MCP server in plain Python, one line a message: it starts at once, and does whatever its tools are told to.

Its environment tells it more: ``ERA`` is 'modern' for one that knows no handshake, ``TOOLS`` a file with other tools
than its own, ``LOG`` a file into which it writes every message that it gets.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODERN = "2026-07-28"
TEXT = {"type": "string"}
FORM = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}

Message = dict[str, Any]


def say(line: str) -> None:
    """One line to whoever listens."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def tool(name: str, description: str, /, *, reads: bool = True, **properties: Any) -> Message:
    """A tool as it is listed."""
    schema = {"type": "object", "properties": properties}
    hints = {"readOnlyHint": reads, "destructiveHint": False}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": hints}


OWN_TOOLS = [
    tool("give", "Gives the result that stands in a text.", text=TEXT),
    tool("echo", "Gives its arguments.", value={}),
    tool("fail", "Answers with an error of JSON-RPC.", code={"type": "integer"}, message=TEXT),
    tool("show_line", "Shows a line with the number of the request in it.", line=TEXT),
    tool("hang", "Never answers."),
    tool("sleep", "Hears nothing for some seconds.", seconds={"type": "number"}),
    tool("pid", "Gives the number of the process."),
    tool("end", "Ends the process amid the call.", reads=False),
    tool("environment", "Gives a variable.", name=TEXT),
    tool("ask", "Asks the user.", message=TEXT, url=TEXT, times={"type": "integer"}, steps={"type": "integer"}),
    tool("demand_page", "Wants a page to be opened first.", pages={"type": "array"}),
    tool("ask_later", "Asks the user after it has answered."),
    tool("step", "Tells how far it is, in steps.", steps={"type": "integer"}),
    tool("list_more", "Lists more tools.", names={"type": "array", "items": TEXT}, times={"type": "integer"}),
    tool("turn_deaf", "Reads nothing any more, and stays.", reads=False),
    tool("get_child", "Gives the number of a child that holds its pipes."),
    tool("show_in_log", "Shows a text in the log.", text=TEXT),
    tool("get_picture", "Gives a picture of some size.", size={"type": "integer"}),
]


class LineServer:
    """The server. It works on many calls at once, for it never waits for anything but the next line."""

    def __init__(self) -> None:
        self.tools = json.loads(Path(os.environ["TOOLS"]).read_text()) if "TOOLS" in os.environ else OWN_TOOLS
        self.is_modern = os.environ.get("ERA") == "modern"
        self.asked: dict[str, tuple[Message, list[Any]]] = {}
        self.listening: Any = None

    def serve(self) -> None:
        for line in sys.stdin:
            if "LOG" in os.environ:
                with Path(os.environ["LOG"]).open("a") as log:
                    log.write(line)
            self.hear(json.loads(line))

    def send(self, message: Message) -> None:
        say(json.dumps({"jsonrpc": "2.0", **message}))

    def answer(self, request: Message, result: Any) -> None:
        self.send({"id": request["id"], "result": {"resultType": "complete", **result} if self.is_modern else result})

    def text(self, request: Message, value: Any) -> None:
        said = value if isinstance(value, str) else json.dumps(value)
        self.answer(request, {"content": [{"type": "text", "text": said}]})

    def refuse(self, request: Message, code: int, words: str) -> None:
        self.send({"id": request["id"], "error": {"code": code, "message": words}})

    def hear(self, message: Message) -> None:
        if "method" not in message:
            self.answered(message)
        elif "id" in message:
            known: dict[str, Callable[[Message], None]] = {
                "server/discover" if self.is_modern else "initialize": self.greet,
                "tools/list": self.list_tools,
                "tools/call": self.call,
                "ping": lambda request: self.answer(request, {}),
                "subscriptions/listen": self.listen,
            }
            handle = known.get(message["method"])
            if handle is None:
                self.refuse(message, -32601, "Method not found")
            else:
                handle(message)

    def greet(self, request: Message) -> None:
        info = {"name": "lines", "version": "1.2.3"}
        abilities = {"tools": {"listChanged": True}}
        if self.is_modern:
            about = {"io.modelcontextprotocol/serverInfo": info}
            caching = {"ttlMs": 0, "cacheScope": "public"}
            self.answer(request, {"supportedVersions": [MODERN], "capabilities": abilities, "_meta": about, **caching})
        else:
            version = request["params"]["protocolVersion"]
            self.answer(request, {"protocolVersion": version, "capabilities": abilities, "serverInfo": info})

    def list_tools(self, request: Message) -> None:
        caching = {"ttlMs": 0, "cacheScope": "public"} if self.is_modern else {}
        self.answer(request, {"tools": self.tools, **caching})

    def listen(self, request: Message) -> None:
        self.listening = request["id"]
        marks = {"io.modelcontextprotocol/subscriptionId": request["id"]}
        params = {"notifications": request["params"]["notifications"], "_meta": marks}
        self.send({"method": "notifications/subscriptions/acknowledged", "params": params})

    def tell_of_changes(self) -> None:
        marks = {"io.modelcontextprotocol/subscriptionId": self.listening}
        params = {"params": {"_meta": marks}} if self.is_modern else {}
        self.send({"method": "notifications/tools/list_changed", **params})

    def call(self, request: Message) -> None:
        name, given = request["params"]["name"], request["params"].get("arguments") or {}
        method = getattr(self, f"do_{name}", None)
        if method is None:
            self.text(request, given)
        else:
            method(request, **given)

    # the tools

    def do_give(self, request: Message, text: str) -> None:
        say(f'{{"jsonrpc": "2.0", "id": {request["id"]}, "result": {text}}}')

    def do_fail(self, request: Message, code: int, message: str) -> None:
        self.refuse(request, code, message)

    def do_show_line(self, request: Message, line: str) -> None:
        say(line.replace("%ID%", str(request["id"])))

    def do_hang(self, request: Message) -> None:
        pass

    def do_sleep(self, request: Message, seconds: float) -> None:
        time.sleep(seconds)
        self.text(request, "awake")

    def do_pid(self, request: Message) -> None:
        self.text(request, str(os.getpid()))

    def do_end(self, request: Message) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_environment(self, request: Message, name: str) -> None:
        self.text(request, os.environ.get(name, "nothing"))

    def do_demand_page(self, request: Message, pages: list[Any]) -> None:
        error = {"code": -32042, "message": "Log in first", "data": {"elicitations": pages}}
        self.send({"id": request["id"], "error": error})

    def do_ask(self, request: Message, message: str = "Which?", url: str = "", times: int = 1, steps: int = 0) -> None:
        if self.is_modern:
            self.ask_modern(request, message, url, times)
            return
        form = {"mode": "form", "message": message, "requestedSchema": FORM}
        page = {"mode": "url", "message": message, "url": url, "elicitationId": "e1"}
        answers: list[Any] = []
        for turn in range(times):
            name = f"q{request['id']}-{turn}"
            self.asked[name] = (request, answers)
            answers.append(None)
            self.send({"id": name, "method": "elicitation/create", "params": page if url else form})

    def ask_modern(self, request: Message, message: str, url: str, times: int) -> None:
        answers = request["params"].get("inputResponses")
        if answers is not None:
            state = request["params"]["requestState"]
            self.finish(request, state, [answers[name] for name in sorted(answers)])
            return
        form = {"mode": "form", "message": message, "requestedSchema": FORM}
        page = {"mode": "url", "message": message, "url": url}
        wanted = {"method": "elicitation/create", "params": page if url else form}
        result = {"inputRequests": {f"q{turn}": wanted for turn in range(times)}, "requestState": f"s:{message}"}
        self.send({"id": request["id"], "result": {"resultType": "input_required", **result}})

    def answered(self, message: Message) -> None:
        request, answers = self.asked.pop(message["id"], (None, []))
        if request is None:
            return
        place = answers.index(None)
        answers[place] = message.get("result") or {"error": message["error"]["code"]}
        if None not in answers:
            self.finish(request, "", answers)

    def finish(self, request: Message, state: str, answers: list[Any]) -> None:
        self.tell_steps(request, request["params"]["arguments"].get("steps", 0))
        self.text(request, {"state": state, "answers": answers})

    def do_ask_later(self, request: Message) -> None:
        self.text(request, "soon")
        params = {"mode": "form", "message": "Late", "requestedSchema": FORM}
        self.send({"id": "late", "method": "elicitation/create", "params": params})

    def do_step(self, request: Message, steps: int) -> None:
        self.tell_steps(request, steps)
        self.text(request, "done")

    def tell_steps(self, request: Message, steps: int) -> None:
        token = request["params"]["_meta"]["progressToken"]
        for step in range(1, steps + 1):
            told = {"progressToken": token, "progress": step, "total": steps, "message": f"step {step}"}
            self.send({"method": "notifications/progress", "params": told})
            time.sleep(0.2)

    def do_list_more(self, request: Message, names: list[str], times: int = 1) -> None:
        self.tools = [*self.tools, *(tool(name, "One that came later.") for name in names)] if names else []
        for _ in range(times):
            self.tell_of_changes()
        self.text(request, "changed")

    def do_turn_deaf(self, request: Message) -> None:
        os.close(0)
        self.text(request, "what?")
        time.sleep(600)

    def do_get_child(self, request: Message) -> None:
        child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
        self.text(request, str(child.pid))

    def do_show_in_log(self, request: Message, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        self.text(request, "heard")

    def do_get_picture(self, request: Message, size: int) -> None:
        self.answer(request, {"content": [{"type": "image", "data": "A" * size, "mimeType": "image/png"}]})


if __name__ == "__main__":
    LineServer().serve()
