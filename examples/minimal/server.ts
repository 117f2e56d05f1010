// The smallest MCP-AQL server that keeps to level 1, on the bare MCP SDK: notes, behind two endpoints.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

type Json = Record<string, any>;
class Failed extends Error {
  constructor(readonly code: string, message: string) { super(message); }
}

const notes = new Map<string, Json>([["n1", { note_id: "n1", title: "Milk", text: "Two bottles" }]]);

const text = (name: string, description: string, required = true, more: Json = {}) =>
  ({ name, type: "string", required, description, ...more });

const operation = (name: string, category: string, description: string, parameters: Json[], example: Json) => ({
  name, semantic_category: category, endpoint: category.toLowerCase(), description,
  mcpTool: `mcp_aql_${category.toLowerCase()}`,
  permissions: { readOnly: category === "READ", destructive: false },
  parameters, returns: { name: "Note", kind: "object" },
  examples: [{ request: { operation: name, params: example } }],
});

const [id, title] = [text("note_id", "its id"), text("title", "what it is about")];
const content = text("text", "what it says");
const query = text("query", "what to look at", true, { enum: ["operations", "types"] });
const name = text("name", "just one", false);
const operations: Json[] = [
  operation("introspect", "READ", "Discover operations and types.", [query, name], { query: "operations" }),
  operation("list_notes", "READ", "List all notes.", [], {}),
  operation("get_note", "READ", "Get one note by its id.", [id], { note_id: "n1" }),
  operation("create_note", "CREATE", "Write a new note.", [title, content], { title: "Tea", text: "Green" }),
];
const types: Json[] = [{ name: "Note", kind: "object", fields: [id, title, content] }];
const _protocol = { version: "1.0.0-draft", conformance: "level-1", mode: "semantic" };

function introspect(params: Json): Json {
  const rows = params.query === "operations" ? operations : types;
  if (params.name !== undefined)
    return { [params.query.slice(0, -1)]: rows.find((row) => row.name === params.name) ?? null };
  if (params.query === "types") return { types: types.map(({ name, kind }) => ({ name, kind })) };
  const briefly = ({ name, semantic_category, endpoint, description }: Json) =>
    ({ name, semantic_category, endpoint, description });
  return { _protocol, operations: operations.map(briefly) };
}

function run(operation: string, params: Json): unknown {
  if (operation === "introspect") return introspect(params);
  if (operation === "list_notes") return [...notes.values()];
  const note = { note_id: params.note_id ?? `n${notes.size + 1}`, ...params };
  if (operation === "create_note") notes.set(note.note_id, note);
  if (!notes.has(note.note_id)) throw new Failed("NOT_FOUND_RESOURCE", `Resource 'note' not found: '${note.note_id}'`);
  return notes.get(note.note_id);
}

const isTooMuch = (value: unknown, depth = 1): boolean => typeof value === "object" && value !== null &&
  (depth > 32 || Object.keys(value).length > 10_000 || Object.values(value).some((one) => isTooMuch(one, depth + 1)));

function answer(tool: string, { operation, params = {}, ...beside }: Json): unknown {
  const whole = JSON.stringify({ operation, params, beside });
  if (/\\ud[89a-f]/i.test(whole)) throw new Failed("VALIDATION_INVALID_ENCODING", "Invalid character encoding in request");
  if (Buffer.byteLength(whole) > 1_048_576 || isTooMuch({ operation, params, beside }))
    throw new Failed("VALIDATION_PAYLOAD_TOO_LARGE", "Payload exceeds a limit: 1048576 bytes, 10000 elements, 32 levels");
  if (typeof operation !== "string" || !operation)
    throw new Failed("VALIDATION_MISSING_PARAM", "Missing required parameter 'operation'. Expected: string (its name)");
  const row = operations.find((one) => one.name === operation);
  if (!row) throw new Failed("NOT_FOUND_OPERATION", `Unknown operation: '${operation}'`);
  if (row.mcpTool !== tool)
    throw new Failed("VALIDATION_ENDPOINT_MISMATCH", `Operation '${operation}' must be called via ${row.mcpTool}, not ${tool}`);
  if (typeof params !== "object" || params === null || Array.isArray(params))
    throw new Failed("VALIDATION_INVALID_TYPE", "Parameter 'params' expected 'object'");
  const given = Object.fromEntries(Object.entries({ ...beside, ...params }).filter(([key]) => !key.startsWith("_")));
  for (const one of row.parameters)
    if (one.required && !(one.name in given))
      throw new Failed("VALIDATION_MISSING_PARAM", `Missing required parameter '${one.name}'. Expected: string (${one.description})`);
  for (const [key, value] of Object.entries(given)) {
    const known = row.parameters.find((one: Json) => one.name === key);
    if (!known) throw new Failed("VALIDATION_UNKNOWN_PARAM", `Unknown parameter(s) for operation '${operation}': ${key}`);
    if (typeof value !== "string") throw new Failed("VALIDATION_INVALID_TYPE", `Parameter '${key}' expected 'string'`);
    if (known.enum && !known.enum.includes(value))
      throw new Failed("VALIDATION_INVALID_ENUM", `Parameter '${key}' must be one of: ${known.enum.join(", ")}`);
  }
  return run(operation, given);
}

const server = new Server({ name: "notes", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: ["mcp_aql_read", "mcp_aql_create"].map((name) => ({ name, inputSchema: { type: "object" as const } })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: request = {} } }) => {
  const reply = (said: Json) => ({ content: [{ type: "text" as const, text: JSON.stringify(said) }] });
  try {
    return reply({ success: true, data: answer(name, request) });
  } catch (error) {
    const { code, message } = error instanceof Failed ? error : new Failed("INTERNAL_ERROR", "Internal error");
    return reply({ success: false, error: { code, message } });
  }
});
await server.connect(new StdioServerTransport());
