import { describe, expect, test } from "vitest";
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
): Promise<string> {
  const given = Object.entries(inputs).map(([key, value]) => `${key}: ${value}`);
  const content = `Task: ${task}${given.length > 0 ? `\n\nInputs:\n${given.join("\n")}` : ""}`;
  const { content: said } = await models.complete(
    ask(content, { system: `You are ${role}. Of the test.`, ...(schema ? { schema } : {}) }),
    newIo().io,
  );
  return said;
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

describe("the demo model in a crew", () => {
  test.each([
    ["Writer", "", "approve"],
    ["Analyst", "", "reject"],
    ["Analyst", "\nVotes of the round before:\n- writer: approve. Fine.", "approve"],
  ])("%s votes by the stated rules%s", async (role, before, vote) => {
    const cast = await json(
      role,
      `Vote on this proposal, from what your role cares for: Open on Sunday${before}`,
      ballot,
    );
    expect(cast).toMatchObject({
      vote,
      reasoning: expect.stringMatching(/\(rule ".*"\)\. — offline demo text$/) as string,
    });
  });

  test("the careful stay with their no where a rule forbids it", async () => {
    const task =
      "Vote on this proposal: Spend 5000 dollars\nVotes of the round before:\n- writer: approve. Fine.";
    expect(await json("Analyst", task, ballot)).toMatchObject({ vote: "reject" });
  });

  test("who has the casting vote does not abstain and does not wait", async () => {
    const task = "The votes are equal. You decide: approve or reject this proposal: Open on Sunday";
    expect(await json("Analyst", task, ballot)).toMatchObject({ vote: "approve" });
  });

  test("a judge names every criterion, and says how little it looks at", async () => {
    const task = "Say of each criterion whether the result meets it.\n- it is short\n- all tests pass";
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
    expect(JSON.stringify(await judged("a result"))).toContain("this demo looks at no more");
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
    const task =
      'The task "task_2" failed: no\nThe plan so far:\n- task_1 (completed): a\n- task_2 (failed): b\nReplace what is not done yet.';
    const { tasks } = (await json("Planner", task, plan)) as {
      tasks: { task_id: string; dependencies: string[] }[];
    };
    expect(tasks.map(({ task_id, dependencies }) => [task_id, dependencies])).toEqual([
      ["task_3", []],
      ["task_4", ["task_3"]],
    ]);
  });

  test("a shape that is asked for in words is kept to", async () => {
    const task =
      'Review it.\n\nReturn one JSON object with exactly these keys: "verdict" (one of "approve", "revise"), "issues" (array), "score" (number), "note" (any).';
    const said = await json("QualityReviewer", task);
    expect(said).toEqual({
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
