/** haft's tools for the Vercel AI SDK. */

import { ToolError } from "./errors.js";
import type { Haft } from "./haft.js";

/** The functions of the package `ai` that are needed. The caller passes them, so that this package does not depend on it. */
export interface AiSdk<Schema, AiTool> {
  jsonSchema(schema: object): Schema;
  dynamicTool(tool: {
    description: string;
    inputSchema: Schema;
    execute(input: unknown, options: { abortSignal?: AbortSignal | undefined }): Promise<string>;
  }): AiTool;
}

/**
 * The tools of a client, for `generateText` and `streamText`: `await aiTools(haft, ai)` after `import * as ai from "ai"`.
 * `names` selects some of them. Aborting the generation ends what a tool runs.
 */
export async function aiTools<Schema, AiTool>(
  haft: Haft,
  { jsonSchema, dynamicTool }: AiSdk<Schema, AiTool>,
  names?: readonly string[],
): Promise<Record<string, AiTool>> {
  const offered = (await haft.tools()).filter(({ name }) => names?.includes(name) ?? true);
  const tools = offered.map(({ name, description, inputSchema }) => {
    const execute = (input: unknown, { abortSignal }: { abortSignal?: AbortSignal | undefined }) =>
      haft.call(name, input as Record<string, unknown>, abortSignal ? { signal: abortSignal } : {}).then(
        (result) => result.text,
        (error: unknown) => {
          if (error instanceof ToolError) return error.message;
          throw error;
        },
      );
    return [name, dynamicTool({ description, inputSchema: jsonSchema(inputSchema), execute })] as const;
  });
  return Object.fromEntries(tools);
}
