// Calls `haft mcp` through the official TypeScript SDK. usage: node sdk_client.mjs HAFT
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The SDK is installed in the working directory, not beside this file.
const require = createRequire(pathToFileURL(`${process.cwd()}/package.json`));
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const client = new Client({ name: "check", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp"], stderr: "ignore" }));
const { tools } = await client.listTools();
assert.deepEqual(tools.slice(0, 3).map((tool) => tool.name), ["run", "job", "output"]);

const progress = [];
const script = "echo $((6 * 7)); sleep 3";
const onprogress = ({ message }) => progress.push(message);
const result = await client.callTool({ name: "run", arguments: { script } }, undefined, { onprogress });
assert.match(result.content[0].text, /^42\n\[exit 0/);
assert.ok(progress.length > 0);

const full = await client.callTool({ name: "run", arguments: { script: "exit 3", detail: "full" } });
assert.equal(full.structuredContent.status.code, 3);
assert.equal((await client.callTool({ name: "run", arguments: {} })).isError, true);

const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: resources[0].uri });
assert.ok(contents.length > 0);
await client.listPrompts();
await client.close();
console.log("typescript: ok");
