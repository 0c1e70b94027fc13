// Compares calls of the TypeScript client with `spawn` of bash, in one run. usage: latency.mjs [CALLS]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Haft } from "../../clients/typescript/dist/index.js";

const calls = Number(process.argv[2] ?? 300);

async function medianMs(action) {
  const times = [];
  for (let call = 0; call < calls; call++) {
    const start = performance.now();
    await action();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(calls / 2)];
}

const haft = await Haft.start();
const bash = await medianMs(() => once(spawn("bash", ["-c", "true"], { stdio: "ignore" }), "close"));
const client = await medianMs(() => haft.run("true"));
console.log(`spawn("bash", ["-c", "true"])  ${bash.toFixed(3)} ms`);
console.log(`haft.run("true")               ${client.toFixed(3)} ms`);
console.log(`client / bash: ${(client / bash).toFixed(2)}`);
await haft.close();
