// @modelcontextprotocol/sdk 1: the legacy era. Words: a command with its arguments, or an address.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { target, visit } from "./visit.mjs";

const transport = target(
  process.argv.slice(2),
  (program) => new StdioClientTransport(program),
  (url) => new StreamableHTTPClientTransport(url),
);
const client = new Client({ name: "typescript-1", version: "1.0.0" });
await visit(client, transport, (_client, used) => used.protocolVersion ?? null);
