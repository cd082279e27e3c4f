import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { call, calls, of, role, newScriptedStage as stage, tool } from "@/server/conformance/stage";
import { findGuardrailFunction, guardrailFunctions } from "@/server/domain/agent/guardrail-functions";
import type { Guardrail } from "@/server/domain/agent/role";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import type { ScriptedStep } from "@/server/llm/scripted";

const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    input_keys: ["topic"],
    config: { required_role: "Worker", task_description_template: "write of it" },
  },
});
type Rule = z.input<typeof Guardrail>;

/** One agent that is held to one rule. */
async function held(rule: Omit<Rule, "name">, steps: readonly ScriptedStep[], topic = "bees") {
  const worker = role("Worker", ["look"], {
    guardrails: [{ name: "rule", ...rule }] as unknown as JsonObject[],
  });
  const here = stage(steps, [tool("look")]);
  const { state, events } = await here.run(graph, { input: { topic }, roles: [worker] });
  const checks = of(events, "guardrail_checked").map(({ target, ok, action }) => [target, ok, action]);
  return { state, checks, models: here.models, calls: here.tools.calls };
}

describe("output guardrails", () => {
  const cases: [Rule["kind"], spec: string, wrong: ScriptedStep, right: ScriptedStep][] = [
    ["expression", "output.answer.size() > 3", { text: "bee" }, { text: "bees hum" }],
    [
      "json_schema",
      '{"properties": {"answer": {"type": "string", "maxLength": 5}}}',
      { text: "too long by far" },
      { text: "short" },
    ],
    ["regex", "hum", { text: "bees fly" }, { text: "bees hum" }],
    ["registered", "no_placeholders", { text: "Bees are [insert color]." }, { text: "Bees are brown." }],
  ];
  test.each(cases)(
    "a failed %s guardrail sends the answer back with the reason",
    async (kind, spec, wrong, right) => {
      const { state, checks, models } = await held({ kind, spec }, [wrong, right]);
      expect(checks).toEqual([
        ["output", false, "retry"],
        ["output", true, "none"],
      ]);
      expect(models.calls[1]!.messages.at(-1)!.content).toMatch(/^Your answer did not match: /);
      expect(state.state.answer).toBe("text" in right ? right.text : "");
    },
  );

  test("a judge sees only the rule and the value", async () => {
    const { state, checks, models } = await held({ kind: "llm_judge", spec: "It rhymes." }, [
      { text: "bees" },
      { json: { ok: false, reason: "It does not rhyme." } },
      { text: "bees in trees" },
      { json: { ok: true, reason: "It does." } },
    ]);
    expect(checks.map(([, ok]) => ok)).toEqual([false, true]);
    expect(models.calls[1]!.messages).toHaveLength(2);
    const [judge, asked] = models.calls[1]!.messages.map(({ content }) => content);
    expect(judge).toMatch(/^You are a judge\./);
    expect(asked).toContain("<value>bees</value>");
    expect(asked).toContain("<rule>It rhymes.</rule>");
    expect(models.calls[2]!.messages.at(-1)!.content).toContain("It does not rhyme.");
    expect(state.state.answer).toBe("bees in trees");
  });

  test("an unregistered check fails the run and lists the registered ones", async () => {
    const { state } = await held({ kind: "registered", spec: "constructor" }, [{ text: "bees" }]);
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "CONFIG" });
    expect(state.run.error?.message).toContain(
      'The guardrail "rule" uses the check "constructor", which is not registered. Available: not_empty, no_placeholders, no_secrets, no_personal_data, valid_json, names_sources.',
    );
  });

  test("a guardrail set to retry fails once its retries are used up", async () => {
    const { state, checks } = await held(
      { kind: "expression", spec: "output.answer == 'honey'", max_retries: 1 },
      [{ text: "bees" }, { text: "wax" }],
    );
    expect(checks.map(([, , action]) => action)).toEqual(["retry", "fail"]);
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "GUARDRAIL" });
  });

  test("a guardrail set to fail ends the run, and one set to warn lets it continue", async () => {
    const rule = { kind: "expression", spec: "output.answer == 'honey'" } as const;
    expect((await held({ ...rule, on_fail: "fail" }, [{ text: "bees" }])).state.run.reason_code).toBe(
      "GUARDRAIL",
    );
    const { state, checks } = await held({ ...rule, on_fail: "warn" }, [{ text: "bees" }]);
    expect(checks).toEqual([["output", false, "warn"]]);
    expect(state.state.answer).toBe("bees");
  });

  test("a guardrail set to escalate lets a person accept or reject the answer", async () => {
    const worker = role("Worker", [], {
      guardrails: [{ name: "rule", kind: "expression", spec: "false", on_fail: "escalate" }],
    });
    for (const [answer, final_status] of [
      ["approve", "COMPLETED"],
      ["reject", "ERROR"],
    ] as const) {
      const here = stage([{ text: "bees" }]);
      const id = here.start(graph, { input: { topic: "bees" }, roles: [worker] });
      await expect.poll(() => here.store.find(id)?.status).toBe("waiting");
      const [asked] = Object.values(here.store.state(id)!.interactions);
      here.host.steering.answer(id, asked!.id, asked!.requested.fingerprint, { answer, by: "ann" });
      await here.host.settled(id);
      expect(here.store.state(id)!.run.final_status).toBe(final_status);
    }
  });
});

