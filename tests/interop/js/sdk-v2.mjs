// @modelcontextprotocol/client 2: both eras. Words: "legacy" or "auto", then a command with its arguments, or an address.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { target, visit } from "./visit.mjs";

const [mode, ...words] = process.argv.slice(2);
const transport = target(
  words,
  (program) => new StdioClientTransport(program),
  (url) => new StreamableHTTPClientTransport(url),
);
const client = new Client({ name: "typescript-2", version: "1.0.0" }, { versionNegotiation: { mode } });
await visit(client, transport, (used) => used.getNegotiatedProtocolVersion());
