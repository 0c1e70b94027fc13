// The page of 'haft watch' in Chromium. Run by scripts/test-watch.

const assert = require("node:assert/strict");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");
const { chromium } = require("playwright-core");

const HAFT = process.env.HAFT_BINARY;
const SCREENSHOTS = process.env.HAFT_SCREENSHOTS;
const SOON = 60_000;
const ROWS = ".row[data-id]";

let home, server, address, browser, context;
const errors = [];

const environment = () => ({
  PATH: process.env.PATH, HOME: home, TMPDIR: path.join(home, "tmp"), LANG: "C.UTF-8",
});
const haft = (...words) => execFileSync(HAFT, words, { env: environment(), cwd: home, maxBuffer: 1 << 28 }).toString();
/** Runs a script with its output captured. Its status does not matter. */
function run(script, ...options) {
  try {
    return JSON.parse(haft("run", "--json", ...options, "-c", script));
  } catch (error) {
    return JSON.parse(error.stdout.toString());
  }
}
const started = [];
function background(script, ...options) {
  const child = spawn(HAFT, ["run", "--json", ...options, "-c", script], { env: environment(), cwd: home, stdio: "ignore" });
  child.ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  started.push(child);
  return child;
}

async function open(where = "/", options = {}) {
  const page = await context.newPage();
  if (options.colorScheme) await page.emulateMedia({ colorScheme: options.colorScheme });
  page.setDefaultTimeout(SOON);
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => { errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(new URL(where, address).href);
  return page;
}
const live = (page) => page.waitForSelector("#connection.live");
async function eventually(check, message) {
  const end = Date.now() + SOON;
  while (!(await check())) {
    assert.ok(Date.now() < end, message);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
async function shot(page, name) {
  if (SCREENSHOTS) await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) });
}

before(async () => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), "haft-watch-"));
  fs.mkdirSync(path.join(home, "tmp"));
  server = spawn(HAFT, ["watch"], { env: environment(), cwd: home, stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((resolve, reject) => {
    server.stdout.once("data", (line) => resolve(line.toString().trim()));
    server.once("exit", () => reject(new Error("'haft watch' has ended")));
  });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
  context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  const page = await open(address);
  await page.waitForURL((url) => url.pathname === "/" && url.search === "");
  await live(page);
  await page.close();
});

after(async () => {
  await browser?.close();
  for (const child of started) child.kill("SIGTERM");
  await Promise.all(started.map((child) => child.ended));
  server?.kill("SIGINT");
  await new Promise((resolve) => server?.once("exit", resolve));
  fs.rmSync(home, { recursive: true, force: true });
});

test("the token is not in the address after the first load, and scripts cannot read it", async () => {
  const page = await open("/");
  await live(page);
  assert.ok(!page.url().includes("token"));
  assert.equal(await page.evaluate(() => document.cookie), "");
  const other = await browser.newContext();
  const answer = await (await other.newPage()).goto(new URL("/", address).href);
  assert.equal(answer.status(), 401);
  await other.close();
  await page.close();
});

test("a run appears soon after its start, and its state changes when it ends", async () => {
  const page = await open("/");
  await live(page);
  const delays = [];
  for (let round = 0; round < 5; round++) {
    const seen = page.waitForFunction(
      (text) => [...document.querySelectorAll(".row .text")].some((cell) => cell.textContent.includes(text)) && Date.now(),
      `sleep 0.${round}7`, { polling: "raf" },
    );
    const child = background(`sleep 0.${round}7`);
    const shown = await (await seen).jsonValue();
    const { runs } = JSON.parse(haft("log", "--json", "--grep", `sleep 0.${round}7`));
    delays.push(shown - runs[0].time);
    await child.ended;
  }
  console.log(`ms from the start of a run to its row: ${delays.join(" ")}`);
  assert.ok(Math.min(...delays) <= 100, `a run appears within 100 ms: ${delays}`);
  await page.waitForFunction(() => document.querySelectorAll(".row .state.ok").length >= 5);
  await page.close();
});

