import assert from "node:assert/strict";
import { test } from "node:test";

import { HaftError, type Line, WaitTimeout } from "haft";
import { client, DEADLINE, LONG } from "./support.js";

const haft = await client();
const jobs = async () => (await haft.call("job", { action: "list" })).data.jobs as unknown[];

async function texts(lines: AsyncIterable<Line>): Promise<string[]> {
  const found: string[] = [];
  for await (const line of lines) found.push(line.text);
  return found;
}

test("a job can be awaited, written to and ended", async () => {
  const job = await haft.start(`echo ready; read answer; echo got $answer; ${LONG}`, { interactive: true });
  const waited = await job.wait({ until: { input: true }, timeout: DEADLINE });
  assert.match(job.state.stdout + waited.stdout, /ready/);
  assert.equal((await job.write("yes\n", { until: { pattern: "got" } })).stdout, "got yes\n");
  assert(job.running);
  await assert.rejects(job.result({ timeout: 0.1 }), WaitTimeout);
  await job.kill();
  const result = await job.result();
  assert.deepEqual([result.stdout, result.cancelled, job.running], ["ready\ngot yes\n", true, false]);
  assert.equal((await job.read()).stdout, "");
});

test("start waits for a condition", async () => {
  const job = await haft.start(`echo Listening on 80; ${LONG}`, { until: { pattern: "Listening" } });
  assert.match(job.state.met ?? "", /Listening/);
  assert.equal((await job.signal("TERM", { until: { pattern: "never" } })).running, false);
  assert.equal((await job.result()).status, 143);
  const short = await haft.start("echo done; exit 4", { until: { pattern: "never" } });
  assert.equal((await short.result()).status, 4);
});

test("standard input can be closed", async () => {
  const job = await haft.start("cat; echo end", { interactive: true });
  await job.write("text\n", { until: { pattern: "text" } });
  await job.closeStdin();
  assert.equal((await job.result({ timeout: DEADLINE })).stdout, "text\nend\n");
});

test("lines arrive while the script runs", async () => {
  const lines = haft.stream("echo one; read x; echo $x", { interactive: true });
  assert.deepEqual(await lines.next(), { done: false, value: { text: "one", stream: "stdout" } });
  // Only a running script can echo this.
  await (await lines.job()).write("two\n");
  assert.deepEqual(await texts(lines), ["two"]);
  assert.equal((await lines.result()).stdout, "one\ntwo\n");
});

test("no line is lost", async () => {
  const lines = haft.stream("seq 200000; seq 3 >&2; printf end");
  const found: Record<string, string[]> = { stdout: [], stderr: [] };
  for await (const line of lines) found[line.stream]?.push(line.text);
  assert.deepEqual(found.stdout, [...Array.from({ length: 200000 }, (_, index) => `${index + 1}`), "end"]);
  assert.deepEqual(found.stderr, ["1", "2", "3"]);
});

test("lines that are too long and output that is not stored are marked", async () => {
  const [long, next] = await texts(haft.stream("head -c 1500000 /dev/zero | tr '\\0' a; echo; echo next"));
  assert.match(long ?? "", /^a{1048576}\[… .* omitted …\]$/);
  assert.equal(next, "next");
  const found = await texts(haft.stream("seq 100000", { limits: { output: 100_000 } }));
  assert.deepEqual([found[0], found.at(-1)], ["1", "100000"]);
  assert(found.some((text) => text.includes("bytes not kept")));
});

test("a stream times out", async () => {
  const lines = haft.stream(`echo before; ${LONG}`, { timeout: 0.5 });
  assert.deepEqual(await texts(lines), ["before"]);
  const result = await lines.result();
  assert.deepEqual([result.timedOut, result.status], [true, 124]);
});

test("leaving a loop ends the script", async () => {
  const lines = haft.stream(`echo one; ${LONG}`);
  for await (const _ of lines) {
    await assert.rejects(lines.result(), HaftError);
    break;
  }
  assert((await lines.result()).cancelled);
  assert.deepEqual(await jobs(), []);
});

test("a callback sees every line", async () => {
  const found: string[] = [];
  const result = await haft.run("seq 3; exit 5", { onLine: (line) => found.push(line.text) });
  assert.deepEqual([found, result.status], [["1", "2", "3"], 5]);
});

test("an exception in a callback ends the script", async () => {
  const onLine = (line: Line) => {
    throw new Error(`did not like ${line.text}`);
  };
  await assert.rejects(haft.run(`echo one; ${LONG}`, { onLine }), /did not like one/);
  assert.deepEqual(await jobs(), []);
});

test("an abort ends a stream", async () => {
  const controller = new AbortController();
  const lines = haft.stream(`echo one; ${LONG}`, { signal: controller.signal });
  await lines.next();
  const next = lines.next();
  controller.abort();
  await assert.rejects(next, { name: "AbortError" });
  assert.deepEqual(await jobs(), []);
});

test("the lines of a job begin with the first one", async () => {
  const job = await haft.start("seq 3", { until: { pattern: "2" } });
  assert.deepEqual(await texts(job.lines()), ["1", "2", "3"]);
});
