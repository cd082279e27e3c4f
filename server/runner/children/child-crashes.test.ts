import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { RunConfig } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import { verifyLogs } from "@/server/store/runs/verify-log";
import { sized } from "@/server/testing/thorough";
import { defineTool } from "@/server/tools/define";
import { fakeModels, fakeTools, killed, newStage, role } from "../testing";

const folder = mkdtempSync(path.join(tmpdir(), "troupe-children-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Sends texts to the outside world; one that comes twice with the same idempotency key counts once. */
function newPost() {
  const sent: string[] = [];
  const keys = new Set<string>();
  const post = defineTool({
    name: "post",
    description: "Posts a text.",
    source: "custom",
    input: z.object({ text: z.string() }),
    risk: "MEDIUM",
    read_only: false,
    on_crash: "repeat",
    async execute({ text }, { idempotencyKey }) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (!keys.has(idempotencyKey)) sent.push(text);
      keys.add(idempotencyKey);
      return `posted ${text}`;
    },
  });
  return { sent, tools: () => fakeTools([post]) };
}

const POST = draw("start > p > a > end", {
  start: { node_type: "start", output_keys: ["text"] },
  p: {
    node_type: "tool_call",
    config: { tool_name: "post", args: { text: { $expr: "state.text" } } },
    output_keys: ["posted"],
  },
  a: {
    node_type: "agent_task",
    config: { required_role: "Worker", task_description_template: "Comment {{posted}}" },
    output_keys: ["comment"],
  },
  end: { node_type: "end", input_keys: ["posted"] },
});
const ALL = draw("start > m > end", {
  start: { node_type: "start", output_keys: ["list"] },
  m: {
    node_type: "map",
    config: {
      items: "state.list",
      workflow_id: "post",
      input: { text: "item" },
      output: "output.posted",
      concurrency: 6,
    },
    output_keys: ["results"],
  },
  end: { node_type: "end", input_keys: ["results"] },
});
const config = { confirmation: { kind: "never" as const }, max_global_iterations: 2000 };
const settled = (stage: ReturnType<typeof newStage>, id: string) =>
  expect.poll(() => stage.store.find(id)?.status, { timeout: 600_000, interval: 5 }).toBe("finished");

test("a map that is killed again and again loses no item and does none twice", async () => {
  const count = sized(120, 10_000);
  const kills = sized(4, 20);
  const { sent, tools } = newPost();
  const list = Array.from({ length: count }, (_, n) => `letter ${n}`);
  const options = () => ({ tools: tools(), models: fakeModels(() => "fine") });
  let stage = newStage(options());
  const workflows = { post: { ...POST, config: RunConfig.parse(config) } };
  const id = stage.start(ALL, { input: { list }, workflows, roles: [role("Worker")], config });
  for (let kill = 1; kill <= kills; kill++) {
    const wanted = Math.floor((count * kill) / (kills + 1));
    await expect.poll(() => sent.length >= wanted, { timeout: 600_000, interval: 1 }).toBe(true);
    stage = await killed(stage, path.join(folder, `kill-${kill}.db`), options());
  }
  await settled(stage, id);
  const state = stage.store.state(id)!;
  expect(state.run.output?.results).toEqual(list.map((text) => `posted ${text}`));
  expect(sent.toSorted()).toEqual(list.toSorted());
  expect(state.activations["m#1"]?.children).toEqual({ total: count, running: 0, done: count, failed: 0 });
  const children = stage.db.$client
    .prepare<[string], { count: number; tokens: number; cost: number }>(
      "select count(*) as count, sum(input_tokens) as tokens, sum(cost_usd) as cost from runs where parent_run = ?",
    )
    .get(id)!;
  expect(children.count).toBe(count);
  expect(state.totals.usage.input_tokens).toBe(children.tokens);
  expect(state.totals.cost_usd).toBeCloseTo(children.cost, 9);
  expect(verifyLogs(stage.db).errors).toEqual([]);
}, 900_000);
