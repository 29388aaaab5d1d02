// A client of the Model Context Protocol on the TypeScript SDK: v1 speaks the revisions up to 2025-11-25, v2 also 2026-07-28.
// Its argument is a JSON object: {sdk, era, url, token} or {sdk, era, command, args, env}, and calls: [{name, arguments}].
// It prints {revision, tools, results} as JSON.
const job = JSON.parse(process.argv[2]);
const http = job.url
	? { url: new URL(job.url), options: { requestInit: { headers: { Authorization: `Bearer ${job.token}` } } } }
	: null;
const stdio = { command: job.command, args: job.args, env: { ...process.env, ...job.env }, stderr: "inherit" };
const info = { name: "test", version: "1" };

let client, transport;
if (job.sdk === "v1") {
	const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
	const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
	const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
	client = new Client(info);
	transport = http ? new StreamableHTTPClientTransport(http.url, http.options) : new StdioClientTransport(stdio);
} else {
	const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
	const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
	client = new Client(info, { versionNegotiation: { mode: job.era === "modern" ? { pin: "2026-07-28" } : "legacy" } });
	transport = http ? new StreamableHTTPClientTransport(http.url, http.options) : new StdioClientTransport(stdio);
}
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const call of job.calls ?? []) {
	results.push(await client.callTool(call));
}
console.log(JSON.stringify({ revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? "", tools, results }));
await client.close();