test("an input guardrail rejects the input before any model call", async () => {
  const rule = { target: "input", kind: "registered", spec: "no_personal_data" } as const;
  const { state, models } = await held(rule, [], "Write to ann@example.org");
  expect(models.calls).toEqual([]);
  expect(state.run.error?.message).toContain(
    "The input for Worker failed a guardrail: The value contains an email address",
  );
});

describe("guardrails that can't be evaluated", () => {
  test.each([["{"], ['"text"'], ["7"], ["null"]])(
    "a guardrail with an invalid JSON Schema fails: %s",
    async (spec) => {
      const { state } = await held({ kind: "json_schema", spec, on_fail: "fail" }, [{ text: "bees" }]);
      expect(state.run.error?.message).toBe('The guardrail "rule" failed: Its JSON Schema can\'t be read.');
    },
  );
  test.each([
    ["true", "COMPLETED"],
    ["false", "ERROR"],
  ])("a guardrail accepts a boolean JSON Schema: %s", async (spec, status) => {
    const { state } = await held({ kind: "json_schema", spec, on_fail: "fail" }, [{ text: "bees" }]);
    expect(state.run.final_status).toBe(status);
  });
  test("an unreadable verdict counts as a failure, and the answer is retried", async () => {
    const { state, models, checks } = await held({ kind: "llm_judge", spec: "It rhymes." }, [
      { text: "bees" },
      { text: "Well, perhaps." },
      { text: "bees in trees" },
      { json: { ok: true, reason: "It does." } },
    ]);
    expect(models.calls[2]!.messages.at(-1)!.content).toContain("The judge gave no verdict");
    expect([state.state.answer, checks.map(([, ok]) => ok)]).toEqual(["bees in trees", [false, true]]);
  });
  test("a guardrail that refers to a missing name fails and names it", async () => {
    const { state } = await held({ kind: "expression", spec: "state.gone == 1", on_fail: "fail" }, [
      { text: "bees" },
    ]);
    expect(state.run.error?.message).toContain(
      'The guardrail "rule" failed: "gone" doesn\'t exist yet, so this counts as false.',
    );
    expect(state.run.error?.message).not.toContain("is not true");
  });
});

test("a regex guardrail matches several values as JSON", async () => {
  const rule = { kind: "regex", spec: '{"tool":', target: "tool_input" } as const;
  const { calls: made } = await held(rule, [calls(call("look", { text: "x" })), { text: "seen" }]);
  expect(made).toHaveLength(1);
});

test("a call that fails a tool_input guardrail is not made, and the agent gets the reason", async () => {
  const rule = { target: "tool_input", kind: "expression", spec: "input.args.text != 'hive'" } as const;
  const here = await held(rule, [
    calls(call("look", { text: "hive" }), call("look", { text: "garden" })),
    { text: "seen" },
  ]);
  expect(here.calls).toEqual(['Worker look {"text":"garden"}']);
  expect(here.models.calls[1]!.messages.at(-2)!.content).toMatch(/^look \(403\): /);
  expect(here.state.state.answer).toBe("seen");
});

test("a result that fails a tool_output guardrail never reaches the model", async () => {
  const rule = { target: "tool_output", kind: "regex", spec: "of garden" } as const;
  const { models } = await held(rule, [calls(call("look", { text: "hive" })), { text: "seen" }]);
  const content = models.calls[1]!.messages.at(-1)!.content;
  expect(content).toMatch(/^look \(403\): /);
  expect(content).not.toContain("hive");
});

test.each([
  ["not_empty", { text: " " }, { text: "bees" }],
  ["no_placeholders", { text: "TODO: hives" }, { text: "hives" }],
  ["no_secrets", { text: `key ${"sk-"}${"a1".repeat(12)}` }, { text: "sketch" }],
  ["no_personal_data", { card: "4111 1111 1111 1111" }, { year: "2026", text: "12 hives @ home" }],
  ["valid_json", { text: "{'a': 1}" }, { text: '{"a": 1}' }],
  ["names_sources", { text: "I know it" }, { text: "see https://example.org/bees" }],
] as const)("the registered check %s rejects bad values and accepts good ones", (name, wrong, right) => {
  const { check } = findGuardrailFunction(name)!;
  expect(check(wrong)).not.toBeNull();
  expect(check(right)).toBeNull();
});

test("every registered check has a description", () => {
  expect(guardrailFunctions().map(({ name }) => name)).toHaveLength(6);
  for (const { description } of guardrailFunctions()) expect(description).not.toBe("");
});
