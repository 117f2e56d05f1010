"""Calls of the servers that show what MCP can do, and of those that come with it."""

from tests.upstreams.calls.call import Call

__all__ = ["EVERYTHING", "FETCH", "FILESYSTEM", "MEMORY", "SEQUENTIAL_THINKING", "TIME"]

EVERYTHING = (
    Call("echo", {"message": "hello"}),
    Call("echo", {"message": '{"looks": "like data"}'}),
    Call("echo", {"message": "Ünïcödé \U0001f4da \t\n “quotes” </b> 12345678901234567890"}),
    Call("echo", {"message": ""}),
    Call("echo", {}, fails=True),
    Call("get-sum", {"a": 2, "b": 40.5}),
    Call("get-sum", {"a": "two", "b": 3}, fails=True),
    Call("get-annotated-message", {"messageType": "error"}),
    Call("get-annotated-message", {"messageType": "success", "includeImage": True}),
    Call("get-annotated-message", {"messageType": "debug", "includeImage": False}),
    Call("get-annotated-message", {"messageType": "loud"}, fails=True),
    Call("get-env"),
    Call("get-resource-links"),
    Call("get-resource-links", {"count": 7}),
    Call("get-resource-reference", {"resourceType": "Text", "resourceId": 1}, loose=("clocks",)),
    Call("get-resource-reference", {"resourceType": "Blob", "resourceId": 2}, loose=("bytes",)),
    Call("get-resource-reference", {"resourceType": "Text", "resourceId": -1}, fails=True),
    Call("get-structured-content", {"location": "New York"}),
    Call("get-structured-content", {"location": "Chicago"}),
    Call("get-structured-content", {"location": "Los Angeles"}),
    Call("get-tiny-image"),
    Call("gzip-file-as-resource", {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}),
    Call("gzip-file-as-resource", {"name": "b.gz", "data": "data:text/plain,hello", "outputType": "resourceLink"}),
    Call("toggle-simulated-logging"),
    Call("toggle-simulated-logging"),
    Call("toggle-subscriber-updates"),
    Call("toggle-subscriber-updates"),
    Call("trigger-long-running-operation", {"duration": 0.2, "steps": 4}),
    Call("trigger-elicitation-request"),
    Call("trigger-url-elicitation", {"url": "{web}/second", "elicitationId": "one"}),
    Call("simulate-research-query", {"topic": "lending"}, fails=True),
)
FILESYSTEM = (
    Call("list_allowed_directories"),
    Call("list_directory", {"path": "{home}"}),
    Call("list_directory", {"path": "{home}/nowhere"}, fails=True),
    Call("list_directory_with_sizes", {"path": "{home}/notes", "sortBy": "size"}),
    Call("directory_tree", {"path": "{home}/notes", "excludePatterns": ["*.csv"]}),
    Call("read_file", {"path": "{home}/notes/one.txt"}),
    Call("read_text_file", {"path": "{home}/notes/one.txt", "head": 2}),
    Call("read_text_file", {"path": "{home}/notes/one.txt", "tail": 3}),
    Call("read_text_file", {"path": "{home}/notes/data.json"}),
    Call("read_text_file", {"path": "{home}/notes/one.txt", "head": 1, "tail": 1}, fails=True),
    Call("read_text_file", {"path": "/etc/hostname"}, fails=True),
    Call("read_media_file", {"path": "{home}/dot.png"}),
    Call("read_media_file", {"path": "{home}/tone.wav"}),
    Call("read_media_file", {"path": "{home}/blob.bin"}),
    Call("read_multiple_files", {"paths": ["{home}/notes/two.md", "{home}/notes/missing.md"]}),
    Call("write_file", {"path": "{home}/notes/new.txt", "content": "Über “it”\n"}),
    Call("write_file", {"path": "{home}/../outside.txt", "content": "x"}, fails=True),
    Call(
        "edit_file",
        {"path": "{home}/notes/new.txt", "edits": [{"oldText": "it", "newText": "that"}], "dryRun": True},
    ),
    Call(
        "edit_file",
        {"path": "{home}/notes/new.txt", "edits": [{"oldText": "Über", "newText": "On"}], "dryRun": False},
    ),
    Call(
        "edit_file",
        {"path": "{home}/notes/new.txt", "edits": [{"oldText": "not there", "newText": ""}]},
        fails=True,
    ),
    Call("read_text_file", {"path": "{home}/notes/new.txt"}),
    Call("create_directory", {"path": "{home}/deep/er"}),
    Call("move_file", {"source": "{home}/notes/new.txt", "destination": "{home}/deep/er/moved.txt"}),
    Call("move_file", {"source": "{home}/notes/one.txt", "destination": "{home}/notes/two.md"}, fails=True),
    Call("search_files", {"path": "{home}", "pattern": "**/*.txt", "excludePatterns": ["repo/**"]}),
    Call("get_file_info", {"path": "{home}/notes/one.txt"}, loose=("dates",)),
)
_ENTITIES = [
    {"name": "Emma", "entityType": "book", "observations": ["has 2 copies", "is a novel"]},
    {"name": "Jane", "entityType": "writer", "observations": []},
]
_WROTE = {"from": "Jane", "to": "Emma", "relationType": "wrote"}
MEMORY = (
    Call("read_graph"),
    Call("create_entities", {"entities": _ENTITIES}),
    Call("create_entities", {"entities": _ENTITIES}),
    Call("create_entities", {"entities": [{"name": "Half"}]}, fails=True),
    Call("create_relations", {"relations": [_WROTE]}),
    Call("add_observations", {"observations": [{"entityName": "Emma", "contents": ["is lent"]}]}),
    Call("add_observations", {"observations": [{"entityName": "Nobody", "contents": ["x"]}]}, fails=True),
    Call("search_nodes", {"query": "novel"}),
    Call("search_nodes", {"query": "nothing of this"}),
    Call("open_nodes", {"names": ["Jane", "Emma"]}),
    Call("delete_observations", {"deletions": [{"entityName": "Emma", "observations": ["is lent"]}]}),
    Call("delete_relations", {"relations": [_WROTE]}),
    Call("delete_entities", {"entityNames": ["Jane"]}),
    Call("read_graph"),
)
_THOUGHT = {"thought": "Look first", "nextThoughtNeeded": True, "thoughtNumber": 1, "totalThoughts": 3}
SEQUENTIAL_THINKING = (
    Call("sequentialthinking", _THOUGHT),
    Call("sequentialthinking", {**_THOUGHT, "thoughtNumber": 2, "isRevision": True, "revisesThought": 1}),
    Call("sequentialthinking", {**_THOUGHT, "thoughtNumber": 3, "branchFromThought": 1, "branchId": "b"}),
    Call("sequentialthinking", {**_THOUGHT, "thoughtNumber": 4, "nextThoughtNeeded": False}),
    Call("sequentialthinking", {"thought": "alone"}, fails=True),
)
TIME = (
    Call("get_current_time", {"timezone": "Europe/Berlin"}, loose=("times",)),
    Call("get_current_time", {"timezone": "Nowhere/Else"}, fails=True),
    Call(
        "convert_time",
        {"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "Asia/Kolkata"},
        loose=("times", "key:day_of_week"),
    ),
    Call("convert_time", {"source_timezone": "UTC", "time": "25:00", "target_timezone": "UTC"}, fails=True),
)
FETCH = (
    Call("fetch", {"url": "{web}/second"}),
    Call("fetch", {"url": "{web}/second", "raw": True}),
    Call("fetch", {"url": "{web}/plain.txt", "max_length": 100, "start_index": 50}),
    Call("fetch", {"url": "{web}/data.json"}),
    Call("fetch", {"url": "{web}/private"}, fails=True),
    Call("fetch", {"url": "{web}/missing"}, fails=True),
    Call("fetch", {"url": "{web}/plain.txt", "max_length": 0}, fails=True),
)
