/** Calls of tools. */

import type { Connection } from "./connection.js";
import { ToolError } from "./errors.js";
import { Overlay } from "./overlay.js";
import type { OutputData, RunData, ScriptOptions, ToolResult, Until, View } from "./types.js";

/** The server cuts larger values to these. */
export const MAX_VIEW_BYTES = 1 << 20;
export const MAX_TIMEOUT = 86400;
export const DEFAULT_TIMEOUT = 120;

/** The answer of the tools `run` and `job`. */
export interface Answer {
  text: string;
  data: RunData;
}

async function callAny(
  connection: Connection,
  name: string,
  args: object,
  signal?: AbortSignal,
): Promise<{ result: ToolResult; isError: boolean }> {
  const reply = await connection.request("tools/call", { name, arguments: args }, signal);
  const content = (reply.content ?? []) as ToolResult["content"];
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return { result: { text, data: reply.structuredContent, content }, isError: Boolean(reply.isError) };
}

/** Calls any tool. Throws its error. */
export async function call(connection: Connection, name: string, args: object, signal?: AbortSignal): Promise<ToolResult> {
  const { result, isError } = await callAny(connection, name, args, signal);
  if (isError) throw new ToolError(name, result.text, result.data);
  return result;
}

/** Calls `run` or `job`. A script that timed out is an answer, not an error. */
export async function callForAnswer(
  connection: Connection,
  name: "run" | "job",
  args: object,
  signal?: AbortSignal,
): Promise<Answer> {
  const { result } = await callAny(connection, name, args, signal);
  const data = result.data as RunData | undefined;
  if (data?.state === undefined) throw new ToolError(name, result.text, data);
  return { text: result.text, data };
}

/** Another part of an earlier output. */
export async function readOutput(connection: Connection, id: string, view: View): Promise<OutputData> {
  return (await call(connection, "output", { id, view: { bytes: MAX_VIEW_BYTES, ...view } })).data as OutputData;
}

/** The arguments of the tool `run`. */
export function runArguments(script: string, options: ScriptOptions, session: string | undefined): object {
  const { signal: _, timeout, overlay, ...others } = options;
  return {
    script,
    session,
    view: { bytes: MAX_VIEW_BYTES },
    ...others,
    overlay: overlay instanceof Overlay ? overlay.id : overlay,
    timeout: timeout === null ? MAX_TIMEOUT : timeout,
  };
}

/** The arguments of `run` for a script that continues as a job. An empty `until` returns at the timeout only. */
export function startArguments(
  script: string,
  { until, timeout, ...options }: ScriptOptions & { until?: Until },
  session: string | undefined,
): object {
  const wait = timeout === undefined ? (until ? DEFAULT_TIMEOUT : 0) : timeout;
  return { ...runArguments(script, { ...options, timeout: wait }, session), until: until ?? {}, on_timeout: "background" };
}
