import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const MAKEFILE = "test:\n\t@echo 1 passed\nserve:\n\t@echo Listening on port 8080; sleep 3600\n";
const examples = join(import.meta.dirname, "examples");

for (const name of readdirSync(examples).filter((name) => name.endsWith(".js"))) {
  test(`the ${name} of the README runs`, () => {
    const cwd = mkdtempSync(join(tmpdir(), "haft-"));
    writeFileSync(join(cwd, "Makefile"), MAKEFILE);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(examples, name)], { cwd, encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  });
}
