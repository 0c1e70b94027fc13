import assert from "node:assert/strict";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Haft, ProtocolError, type RunOptions, ScriptError, ToolError } from "haft";
import { client, LONG } from "./support.js";

const haft = await client();

test("a result has output, status and stages", async () => {
  const result = await haft.run("echo out; echo err >&2; false | true; exit 3");
  assert.deepEqual([result.stdout, result.stderr, result.status, result.ok], ["out\n", "err\n", 3, false]);
  assert.deepEqual(
    result.stages.map((stage) => stage.status),
    [0, 0, 1, 0, 3],
  );
  assert.deepEqual(result.stages[2]?.argv, ["false"]);
  assert.match(result.text, /\[exit 3/);
});

test("options reach the script", async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "haft-")));
  const result = await haft.run("pwd; echo $NAME; cat", { cwd, env: { NAME: "value" }, stdin: "input" });
  assert.equal(result.stdout, `${cwd}\nvalue\ninput`);
  const merged = await haft.run("echo one; echo two >&2; echo three", { merge: true });
  assert.deepEqual([merged.stdout, merged.stderr], ["one\ntwo\nthree\n", ""]);
  assert.equal((await haft.run("test -t 1 && echo terminal", { pty: true })).stdout, "terminal\n");
  const limited = await haft.run("true", { limits: { processes: 64 } });
  assert.equal((limited.data.limits as { processes: { asked: number } }).processes.asked, 64);
});

test("a timeout is a result", async () => {
  const result = await haft.run(`echo before; ${LONG}`, { timeout: 0.5 });
  assert.deepEqual([result.timedOut, result.status, result.stdout], [true, 124, "before\n"]);
});

test("check throws with the last line", async () => {
  await assert.rejects(haft.run("echo no luck >&2; exit 2", { check: true }), (error) => {
    assert(error instanceof ScriptError);
    assert.equal(error.message, "script exited with status 2: no luck");
    return error.result.status === 2;
  });
});

test("parts of an output can be read later", async () => {
  const result = await haft.run("seq 300000");
  assert(result.truncated);
  assert.equal(await result.output({ tail: 2 }), "299999\n300000\n");
  assert.equal(await result.output({ lines: [5, 6] }), "5\n6\n");
  assert.equal(await result.output({}, "stderr"), "");
  const expected = Array.from({ length: 300000 }, (_, index) => `${index + 1}\n`).join("");
  assert.equal((await result.outputBytes()).toString(), expected);
  assert.deepEqual(await (await haft.run("printf '\\377\\000'")).outputBytes(), Buffer.from([0xff, 0]));
});

test("long scripts and text of any language pass", async () => {
  const long = `ä € 😀${"x".repeat(500_000)}`;
  assert.equal((await haft.run(`echo '${long}'`)).stdout, `${long}\n`);
});

test("syntax errors and unknown options are tool errors", async () => {
  await assert.rejects(haft.run("echo ("), ToolError);
  await assert.rejects(haft.run("true", { tiemout: 3 } as RunOptions), /unknown parameter 'tiemout'/);
});

test("processes left in the background can be ended", async () => {
  const result = await haft.run(`${LONG} & echo started`);
  assert.equal(result.stdout, "started\n");
  await result.job?.kill();
  assert.equal((await haft.run("true")).job, undefined);
});

test("a session keeps its state", async () => {
  const session = haft.session();
  await session.run("cd /; name=value");
  assert.equal((await session.run("pwd; echo $name")).stdout, "/\nvalue\n");
  await session.close();
  assert.equal((await haft.session(session.name).run("echo -$name")).stdout, "-\n");
});

test("tools are listed and called", async () => {
  const names = (await haft.tools()).map((tool) => tool.name);
  assert(names.includes("run") && names.includes("glob"));
  assert.deepEqual((await haft.call("glob", { pattern: "*.nothing" })).data.files, []);
  await assert.rejects(haft.call("file_read", { path: "/nonexistent" }), ToolError);
  await assert.rejects(haft.call("nothing"), ProtocolError);
});

test("a hundred calls at once", async () => {
  const calls = Array.from({ length: 100 }, (_, number) => haft.run(`echo ${number}`));
  const found = (await Promise.all(calls)).map((result) => Number(result.stdout));
  assert.deepEqual(
    found,
    Array.from({ length: 100 }, (_, number) => number),
  );
});

test("the server accepts its options", async () => {
  const other = await client({ tools: ["check"], limitMemory: 2 ** 30, limitCpu: 60.5, env: { OWN: "value" } });
  assert((await other.tools()).some((tool) => tool.name === "check"));
  assert.equal((await other.run("echo $OWN")).stdout, "value\n");
});

test("overlays are shown, committed and taken back", async (context) => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "haft-")));
  const project = await Haft.start({ cwd });
  context.after(() => project.close());
  let result;
  try {
    result = await project.run("echo new > made; echo other > more", { overlay: true });
  } catch (error) {
    context.skip(String(error));
    return;
  }
  const { overlay } = result;
  assert(overlay);
  assert.deepEqual(
    (await overlay.changes()).map((change) => change.kind),
    ["added", "added"],
  );
  assert.match(await overlay.diff(["made"]), /\+new/);
  assert.equal((await project.run("cat made", { overlay })).stdout, "new\n");
  assert.equal(await overlay.commit(["made"]), 1);
  assert.equal((await project.run("ls")).stdout, "made\n");
  assert.equal(await overlay.undo(), 1);
  assert.deepEqual(
    (await project.overlays()).map((found) => found.id),
    [overlay.id],
  );
  await overlay.discard();
  assert.equal((await project.run("ls")).stdout, "");
});
