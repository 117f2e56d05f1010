"""Calls of servers that stand before a service: one of our own with fixed answers, or none."""

from tests.upstreams.calls.call import Call

__all__ = ["GITLAB", "REDIS"]

GITLAB = (
    Call("whoami"),
    Call("get_project", {"project_id": "1"}),
    Call("get_issue", {"project_id": "1", "issue_iid": "1"}),
    Call("list_labels", {"project_id": "1"}),
    Call("get_project", {"project_id": "99"}, fails=True),
    Call("verify_namespace", {}, fails=True),
)
REDIS = (
    Call("set", {"key": "a", "value": "1"}),
    Call("get", {"key": "a"}),
    Call("get", {"key": "none"}),
    Call("set", {"key": "o", "value": {"nested": [1, 2]}}),
    Call("get", {"key": "o"}),
    Call("expire", {"name": "a", "expire_seconds": 100}),
    Call("rename", {"old_key": "o", "new_key": "p"}),
    Call("rename", {"old_key": "none", "new_key": "q"}),
    Call("type", {"key": "a"}),
    Call("hset", {"name": "h", "key": "f", "value": 7}),
    Call("hget", {"name": "h", "key": "f"}),
    Call("hgetall", {"name": "h"}),
    Call("hexists", {"name": "h", "key": "g"}),
    Call("hdel", {"name": "h", "key": "f"}),
    Call("lpush", {"name": "l", "value": "x"}),
    Call("rpush", {"name": "l", "value": "y"}),
    Call("lrange", {"name": "l", "start": 0, "stop": -1}),
    Call("llen", {"name": "l"}),
    Call("lpop", {"name": "l"}),
    Call("lrem", {"name": "l", "count": 0, "element": "y"}),
    Call("sadd", {"name": "s", "value": "m"}),
    Call("smembers", {"name": "s"}),
    Call("srem", {"name": "s", "value": "m"}),
    Call("zadd", {"key": "z", "score": 1.5, "member": "m"}),
    Call("zrange", {"key": "z", "start": 0, "end": -1, "with_scores": True}),
    Call("zrem", {"key": "z", "member": "m"}),
    Call("xadd", {"key": "x", "fields": {"camelField": "kept"}}, loose=("entries",)),
    Call("xrange", {"key": "x", "count": 1}, loose=("entries",)),
    Call("dbsize"),
    Call("scan_all_keys", {"pattern": "*"}),
    Call("delete", {"key": "a"}),
    Call("get", {}, fails=True),
)