test("output streams while the run goes on, and the run can be ended", async () => {
  const list = await open("/");
  await live(list);
  const child = background("for i in $(seq 1000000); do echo tick $i; sleep 0.05; done; echo never | cat");
  await list.click(".row:has(.state.running) .text");
  await list.waitForURL("**/run/*");
  await list.waitForSelector(".terminal .line");
  const last = () => list.evaluate(() => Math.max(0, ...[...document.querySelectorAll(".terminal .content")].map((line) => Number(line.textContent.split(" ")[1]))));
  const before = await last();
  await eventually(async () => (await last()) > before + 5, "the output grows");
  await list.waitForSelector(".plot .line", { state: "attached" });
  await list.click("#kill");
  await list.waitForFunction(() => document.getElementById("state").textContent.includes("exit"));
  await child.ended;
  assert.match(await list.textContent("#state"), /cancelled|SIGTERM|exit 1[34]/);
  await list.close();
});

test("hostile output stays text", async () => {
  const script = String.raw`
printf '<script>document.title = "owned"</script><img src=x onerror="document.title=1">\n'
printf '\033]8;;javascript:alert(1)\033\\click\033]8;;\033\\ \033]8;;https://example.org/\033\\fine\033]8;;\033\\\n'
printf '\033]0;title\007\033[2J\033[H\033[999999999C\033[?1049h\033Pq#0\033\\after\n'
printf '\033[31mred\033[0m \033[38;5;999mbad\033[38;2;1;2;300mrgb\033[0m\n'
printf 'progress 10%%\rprogress 99%%\n'
printf '\342\200\256evil\n'
head -c 5000000 /dev/zero | tr '\0' x; echo
printf '\377\376 end\n'`;
  const { id } = run(script);
  const page = await open(`/run/${id}`);
  await page.waitForFunction(() => [...document.querySelectorAll(".terminal .line")].some((line) => line.textContent.includes("end")));
  const text = await page.textContent(".terminal");
  assert.ok(text.includes('<script>document.title = "owned"</script><img src=x onerror="document.title=1">'));
  assert.ok(text.includes("progress 99%") && !text.includes("progress 10%"));
  assert.ok(!text.includes("\u{1b}"));
  assert.ok(text.includes("the line is longer"));
  assert.equal(await page.locator(".terminal script, .terminal img").count(), 0);
  const links = await page.$$eval(".terminal a", (all) => all.map((link) => link.href));
  assert.deepEqual(links, ["https://example.org/"]);
  assert.equal(await page.locator(".terminal .fg-1").first().textContent(), "red");
  assert.notEqual(await page.title(), "owned");
  assert.ok((await page.textContent(".script")).includes("javascript:alert(1)"));
  const blocked = await page.evaluate(() => {
    try {
      document.body.innerHTML += "<b>x</b>";
      return false;
    } catch (error) {
      return error instanceof TypeError;
    }
  });
  assert.ok(blocked, "HTML from strings is refused");
  errors.splice(0, errors.length, ...errors.filter((text) => !text.includes("TrustedHTML")));
  await page.close();
});

test("the output of a terminal can be replayed", async () => {
  const script = "printf 'first\\nsecond\\n'; sleep 0.3; printf '\\033[2A\\033[31mFIRST\\033[0m\\n\\n'; sleep 0.2; printf '\\033[?1049h<img src=x onerror=alert(1)>'; sleep 0.2; printf '\\033[?1049l'; echo end";
  const { id } = run(script, "--pty=40x6");
  const page = await open(`/run/${id}`);
  await page.click("button:text-is('replay')");
  const screen = page.locator(".screen");
  await page.waitForSelector(".screen .line");
  const lines = (await screen.innerText()).split("\n").map((line) => line.trimEnd());
  assert.equal(lines.join("\n").trimEnd(), "FIRST\nsecond\nend");
  assert.equal(await page.locator(".screen .fg-1").innerText(), "FIRST");
  await page.locator(".controls input").fill("0.1");
  assert.match(await screen.innerText(), /^first\s+second/);
  await page.selectOption(".controls select", "0.5");
  await page.focus(".player");
  await page.keyboard.press(" ");
  await page.waitForFunction(() => document.querySelector(".screen").innerText.includes("<img src=x"));
  await page.waitForFunction(() => document.querySelector(".screen").innerText.includes("end"));
  assert.equal(await page.locator(".screen img").count(), 0);
  await shot(page, "watch-replay-light");
  await page.click("button:text-is('show lines')");
  await page.waitForSelector(".terminal:visible");
  await page.close();
});

