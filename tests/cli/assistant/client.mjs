// Drives `jprof mcp` by a public client of the Model Context Protocol, and prints as JSON what the
// client got: the revision, the tools, and an answer for each call. assistant.py compares.
//   client.mjs legacy|modern JPROF FOLDER CALLS
// CALLS is a JSON array of {"name","arguments"}; the server runs in FOLDER.
const [kind, jprof, folder, calls] = process.argv.slice(2);

const kinds = {
  legacy: async () => {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    return { Client, StdioClientTransport, options: {} };
  },
  modern: async () => {
    const { Client } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    return { Client, StdioClientTransport, options: { versionNegotiation: { mode: "auto" } } };
  },
};

const { Client, StdioClientTransport, options } = await kinds[kind]();
const client = new Client({ name: "jprof-test", version: "1" }, options);
await client.connect(new StdioClientTransport({
  command: jprof, args: ["mcp"], cwd: folder, env: process.env, stderr: "inherit",
}));
const seen = {
  server: client.getServerVersion(),
  revision: client.getNegotiatedProtocolVersion?.() ?? null,
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools,
  answers: [],
};
for (const call of JSON.parse(calls)) {
  seen.answers.push(await client.callTool(call).catch((error) => ({ failed: String(error) })));
}
await client.close();
console.log(JSON.stringify(seen));
