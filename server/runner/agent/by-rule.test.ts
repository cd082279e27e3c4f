import { describe, expect, test } from "vitest";
import { agent, as, crewGraph, newScriptedStage, of, role, runCrew } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { cutAt, fakeModels, newStage } from "../testing";

/*
 * Roles that answer by rule: an echo, an expression, a lookup. They work like other agents, and no model is called.
 */

const clerk = (rule: JsonObject, more: JsonObject = {}) => role("Clerk", [], { rule, ...more });

/** One task of the clerk; `topic` is in the state and is what the node reads. */
async function ask(rule: JsonObject, node: JsonObject = {}, more: JsonObject = {}) {
  const stage = newScriptedStage([]);
  const graph = draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      input_keys: ["topic"],
      output_keys: ["answer"],
      config: { required_role: "Clerk", task_description_template: "About {{ topic }}" },
      ...node,
    },
  });
  const run = await stage.run(graph, { input: { topic: "bees" }, roles: [clerk(rule, more)] });
  expect(stage.models.calls).toEqual([]);
  return run;
}

describe("a task", () => {
  test("an echo answers with the task", async () => {
    const { state, events } = await ask({ kind: "echo" });
    expect(state.state.answer).toBe("About bees");
    expect(state.totals).toMatchObject({ cost_usd: 0, global_iterations: 0, unknown_cost_calls: 0 });
    expect(of(events, "agent_started")[0]).toMatchObject({ role_name: "Clerk", by_rule: "echo" });
    expect(of(events, "agent_finished")[0]).toMatchObject({ status: "completed", cost_usd: 0 });
    expect(of(events, "message_added").map(({ message }) => [message.role, message.content])).toEqual([
      ["user", "About bees"],
      ["assistant", "About bees"],
    ]);
  });

  test("an expression reads the task, the input and the state, and its value keeps its type", async () => {
    const { state } = await ask({
      kind: "expression",
      expression: 'input.task.startsWith("About") && input.topic == state.topic ? size(input.topic) : 0',
    });
    expect(state.state.answer).toBe(4);
  });

  test("an object gives one value per output key", async () => {
    const { state } = await ask(
      { kind: "expression", expression: '{"kind": "insect", "legs": 6}' },
      { output_keys: ["kind", "legs"] },
      {
        output_schema: {
          type: "object",
          properties: { kind: { type: "string" }, legs: { type: "integer" } },
        },
      },
    );
    expect(state.state).toMatchObject({ kind: "insect", legs: 6 });
  });

  test("a lookup finds the task, or what its expression says, or gives the default", async () => {
    const table = { "About bees": "honey", bees: { legs: 6 } };
    expect((await ask({ kind: "lookup", table })).state.state.answer).toBe("honey");
    const byTopic = await ask({ kind: "lookup", table, key: "input.topic" });
    expect(byTopic.state.state.answer).toEqual({ legs: 6 });
    const other = await ask({ kind: "lookup", table: {}, default: "unknown" });
    expect(other.state.state.answer).toBe("unknown");
  });

  test.each<[string, JsonObject, JsonObject, RegExp]>([
    [
      "an expression that reads a missing value",
      { kind: "expression", expression: "input.color" },
      {},
      /^The rule of Clerk failed: .*color/,
    ],
    [
      "an expression beyond its work budget",
      {
        kind: "expression",
        expression:
          "[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, [1,2,3,4,5,6,7,8,9].map(c, [1,2,3,4,5,6,7,8,9].map(d, [1,2,3,4,5,6,7,8,9].map(e, [1,2,3,4,5,6,7,8,9].map(f, a + f))))))",
      },
      {},
      /^The rule of Clerk failed: /,
    ],
    [
      "a lookup without an entry",
      { kind: "lookup", table: { a: 1 } },
      {},
      /^The rule of Clerk failed: The lookup table has no entry for "About bees", and no default\.$/,
    ],
    [
      "an answer that the schema does not allow",
      { kind: "echo" },
      { output_keys: ["legs"], config: { required_role: "Clerk", output_schema: { type: "integer" } } },
      /^The rule of Clerk returned an invalid answer: /,
    ],
  ])("%s fails the task with a clear message", async (_what, rule, node, message) => {
    const { state } = await ask(rule, node);
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "OUTPUT_INVALID" });
    expect(state.run.error?.message).toMatch(message);
    expect(Object.values(state.agents)[0]).toMatchObject({ status: "failed" });
  });

  test("guardrails check the answer", async () => {
    const guardrails = [{ name: "short", kind: "expression", spec: "size(output.answer) < 3" }];
    const { state } = await ask({ kind: "echo" }, {}, { guardrails });
    expect(state.run.error).toMatchObject({ code: "GUARDRAIL" });
  });
});

