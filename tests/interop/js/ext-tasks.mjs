// @modelcontextprotocol/ext-tasks on client 2: long work as tasks. Words: the address of a server, a folder for its errands.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";

const [url, folder] = process.argv.slice(2);
const clientInfo = { name: "ext-tasks", version: "1.0.0" };
const client = new Client(clientInfo, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const protocolVersion = client.getNegotiatedProtocolVersion();

// What the package leaves to its host: a request on the wire, as it was framed.
let id = 0;
const sent = [];
const rawDispatch = async (request, { signal, context } = {}) => {
  sent.push(request.method);
  const response = await fetch(url, {
    method: "POST",
    signal,
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": protocolVersion,
      "Mcp-Method": request.method,
      "Mcp-Name": request.params.name ?? request.params.taskId,
      ...context?.headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: `raw-${++id}`, ...request }),
  });
  const { result, error } = await response.json();
  return error === undefined ? { kind: "result", result } : { kind: "error", error };
};

const errors = [];
const session = createTaskSessionFromClient(client, {
  endpointId: "errands",
  rawDispatch,
  v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities: {} },
  onError: (error) => errors.push(error.message),
});

const start = (operation, params, family = "execute") => session.callTool(`mcp_aql_${family}`, { operation, params });
const ending = async (execution) => {
  const { outcome, lastTask } = await execution.settle();
  return { kind: execution.kind, taskId: execution.handle?.taskId, status: outcome.status, result: outcome.result, lastTask };
};

const both = [await start("execute_count", { count: 3 }), await start("execute_fault", { repairable: false })];
const errand = await start("execute_errand", { folder, name: "never" });
await session.task(errand.handle.taskId).update({});
const underWay = await session.task(errand.handle.taskId).snapshot();
await errand.cancel();
const [done, failed, cancelled] = await Promise.all([...both, errand].map(ending));
const immediate = await ending(await start("get_steps", { count: 2 }, "read"));
const unknown = await session.task("exec_that_never_was").snapshot().catch((error) => ({ code: error.code, error: error.message }));

await session.close();
await client.close();
console.log(JSON.stringify({ protocolVersion, done, failed, underWay, cancelled, immediate, unknown, sent, errors }));
