import { describe, expect, test } from "vitest";
import { agent, as, of } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { runAsked } from "../testing";

const agents = ["maker", "checker"].map((name) => agent(name));
const out = (who: string, json: JsonObject) => as(who, { json });
const crew = (workflow: JsonObject[], more: object = {}) => ({
  process: "custom" as const,
  agents,
  collaboration_patterns: [{ type: "custom", workflow }],
  ...more,
});
const cycle = [
  { step: "make_it", agent: "maker", next_on_made: "check" },
  {
    step: "check",
    agent: "checker",
    next_on_good: "end:ready",
    next_on_bad: "maker",
    next_on_awful: "fail:broken",
  },
];
const posts = (events: Parameters<typeof of>[0]) =>
  of(events, "post_sent").map(({ from, to, message, kind, outcome }) => [from, to, message, kind, outcome]);

describe("custom patterns", () => {
  test("a pattern follows the outcome of each step and returns the result of each", async () => {
    const { state, events, models } = await runAsked(
      [
        out("maker", { outcome: "made", summary: "a draft", result: "DRAFT" }),
        out("checker", { outcome: "bad", summary: "too short" }),
        out("maker", { outcome: "made", summary: "longer", result: "" }),
        out("checker", { outcome: "good", summary: "fine", result: null }),
      ],
      crew(cycle),
      [],
      { keys: ["make_it", "check", "outcome", "summary", "result"] },
    );
    expect(state.state).toMatchObject({
      make_it: "longer",
      check: "fine",
      outcome: "ready",
      summary: "fine",
      result: "fine",
    });
    expect(of(events, "round_started")).toEqual([1, 2, 3, 4].map((round) => ({ round })));
    expect(posts(events)).toEqual([
      ["maker", "checker", "made: a draft", "post", "made"],
      ["checker", "maker", "bad: too short", "post", "bad"],
      ["maker", "checker", "made: longer", "post", "made"],
      ["checker", "User", "ready: fine", "reply", "ready"],
    ]);
    const asked = models.calls.map(({ messages }) => messages.at(-1)!.content);
    expect(asked[0]).toContain('make it\nThis is the step "make_it" toward the goal.');
    expect(asked[0]).not.toContain("It came here from");
    expect(asked[1]).toContain(
      'The previous step was "make_it" with this outcome:\n<outcome is="made">a draft</outcome>',
    );
    expect(asked[1]).toContain("DRAFT");
    expect(models.calls.map(({ response }) => response?.schema.required)).toEqual(
      Array.from({ length: 4 }, () => ["outcome", "summary"]),
    );
    expect(models.calls[1]!.response?.schema.properties).toMatchObject({
      outcome: { type: "string", enum: ["good", "bad", "awful"] },
    });
  });

  test("a pattern ends at a step without successors, which needs no outcome", async () => {
    const { state, events, models } = await runAsked(
      [out("maker", { summary: "made" })],
      crew([{ step: "make", agent: "maker", description: "Write it down" }]),
      [],
      { keys: ["outcome", "summary", "make"] },
    );
    expect(state.state).toMatchObject({ outcome: "done", summary: "made", make: "made" });
    expect(posts(events)).toEqual([["maker", "User", "made", "reply", undefined]]);
    const schema = models.calls[0]!.response!.schema;
    expect([schema.required, Object.keys(schema.properties as object)]).toEqual([
      ["summary"],
      ["summary", "result"],
    ]);
    expect(models.calls[0]!.messages.at(-1)!.content).toContain('Write it down\nThis is the step "make"');
  });

  test("a pattern fails at a failing outcome and posts its summary", async () => {
    const { state, events } = await runAsked(
      [
        out("maker", { outcome: "made", summary: "a draft" }),
        out("checker", { outcome: "awful", summary: "it burns" }),
      ],
      crew(cycle),
      [],
    );
    expect(state.run.error).toMatchObject({
      code: "REJECTED",
      message: 'crew failed in "check": it burns',
      user_action: "edit_graph",
    });
    expect(posts(events).at(-1)).toEqual(["checker", "User", "broken: it burns", "reply", "broken"]);
  });

  test("a pattern stops at the crew's step limit", async () => {
    const steps = [
      out("maker", { outcome: "made", summary: "a draft" }),
      out("checker", { outcome: "bad", summary: "too short" }),
      out("maker", { outcome: "made", summary: "again" }),
      out("checker", { outcome: "good", summary: "fine" }),
    ];
    const run = async (max_rounds: number) =>
      (await runAsked(steps, crew(cycle, { max_rounds }), [])).state.run;
    expect((await run(4)).final_status).toBe("COMPLETED");
    const stopped = await run(3);
    // What was written by then is not lost.
    expect(stopped.output).toEqual({ result: "again" });
    expect(stopped.error).toMatchObject({
      code: "MAX_ITERATIONS",
      message: "crew reached its limit of 3 steps.",
      user_action: "edit_graph",
    });
  });
});