test("a large output is loaded in parts", async () => {
  const { id, stdout } = run("seq 13000000", "--output-cap", "200M", "--limit-output", "1000");
  assert.ok(stdout.total_bytes > 100_000_000);
  const page = await open(`/run/${id}`);
  let loaded = 0;
  page.on("response", async (response) => { loaded += (await response.body().catch(() => Buffer.alloc(0))).length; });
  await page.waitForFunction(() => document.querySelector(".terminal .content")?.textContent === "1");
  await page.waitForFunction(() => document.querySelector(".outputs h3")?.textContent.includes("13000000 lines"));
  await page.focus(".terminal");
  await page.keyboard.press("G");
  await page.waitForFunction(() => [...document.querySelectorAll(".terminal .content")].some((line) => line.textContent === "13000000"));
  await page.evaluate(() => { const view = document.querySelector(".terminal"); view.scrollTop = view.scrollHeight / 2; });
  await page.waitForFunction(() => [...document.querySelectorAll(".terminal .content")].some((line) => Math.abs(Number(line.textContent) - 6500000) < 20000));
  assert.ok(loaded < 2_000_000, `${loaded} bytes were loaded`);
  assert.ok((await page.locator(".terminal .line").count()) < 200);
  await page.close();
});

test("filters are in the address, and a session has a timeline", async () => {
  execFileSync(HAFT, ["run", "--json", "-c", "echo first | tr a-z A-Z; sleep 0.3"], { env: { ...environment(), HAFT_SESSION: "demo", HAFT_AGENT: "claude" }, cwd: home });
  try {
    execFileSync(HAFT, ["run", "--json", "-c", "sleep 0.2; ls /missing"], { env: { ...environment(), HAFT_SESSION: "demo", HAFT_AGENT: "claude" }, cwd: home, stdio: "pipe" });
  } catch {
    // It fails on purpose.
  }
  const page = await open("/");
  await live(page);
  await page.fill("input[name=session]", "demo");
  await page.press("input[name=session]", "Enter");
  await page.waitForURL("**/?session=demo");
  await page.waitForSelector(".timeline .mark");
  assert.equal(await page.locator(".timeline .bar").count(), 2);
  assert.equal(await page.locator(ROWS).count(), 2);
  await page.selectOption("select[name=state]", "failed");
  await page.waitForURL("**/?state=failed&session=demo");
  await page.waitForFunction((rows) => document.querySelectorAll(rows).length === 1, ROWS);
  await page.reload();
  await page.waitForFunction((rows) => document.querySelectorAll(rows).length === 1, ROWS);
  assert.equal(await page.inputValue("input[name=session]"), "demo");
  await page.goBack();
  await page.waitForFunction((rows) => document.querySelectorAll(rows).length === 2, ROWS);
  await page.fill("input[name=q]", "[");
  await page.press("input[name=q]", "Enter");
  await page.waitForSelector(".problem");
  errors.splice(0, errors.length, ...errors.filter((text) => !text.includes("400")));
  await page.close();
});

