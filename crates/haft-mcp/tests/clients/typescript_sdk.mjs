// Tests the server with the TypeScript SDK (`npm i @modelcontextprotocol/sdk`): typescript_sdk.mjs PATH-OF-HAFT
import assert from "node:assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp"] }));
const { tools } = await client.listTools();
console.log("tools:", tools.map((tool) => tool.name).join(" "));
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
let result = await call("run", { script: "echo hello; exit 3" });
assert(result.content[0].text.startsWith("hello\n[exit 3"), JSON.stringify(result));
assert.equal(result.structuredContent.status.code, 3);
const seen = [];
await call("run", { script: "echo working; sleep 2.5" }, { onprogress: (progress) => seen.push(progress.message) });
assert(seen.some((line) => line.includes("working")), JSON.stringify(seen));
const stop = new AbortController();
setTimeout(() => stop.abort("enough"), 300);
await assert.rejects(call("run", { script: "sleep 60" }, { signal: stop.signal }));
result = await call("run", { script: "python3 -q", pty: true });
const job = result.structuredContent.job;
result = await call("job", { action: "write", id: job, text: "6 * 7\n" });
assert(result.content[0].text.includes("42"), JSON.stringify(result));
await client.close();
console.log("typescript sdk: ok");
