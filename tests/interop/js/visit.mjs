// What every client does on a visit, whatever SDK it is made with: one JSON object on standard output.

export const target = (words, stdio, http) => {
  const [first, ...rest] = words;
  return first.startsWith("http") ? http(new URL(first)) : stdio({ command: first, args: rest, env: process.env });
};

export const visit = async (client, transport, version) => {
  await client.connect(transport);
  const call = (name, operation, params) => client.callTool({ name, arguments: { operation, params } });
  const seen = {
    version: version(client, transport),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    tools: (await client.listTools()).tools,
    introspection: await call("mcp_aql_read", "introspect", { query: "operations" }),
    answer: await call("mcp_aql_read", "search_books", { query: "austen" }),
    written: await call("mcp_aql_create", "create_member", { name: "Edsger", pin: "1930" }),
    mistake: await call("mcp_aql_read", "get_book", { isbm: "9780141439518" }),
    elsewhere: await call("mcp_aql_delete", "get_book", { isbn: "9780141439518" }),
    unknown: await client.callTool({ name: "mcp_aql_raed", arguments: {} }).catch((error) => ({ error: error.message })),
  };
  await client.close();
  console.log(JSON.stringify(seen));
};
