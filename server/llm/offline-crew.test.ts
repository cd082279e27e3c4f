import { describe, expect, test } from "vitest";
import { answerPrompt, taskPrompt } from "@/server/domain/agent/prompt";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { newModels } from "./models";
import { newOfflineFetch } from "./offline";
import { ask, memoryProviders, newIo, offlineProvider } from "./testing";

const models = newModels({
  providers: memoryProviders([offlineProvider], null),
  offlineFetch: newOfflineFetch({ speed: 0 }),
});
async function answer(
  role: string,
  task: string,
  schema?: JsonSchema,
  inputs: Record<string, string> = {},
  keys?: JsonSchema,
): Promise<string> {
  const content = taskPrompt({ task, inputs, ...(keys ? { answer: answerPrompt({ schema: keys }) } : {}) });
  const { content: output } = await models.complete(
    ask(content, { system: `You are ${role}. Of the test.`, ...(schema ? { schema } : {}) }),
    newIo().io,
  );
  return output;
}
const json = async (...from: Parameters<typeof answer>) => JSON.parse(await answer(...from)) as JsonObject;

const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const ballot = object({
  vote: { type: "string", enum: ["approve", "reject", "abstain"] },
  reasoning: { type: "string" },
  confidence: { type: "number", minimum: 0, maximum: 1 },
});
const verdicts = object({
  verdicts: {
    type: "array",
    items: object({ criterion: { type: "string" }, met: { type: "boolean" }, evidence: { type: "string" } }),
  },
});

test("the demo model answers a task the same with any id or none", async () => {
  const answerTo = async (id?: string) => {
    const content = taskPrompt({ id, task: "Write about <topic>owls</topic>.", inputs: {} });
    return (await models.complete(ask(content, { system: "You are Writer. Of the test." }), newIo().io))
      .content;
  };
  const [old, first, second] = [
    await answerTo(),
    await answerTo("0123456789ab"),
    await answerTo("ba9876543210"),
  ];
  expect(first).toBe(second);
  for (const text of [old, first]) expect(text).toMatch(/^Demo answer of Writer: Write about owls\.\n/);
});

describe("the demo model in a crew", () => {
  test("demo agents always approve a proposal", async () => {
    const result = await json("Analyst", "Vote on this proposal: Open on Sunday", ballot);
    expect(result).toMatchObject({ vote: "approve", confidence: 1 });
  });

  test("a demo judge rates every criterion and says that it checks nothing", async () => {
    const task =
      "Say of each criterion whether the result meets it.\n<criteria>\n- it is short\n- all tests pass\n</criteria>";
    const evidence = "The offline demo model checks nothing.";
    expect(await json("Planner", task, verdicts, { result: "a result" })).toEqual({
      verdicts: [
        { criterion: "it is short", met: true, evidence },
        { criterion: "all tests pass", met: true, evidence },
      ],
    });
  });

  test("a replanned demo plan reuses no existing task id", async () => {
    const plan = object({
      tasks: {
        type: "array",
        items: object({
          task_id: { type: "string" },
          description: { type: "string" },
          required_role: { type: "string", enum: ["Researcher", "Writer"] },
          dependencies: { type: "array", items: { type: "string" } },
        }),
      },
    });
    const task = 'The task "task_2" failed. Replace what is not done yet.';
    const status = "<crew_status>\nThe plan:\n- task_1 (completed): a\n- task_2 (failed): b\n</crew_status>";
    const { tasks } = (await json("Planner", `${task}\n</task>\n${status}\n<task>${task}`, plan)) as {
      tasks: { task_id: string; dependencies: string[] }[];
    };
    expect(tasks.map(({ task_id, dependencies }) => [task_id, dependencies])).toEqual([
      ["task_3", []],
      ["task_4", ["task_3"]],
    ]);
  });

  test("the demo model follows a schema given in the prompt", async () => {
    const keys = object({
      verdict: { type: "string", enum: ["approve", "revise"], description: "Good enough?" },
      issues: { type: "array" },
      score: { type: "number" },
      note: {},
    });
    const result = await json("QualityReviewer", "Review it.", undefined, {}, keys);
    expect(result).toEqual({
      verdict: "approve",
      issues: [],
      score: expect.any(Number) as Json,
      note: expect.any(String) as Json,
    });
  });
});
