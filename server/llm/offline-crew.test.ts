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

test("the demo model reads a task with an id as one without, and answers the same whatever the id is", async () => {
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
  for (const text of [old, first]) expect(text).toMatch(/^Draft: Owls\n/);
});

describe("the demo model in a crew", () => {
  test.each([
    ["Writer", "", "approve"],
    ["Analyst", "", "reject"],
    [
      "Analyst",
      '\nThe round before, with everybody\'s reasons:\n<votes>\n<vote by="writer">approve: Fine.</vote>\n</votes>',
      "approve",
    ],
  ])("%s votes by the stated rules%s", async (role, before, vote) => {
    const result = await json(
      role,
      `Vote on this proposal, from what your role cares for: Open on Sunday${before}`,
      ballot,
    );
    expect(result).toMatchObject({
      vote,
      reasoning: expect.stringMatching(/\w\.$/) as string,
    });
  });

  test("the careful stay with their no where a rule forbids it", async () => {
    const task =
      'Vote on this proposal:\n<proposal>Spend 5000 dollars</proposal>\nThe round before, with everybody\'s reasons:\n<votes>\n<vote by="writer">approve: Fine.</vote>\n</votes>';
    expect(await json("Analyst", task, ballot)).toMatchObject({ vote: "reject" });
  });

  test("who has the casting vote does not abstain and does not wait", async () => {
    const task = "The votes are equal. You decide: approve or reject this proposal: Open on Sunday";
    expect(await json("Analyst", task, ballot)).toMatchObject({ vote: "approve" });
  });

  test("a judge names every criterion, and says how little it looks at", async () => {
    const task =
      "Say of each criterion whether the result meets it.\n<criteria>\n- it is short\n- all tests pass\n</criteria>";
    const judged = (result: string) => json("Planner", task, verdicts, { result });
    const met = (value: JsonObject) =>
      (value.verdicts as { criterion: string; met: boolean }[]).map((one) => [one.criterion, one.met]);
    expect(met(await judged("a result"))).toEqual([
      ["it is short", true],
      ["all tests pass", true],
    ]);
    expect(met(await judged(""))).toEqual([
      ["it is short", false],
      ["all tests pass", false],
    ]);
    expect(JSON.stringify(await judged("a result"))).toContain("nothing else was checked");
  });

  test("a plan that is made anew takes no id that there is", async () => {
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

  test("a shape that is asked for in words is kept to", async () => {
    const keys = object({
      verdict: { type: "string", enum: ["approve", "revise"], description: "Good enough?" },
      issues: { type: "array" },
      score: { type: "number" },
      note: {},
    });
    const result = await json("QualityReviewer", "Review it.", undefined, {}, keys);
    expect(result).toEqual({
      verdict: "revise",
      issues: [expect.any(String)],
      score: expect.any(Number) as Json,
      note: expect.any(String) as Json,
    });
  });

  test("an interpreter computes from the numbers that there are, and makes none up", async () => {
    expect(
      await answer("CodeInterpreter", "Compute", undefined, { data: "a 1, b 2.5, c -3, q2 7" }),
    ).toContain("sum 7.5, mean 1.88, least -3, greatest 7");
    expect(await answer("CodeInterpreter", "Compute", undefined, { data: "none" })).toContain("no numbers");
  });
});
