// Writes the TypeScript examples of README.md to test/examples, so that the compiler checks them and a test runs them.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const root = new URL("..", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const target = new URL("test/examples/", root);
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]);
examples.forEach((text, index) => writeFileSync(new URL(`example-${index + 1}.ts`, target), text));
