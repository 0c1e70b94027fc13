/** Helpers of the tests. */

import { readFileSync } from "node:fs";
import { after } from "node:test";

import { Haft, type HaftOptions } from "haft";

/** A script that would outlive the tests if nothing ended it. */
export const LONG = "sleep 3600";
/** Seconds, far longer than anything takes. */
export const DEADLINE = 60;

/** A client that is closed after the tests. */
export async function client(options: HaftOptions = {}): Promise<Haft> {
  const haft = await Haft.start(options);
  after(() => haft.close());
  return haft;
}

/** Whether a process exists and is not a zombie. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Waits until a process has ended. */
export async function ended(pid: number): Promise<void> {
  const deadline = performance.now() + DEADLINE * 1000;
  while (isAlive(pid)) {
    if (performance.now() > deadline) throw new Error(`process ${pid} still runs`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}
