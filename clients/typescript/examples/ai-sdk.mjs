// An agent of the Vercel AI SDK that works with haft. usage: ai-sdk.mjs URL (of a model with the API of OpenAI)
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as ai from "ai";
import { Haft } from "haft";
import { aiTools } from "haft/ai";

const provider = createOpenAICompatible({ name: "example", baseURL: `${process.argv[2]}/v1`, apiKey: "none" });
const haft = await Haft.start();
const { text } = await ai.generateText({
  model: provider("fake"),
  tools: await aiTools(haft, ai, ["run", "job", "output"]),
  stopWhen: ai.stepCountIs(10),
  prompt: "Do the work.",
});
console.log(text);
await haft.close();
