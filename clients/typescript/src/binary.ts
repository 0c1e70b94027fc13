/** Finds the program `haft`. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

import { BinaryNotFound } from "./errors.js";

const NAME = "haft";

/** The binary that is installed with this package. */
const PACKAGED = fileURLToPath(new URL("../bin/haft", import.meta.url));

/**
 * The path of the program: the argument, the variable `HAFT_BINARY`, the binary that was installed with this package, or the
 * first one in `PATH`.
 */
export function findBinary(binary?: string, env: NodeJS.ProcessEnv = process.env): string {
  for (const [source, wanted] of [
    ["the option 'binary'", binary],
    ["HAFT_BINARY", env.HAFT_BINARY],
  ]) {
    if (!wanted) continue;
    const found = wanted.includes("/") ? wanted : inPath(wanted, env);
    if (found && isProgram(found)) return found;
    throw new BinaryNotFound(`'${wanted}' of ${source} is not an executable file`);
  }
  const found = isProgram(PACKAGED) ? PACKAGED : inPath(NAME, env);
  if (found) return found;
  throw new BinaryNotFound(`'${NAME}' was not found\nhint: install it, or set HAFT_BINARY to its path`);
}

function inPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const places = (env.PATH ?? "").split(delimiter).filter(Boolean);
  return places.map((place) => join(place, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