test("everything can be reached with the keyboard", async () => {
  const page = await open("/");
  await live(page);
  await page.waitForSelector(ROWS);
  await page.keyboard.press("j");
  await page.waitForSelector("#row-1.selected");
  await page.keyboard.press("k");
  await page.waitForSelector("#row-0.selected");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "q");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.waitForSelector("#help[open]");
  await page.keyboard.press("Escape");
  const reached = new Set();
  for (let presses = 0; presses < 25; presses++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.name || document.activeElement.id || document.activeElement.className || document.activeElement.textContent));
  }
  for (const name of ["q", "state", "hours", "session", "agent", "theme", "help-button", "scroller"]) assert.ok(reached.has(name), `${name} is not reached: ${[...reached]}`);
  await page.focus(".scroller");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/run/*");
  await page.keyboard.press("u");
  await page.waitForURL((url) => url.pathname === "/");
  await page.close();
});

test("an overlay shows its diff, and can be committed, undone and discarded", async (context_) => {
  fs.mkdirSync(path.join(home, "work"));
  fs.writeFileSync(path.join(home, "work", "note.txt"), "before\n");
  const result = run("cd work && echo '<b>after</b>' > note.txt", "--overlay=work");
  if (!result.overlay) return context_.skip(`no overlay: ${result.error?.message ?? JSON.stringify(result).slice(0, 200)}`);
  const page = await open(`/run/${result.id}`);
  await page.waitForSelector(".diff-added >> text=<b>after</b>");
  await page.waitForSelector(".diff-removed >> text=before");
  await shot(page, "watch-changes");
  await page.click("#commit");
  assert.equal(fs.readFileSync(path.join(home, "work", "note.txt"), "utf8"), "before\n");
  await page.click("#commit");
  await page.waitForSelector("#undo");
  assert.equal(fs.readFileSync(path.join(home, "work", "note.txt"), "utf8"), "<b>after</b>\n");
  await page.click("#undo");
  await page.click("#undo");
  await page.waitForSelector("#commit");
  assert.equal(fs.readFileSync(path.join(home, "work", "note.txt"), "utf8"), "before\n");
  await page.click("#discard");
  await page.click("#discard");
  await page.waitForSelector("text=no longer exists");
  errors.splice(0, errors.length, ...errors.filter((text) => !text.includes("404")));
  await page.close();
});

test("the list is fast with 10,000 runs", async () => {
  const records = path.join(home, ".local/state/haft/records");
  const lines = [];
  const crypto = require("node:crypto");
  let previous = "0".repeat(32);
  const add = (record) => {
    const line = JSON.stringify({ prev: previous, ...record });
    previous = crypto.createHash("sha256").update(line).digest("hex").slice(0, 32);
    lines.push(line);
  };
  add({ type: "header", version: 1, session: "many", file: "many.2026-01-01.1.jsonl" });
  for (let number = 0; number < 10_000; number++) {
    const id = `many-${number}`;
    add({ type: "start", run: id, time: 1_700_000_000_000 + number, kind: "run", session: "many", script: `make part${number}`, cwd: "/", process: { pid: 1, started: 1, boot: "x" } });
    add({ type: "end", run: id, time: 1_700_000_000_001 + number, code: number % 7 ? 0 : 1, duration: 0.01, cpu: 0, max_rss: 0 });
  }
  fs.writeFileSync(path.join(records, "many.2026-01-01.1.jsonl"), `${lines.join("\n")}\n`, { mode: 0o600 });
  const page = await open("/?session=many");
  await page.waitForFunction(() => document.querySelector(".filters")?.textContent.includes("10000 runs"));
  assert.ok((await page.locator(".row").count()) < 100);
  await page.focus(".scroller");
  await page.keyboard.press("G");
  await page.waitForFunction(() => [...document.querySelectorAll(".row .text")].some((cell) => cell.textContent === "make part0"));
  await page.keyboard.press("g");
  await page.waitForFunction(() => [...document.querySelectorAll(".row .text")].some((cell) => cell.textContent === "make part9999"));
  await page.close();
});

test("light and dark follow the browser, and can be chosen", async () => {
  const colour = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const script = "printf 'compiling \\033[32mok\\033[0m\\n\\033[1;31merror\\033[0m: missing file \\033[36mmain.c\\033[0m\\n'; seq 40 | sort -r | head -n 5; ls /missing | wc -l";
  const { id } = run(script);
  for (const scheme of ["light", "dark"]) {
    const page = await open("/?hours=24", { colorScheme: scheme });
    await live(page);
    await page.waitForSelector(ROWS);
    await shot(page, `watch-list-${scheme}`);
    const background = await colour(page);
    assert.equal(background, scheme === "light" ? "rgb(253, 253, 252)" : "rgb(22, 24, 27)");
    await page.goto(new URL("/?session=demo", address).href);
    await page.waitForSelector(".timeline .bar");
    await shot(page, `watch-session-${scheme}`);
    await page.goto(new URL(`/run/${id}`, address).href);
    await page.waitForSelector(".terminal .fg-2");
    await shot(page, `watch-run-${scheme}`);
    await page.close();
  }
  const page = await open("/", { colorScheme: "light" });
  await page.click("#theme");
  await page.click("#theme");
  assert.equal(await colour(page), "rgb(22, 24, 27)");
  await page.click("#theme");
  await page.close();
});

test("the pages reported no errors", () => {
  assert.deepEqual(errors, []);
});
