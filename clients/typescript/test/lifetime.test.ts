import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { test } from "node:test";

import { BinaryNotFound, ClientClosed, findBinary, Haft, ServerDied } from "haft";
import { client, ended, LONG, residentBytes } from "./support.js";

const CALLS = Number(process.env.HAFT_CLIENT_CALLS ?? 400);
/** Room for what allocators and the garbage collector keep. */
const MEMORY_SLACK = 24 << 20;

function startClient(script: string): ChildProcessByStdio<null, Readable, null> {
  const args = ["--input-type=module", "-e", `import { Haft } from "haft"; ${script}`];
  return spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"] });
}

test("an option wins over the variable, and the path is searched last", () => {
  const env = { HAFT_BINARY: "/nonexistent", PATH: "/nowhere:/bin" };
  assert.equal(findBinary("/bin/sh", env), "/bin/sh");
  assert.equal(findBinary("sh", env), "/bin/sh");
  assert.throws(() => findBinary(undefined, env), /'\/nonexistent' of HAFT_BINARY is not an executable file/);
  assert.throws(() => findBinary(undefined, { PATH: "/nowhere" }), BinaryNotFound);
});

test("what is not haft or not a directory is reported", async () => {
  await assert.rejects(Haft.start({ binary: "/bin/false" }), ServerDied);
  await assert.rejects(Haft.start({ cwd: "/nonexistent" }), /'\/nonexistent' is not a directory/);
});

test("closing ends the server and its jobs", async () => {
  const haft = await Haft.start();
  const job = await haft.start(`echo started; ${LONG}`, { until: { pattern: "started" } });
  const pids = [haft.pid, ...(job.state.data.pids ?? [])];
  await haft.close();
  await Promise.all(pids.map(ended));
  await assert.rejects(haft.run("true"), ClientClosed);
  await haft.close();
});

test("calls fail when the server dies", async () => {
  const haft = await Haft.start();
  const waiting = assert.rejects(haft.run(LONG), /was ended by SIGKILL/);
  process.kill(haft.pid, "SIGKILL");
  await waiting;
  await assert.rejects(haft.run("true"), ServerDied);
});

test("an abort ends the tree and not the server", async () => {
  const haft = await client();
  const cwd = mkdtempSync(join(tmpdir(), "haft-"));
  const controller = new AbortController();
  const run = haft.run(`${LONG} & echo $! > new; mv new pid; wait`, { cwd, signal: controller.signal });
  await haft.run("until test -e pid; do sleep 0.01; done", { cwd });
  controller.abort();
  await assert.rejects(run, { name: "AbortError" });
  await ended(Number(readFileSync(join(cwd, "pid"), "utf8")));
  await assert.rejects(haft.run("true", { signal: controller.signal }), { name: "AbortError" });
  assert((await haft.run("true")).ok);
});

test("nothing is left when the client is killed", async () => {
  const child = startClient(`
    const haft = await Haft.start();
    const job = await haft.start("echo started; sleep 3600 & sleep 3600", { until: { pattern: "started" } });
    console.log(haft.pid, ...job.state.data.pids);
    await haft.run("sleep 3600");`);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  child.kill("SIGKILL");
  await Promise.all(line.split(" ").map((pid) => ended(Number(pid))));
});

test("a client that is not closed does not keep the process", async () => {
  const child = startClient(`
    const haft = await Haft.start();
    await haft.start("sleep 3600");
    console.log(haft.pid);`);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  assert.deepEqual(await once(child, "exit"), [0, null]);
  await ended(Number(line));
});

test("the log is passed on", async () => {
  const lines: string[] = [];
  const haft = await Haft.start({ onLog: (line) => lines.push(line) });
  await haft.close();
  assert(lines.some((line) => line.includes("connected")));
});

test("memory stays flat", async () => {
  const haft = await client();
  const call = async (count: number) => {
    for (let number = 0; number < count; number++) {
      assert.equal((await haft.run(`echo ${number}`)).stdout, `${number}\n`);
    }
  };
  const use = () => residentBytes(process.pid) + residentBytes(haft.pid);
  // The server keeps 256 outputs.
  await call(300);
  const before = use();
  await call(CALLS);
  assert(use() - before < MEMORY_SLACK, `${use() - before} bytes more`);
});
