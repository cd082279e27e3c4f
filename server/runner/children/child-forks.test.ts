import { expect, test } from "vitest";
import { z } from "zod";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool } from "@/server/tools/define";
import type { ForkRequest } from "../fork/fork";
import { fakeTools, newStage } from "../testing";

/** Runs and their forks on one server, and what arrived outside. Letters with the word "bad" fail after they are sent. */
function newWorld() {
  const sent: string[] = [];
  let isFixed = false;
  const post = defineTool({
    name: "post",
    description: "Posts a text.",
    source: "custom",
    input: z.object({ text: z.string() }),
    risk: "MEDIUM",
    read_only: false,
    async execute({ text }) {
      sent.push(text);
      return `posted ${text}`;
    },
  });
  const check = defineTool({
    name: "check",
    description: "Checks a text.",
    source: "custom",
    input: z.object({ text: z.string() }),
    risk: "LOW",
    read_only: true,
    async execute({ text }) {
      if (text.includes("bad") && !isFixed) throw new Error("It is bad.");
      return "good";
    },
  });
  const stage = newStage({ tools: fakeTools([post, check]) });
  const finished = async (id: string) => {
    await expect.poll(() => stage.store.find(id)?.status).toBe("finished");
    return stage.store.state(id)!;
  };
  return {
    sent,
    stage,
    fix: () => {
      isFixed = true;
    },
    finished,
    start: (graph = PARENT, input: JsonObject = { text: "hello", list: ["a", "bad b", "c"] }) =>
      stage.start(graph, { input, workflows, config }),
    fork: (run_id: string, more: Partial<ForkRequest> = {}) =>
      stage.host.fork({ run_id, patches: {}, graph: "original", by: "ann", trigger: "editor", ...more })
        .run_id,
    /** Gives the same answer to everything that a run and the runs that it started ask, until it has ended. */
    async answering(id: string, answer: "approve" | "reject") {
      const asked: string[] = [];
      for (;;) {
        const { status } = stage.store.find(id)!;
        if (status === "finished") return { state: stage.store.state(id)!, asked };
        for (const run of [id, ...stage.store.children(id, { limit: 100 }).map((child) => child.id)])
          for (const question of Object.values(stage.store.state(run)!.interactions)) {
            if (question.status !== "open" || question.requested.kind !== "tool_confirmation") continue;
            const { interaction_id, fingerprint } = question.requested;
            if (stage.host.steering.answer(run, interaction_id, fingerprint, { answer, by: "ann" }))
              asked.push(question.requested.title);
          }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

const call = (tool_name: string, text: string) => ({
  node_type: "tool_call",
  config: { tool_name, args: { text: { $expr: text } } },
});
const LETTER = draw("start > p > c > end", {
  start: { node_type: "start", output_keys: ["text"] },
  p: { ...call("post", "state.text"), output_keys: ["posted"] },
  c: { ...call("check", "state.text"), output_keys: ["checked"] },
  end: { node_type: "end", input_keys: ["posted"] },
});
/** Waits for a person after the letter is sent. */
const SLOW = draw("start > p > gate > end", {
  start: { node_type: "start", output_keys: ["text"] },
  p: { ...call("post", "state.text"), output_keys: ["posted"] },
  gate: { node_type: "approval_gate", config: { question: "Go on?" } },
  end: { node_type: "end", input_keys: ["posted"] },
});
const config = { confirmation: { kind: "never" as const } };
const workflows = {
  letter: { ...LETTER, config: RunConfig.parse(config) },
  slow: { ...SLOW, config: RunConfig.parse(config) },
};
const start = { node_type: "start", output_keys: ["text", "list"] };
const sub = (workflow_id: string) => ({
  node_type: "sub_workflow",
  config: { workflow_id, input: { text: "state.text" } },
  output_keys: ["posted"],
});
const end = { node_type: "end", optional_input_keys: ["posted", "results"] };
const PARENT = draw("start > sub > t > end", { start, sub: sub("letter"), end });
const MAP = draw("start > m > end", {
  start,
  m: {
    node_type: "map",
    config: {
      items: "state.list",
      workflow_id: "letter",
      input: { text: "item" },
      output: "output.posted",
      on_item_error: "collect",
      concurrency: 2,
    },
    output_keys: ["results"],
  },
  end,
});

test("a fork after a sub-workflow keeps its result and sends nothing again", async () => {
  const { sent, start: begin, finished, fork } = newWorld();
  const id = begin();
  await finished(id);
  const again = await finished(fork(id, { at: { node_id: "t" } }));
  expect(again.run.output).toEqual({ posted: "posted hello" });
  expect(sent).toEqual(["hello"]);
});

test("a fork from the start takes the recorded result of an equal sub-workflow", async () => {
  const { sent, start: begin, finished, fork, stage } = newWorld();
  const id = begin();
  await finished(id);
  const forked = fork(id);
  const { run, totals } = await finished(forked);
  expect(run.output).toEqual({ posted: "posted hello" });
  expect(sent).toEqual(["hello"]);
  expect(stage.store.children(forked, { limit: 10 })).toEqual([]);
  expect(totals.cost_usd).toBe(0);
});

test("a fork of a fork sends nothing again", async () => {
  const { sent, start: begin, finished, fork } = newWorld();
  const id = begin();
  await finished(id);
  const first = fork(id);
  await finished(first);
  const second = await finished(fork(first));
  expect(second.run.output).toEqual({ posted: "posted hello" });
  expect(sent).toEqual(["hello"]);
});

test("a fork with another input runs its sub-workflow again", async () => {
  const { sent, start: begin, finished, fork } = newWorld();
  const id = begin();
  await finished(id);
  const again = await finished(fork(id, { input: { text: "bye", list: [] } }));
  expect(again.run.output).toEqual({ posted: "posted bye" });
  expect(sent).toEqual(["hello", "bye"]);
});

test("a strict replay runs no sub-workflow", async () => {
  const { sent, start: begin, finished, fork, stage } = newWorld();
  const id = begin();
  await finished(id);
  const replay = fork(id, { replay: "strict" });
  const { run } = await finished(replay);
  expect(run).toMatchObject({ final_status: "COMPLETED", output: { posted: "posted hello" } });
  expect(sent).toEqual(["hello"]);
  expect(stage.store.children(replay, { limit: 10 })).toEqual([]);
});

test("a replay of a child run repeats it without sending anything", async () => {
  const { sent, start: begin, finished, fork, stage } = newWorld();
  const id = begin();
  await finished(id);
  const [child] = stage.store.children(id, { limit: 1 });
  const { run } = await finished(fork(child!.id, { replay: "strict" }));
  expect(run).toMatchObject({ final_status: "COMPLETED", output: { posted: "posted hello" } });
  expect(sent).toEqual(["hello"]);
});

test("a fork made while its sub-workflow waits has a fork of that", async () => {
  const { sent, start: begin, finished, fork, stage } = newWorld();
  const id = begin(draw("start > sub > t > end", { start, sub: sub("slow"), end }));
  const waits = async (run: string) => {
    await expect.poll(() => stage.store.children(run, { limit: 1 })[0]?.waits_for).toBe("person");
    return stage.store.children(run, { limit: 1 })[0]!.id;
  };
  const child = await waits(id);
  const forked = fork(id, { at: { seq: stage.store.find(id)!.last_seq } });
  const own = await waits(forked);
  expect(own).not.toBe(child);
  expect(sent).toEqual(["hello"]);
  for (const run of [child, own]) {
    const [question] = Object.values(stage.store.state(run)!.interactions);
    const { interaction_id, fingerprint } = question!.requested;
    expect(
      stage.host.steering.answer(run, interaction_id, fingerprint, { answer: "approve", by: "ann" }),
    ).toBe(true);
  }
  expect((await finished(id)).run.output).toEqual({ posted: "posted hello" });
  expect((await finished(forked)).run.output).toEqual({ posted: "posted hello" });
  expect(sent).toEqual(["hello"]);
});

test("retrying failed items runs those alone, and asks before it repeats what they had done", async () => {
  const { sent, start: begin, finished, fork, stage, fix, answering } = newWorld();
  const id = begin(MAP);
  const { run } = await finished(id);
  const results = run.output?.results as unknown[];
  expect([results[0], results[2]]).toEqual(["posted a", "posted c"]);
  expect(sent.toSorted()).toEqual(["a", "bad b", "c"]);
  fix();
  const again = fork(id, { at: { node_id: "m" } });
  const { state, asked } = await answering(again, "reject");
  expect(state.run.output?.results).toEqual(["posted a", "posted bad b", "posted c"]);
  expect(asked).toEqual(["Call post again?"]);
  expect(sent.toSorted()).toEqual(["a", "bad b", "c"]);
  expect(stage.store.children(again, { limit: 10 }).map((child) => child.parent?.item)).toEqual([1]);
});

test("retrying the node of a map in place keeps the items that completed", async () => {
  const { sent, finished, stage, fix, start: begin } = newWorld();
  const failing = structuredClone(MAP);
  Object.assign(failing.nodes.m!.config, { on_item_error: "fail", concurrency: 1 });
  const id = begin(failing, { text: "", list: ["a", "bad b", "c"] });
  expect((await finished(id)).run.error?.message).toMatch(/^Item 2 of 3 failed/);
  expect(sent).toEqual(["a", "bad b"]);
  fix();
  await stage.host.steering.command(id, { kind: "retry_node", activation_id: "m#1" }, "ann");
  const { run, activations } = await finished(id);
  expect(run.output).toEqual({ results: ["posted a", "posted bad b", "posted c"] });
  expect(sent).toEqual(["a", "bad b", "bad b", "c"]);
  expect(activations["m#1"]?.children).toEqual({ total: 3, running: 0, done: 3, failed: 0 });
});
