import { expect, test } from "vitest";
import { z } from "zod";
import { draw } from "@/server/domain/testing/drawing";
import type { ToolAnswer, ToolQuestion } from "@/server/domain/tool/tool";
import type { ToolInterface, ToolScope } from "@/server/tools/define";
import { defineTool } from "@/server/tools/define";
import { cutAt, fakeTools, newStage } from "../testing";

const QUESTION: ToolQuestion = {
  from: "travel",
  message: "For whom?",
  schema: { type: "object", properties: { name: { type: "string", minLength: 2 } }, required: ["name"] },
};

/** Books once it was told for whom; counts its bookings. */
function travel(question = QUESTION, always = false) {
  const seen = { booked: [] as ToolAnswer[], keys: new Set<string>() };
  const plain = defineTool({
    name: "mcp:travel/book",
    description: "Books",
    input: z.object({}),
    source: "mcp",
    risk: "LOW",
    execute: () => null,
  });
  const tool: ToolInterface = {
    ...plain,
    async execute(_input: unknown, { answers = [], idempotencyKey }: ToolScope) {
      seen.keys.add(idempotencyKey);
      const answer = answers.at(-1);
      if (!answer || always) return { status_code: 409, error: "It asks.", asks: question };
      seen.booked.push(answer);
      return { status_code: 200, output: { booked: answer.content?.name ?? answer.action } };
    },
  };
  return { seen, tools: fakeTools([tool]) };
}

const graph = draw("start > n > end", {
  n: { id: "n", node_type: "tool_call", output_keys: ["done"], config: { tool_name: "mcp:travel/book" } },
});

const openOf = (stage: ReturnType<typeof newStage>, id: string) =>
  Object.values(stage.store.state(id)!.interactions).find(({ status }) => status === "open");
async function nextOpen(stage: ReturnType<typeof newStage>, id: string, after?: string) {
  await expect.poll(() => openOf(stage, id)?.id ?? after).not.toBe(after);
  return openOf(stage, id)!;
}
const NOBODY = { config: { confirmation: { kind: "never" as const } } };

test("a tool's question is put to a person, even across a restart, and the call repeats with the answer", async () => {
  const { seen, tools } = travel();
  const before = newStage({ tools });
  const id = before.start(graph, NOBODY);
  const asked = await nextOpen(before, id);
  expect(asked.requested).toMatchObject({
    kind: "question",
    title: "“travel” asks a question before mcp:travel/book can continue",
    why: "It says: “For whom?”",
    asks: QUESTION,
  });
  const stage = newStage({ tools, db: cutAt(before, id, 1000) });
  stage.host.recover();
  const open = await nextOpen(stage, id);
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
    answer: "approve",
    content: { name: "Ann" },
    by: "ann",
  });
  await stage.host.settled(id);
  expect(stage.store.state(id)!.state.done).toEqual({ booked: "Ann" });
  expect(seen.booked).toEqual([{ question: QUESTION, action: "accept", content: { name: "Ann" } }]);
  expect(seen.keys.size).toBe(1);
});

test.each([
  ["declined", { answer: "reject" as const }, "decline"],
  ["skipped", { answer: "cancel" as const }, "cancel"],
  ["answered with invalid data", { answer: "approve" as const, content: { name: "A" } }, "cancel"],
])("a tool is notified that its question was %s", async (_how, value, action) => {
  const { seen, tools } = travel();
  const stage = newStage({ tools });
  const id = stage.start(graph, NOBODY);
  const open = await nextOpen(stage, id);
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, { ...value, by: "ann" });
  await stage.host.settled(id);
  expect(seen.booked).toEqual([{ question: QUESTION, action }]);
});

test("a tool that never stops asking is stopped", async () => {
  const endless = newStage({
    tools: travel({ from: "travel", message: "Go", url: "https://pay.example/" }, true).tools,
  });
  const other = endless.start(graph, NOBODY);
  let last: string | undefined;
  for (let round = 0; round < 5; round++) {
    const { id: open, requested } = await nextOpen(endless, other, last);
    endless.host.steering.answer(other, open, requested.fingerprint, { answer: "approve", by: "ann" });
    last = open;
  }
  await endless.host.settled(other);
  expect(endless.store.state(other)!.run.error?.message).toContain(
    "mcp:travel/book asked more than 5 questions in one call.",
  );
});