describe("in a crew", () => {
  const echo = role("echo", [], { rule: { kind: "echo" } });

  test("a task of a plan is answered by rule, and the next agent reads the answer", async () => {
    const { models, state } = await runCrew(
      [as("writer", { text: "Written." })],
      { agents: [agent("echo"), agent("writer")] },
      {
        roles: [echo, role("writer")],
        plan: {
          tasks: [
            { task_id: "t1", description: "Say hello", required_role: "echo" },
            { task_id: "t2", description: "Write", required_role: "writer", dependencies: ["t1"] },
          ],
        },
      },
    );
    expect(models.calls).toHaveLength(1);
    expect(models.calls[0]!.messages.at(-1)!.content).toContain("Say hello");
    expect(state.state.result).toBe("Written.");
  });

  test("a swarm's first agent answers the goal", async () => {
    const { models, state } = await runCrew(
      [],
      { process: "swarm", agents: [agent("echo")] },
      { roles: [echo] },
    );
    expect(models.calls).toEqual([]);
    expect(state.state.result).toBe("the goal");
  });

  test("members vote by rule, and one whose answer is no vote abstains", async () => {
    const voter = role("voter", [], {
      rule: {
        kind: "expression",
        expression:
          'input.task.startsWith("Vote") ? {"vote": "approve", "reasoning": "by rule", "confidence": 1} : {"decision": "Ship it", "rationale": "It is ready."}',
      },
    });
    const { models, events } = await runCrew(
      [],
      { process: "consensus", manager: { agent_id: "voter" }, agents: [agent("voter"), agent("echo")] },
      { roles: [voter, echo] },
    );
    expect(models.calls).toEqual([]);
    expect(
      of(events, "vote_cast")
        .slice(0, 2)
        .map(({ agent_id, vote }) => `${agent_id} ${vote}`),
    ).toEqual(["voter approve", "echo abstain"]);
  });

  test("a manager is told what failed and continues", async () => {
    const broken = role("broken", [], { rule: { kind: "lookup", table: { a: 1 } } });
    const decide = (send_to: string, message: string) =>
      as("boss", {
        json: {
          plan: ["ask"],
          current_plan_step: "ask",
          send_to,
          message,
          ledger: Object.fromEntries(
            ["is_request_satisfied", "is_in_loop", "is_progress_being_made"].map((name) => [
              name,
              {
                answer: name === "is_request_satisfied" ? send_to === "User" : name !== "is_in_loop",
                reason: "so",
              },
            ]),
          ),
          stop: send_to === "User" ? "Completed" : null,
        },
      });
    const { state, events } = await runCrew(
      [decide("broken", "b"), decide("User", "There is none.")],
      { process: "hierarchical", manager: { agent_id: "boss" }, agents: [agent("boss"), agent("broken")] },
      { roles: [broken, role("boss")] },
    );
    expect(of(events, "post_sent")[1]!.message).toMatch(/^I could not do it: The rule of broken failed/);
    expect(state.state.result).toBe("There is none.");
  });
});

test("a run continues by rule after a crash at any turn, with the same events", async () => {
  const stage = newStage({ models: fakeModels(() => "never") });
  const graph = crewGraph(
    { agents: [{ agent_id: "clerk", role_name: "Clerk" }] },
    { tasks: [1, 2].map((n) => ({ task_id: `t${n}`, description: `Task ${n}`, required_role: "Clerk" })) },
  );
  const { id, events } = await stage.run(graph, { roles: [clerk({ kind: "echo" })] });
  const turns = stage.db.$client.prepare<[], { n: number }>("select count(*) n from run_turns").get()!.n;
  for (let turn = 1; turn < turns; turn++) {
    const again = newStage({ db: cutAt(stage, id, turn), models: fakeModels(() => "never") });
    again.host.recover();
    await again.host.settled(id);
    const types = (all: typeof events) =>
      all.map(({ type }) => type).filter((type) => type !== "run_recovered");
    expect(types(again.store.events(id, 0, 1e6))).toEqual(types(events));
  }
});
