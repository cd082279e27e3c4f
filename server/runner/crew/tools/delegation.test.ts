import { describe, expect, test } from "vitest";
import { agent, as, call, calls, of, role, runCrew } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { ModelError } from "@/server/llm/model";
import type { ScriptedStep } from "@/server/llm/scripted";
import { answersTo } from "./testing";

const agents = [
  agent("ann", { allow_delegation: true }),
  agent("bob", { allow_delegation: true }),
  agent("cid"),
];
const asks = (who: string, ...made: [tool: string, args: JsonObject][]) =>
  as(who, calls(...made.map(([tool, args]) => call(tool, args))));
const done = as("ann", { text: "done" });
const run = (steps: readonly ScriptedStep[], crew: object = {}, roles?: ReturnType<typeof role>[]) =>
  runCrew(
    steps,
    { agents, ...crew },
    {
      ...(roles ? { roles } : {}),
      plan: { tasks: [{ task_id: "t", description: "do it", assigned_agent: "ann" }] },
    },
  );

describe("delegation", () => {
  test("a delegate knows only its task, and its result goes to the delegator", async () => {
    const { state, events, models } = await run([
      asks("ann", ["delegate_task", { coworker: "BOB", task: "count them", context: "there are many" }]),
      as("bob", { text: "seven" }),
      asks("ann", ["ask_coworker", { coworker: "cid", question: "Is it so?" }]),
      as("cid", { text: "yes" }),
      done,
    ]);
    expect(answersTo(state, "ann")).toEqual([
      [200, "seven"],
      [200, "yes"],
    ]);
    const child = (who: string, turn: number) => `crew#1/${who}/t.ann.turn${turn}.tool1`;
    const started = of(events, "delegation_started");
    expect(started).toEqual([
      { from: "ann", to: "bob", task: "count them", kind: "delegate", level: 1, child: started[0]!.child },
      {
        from: "ann",
        to: "cid",
        task: "Answer this question: Is it so?",
        kind: "ask",
        level: 1,
        child: started[1]!.child,
      },
    ]);
    expect(started.map((one) => one.child)).toEqual([child("bob", 0), child("cid", 1)]);
    expect(of(events, "delegation_finished")).toEqual([
      { from: "ann", to: "bob", child: started[0]!.child, status: "completed" },
      { from: "ann", to: "cid", child: started[1]!.child, status: "completed" },
    ]);
    const [toBob, toCid] = [models.calls[1]!, models.calls[3]!].map(
      ({ messages }) => messages.at(-1)!.content,
    );
    expect(toBob).toContain("count them");
    expect(toBob).toContain('<value name="context">there are many</value>');
    expect(toBob).not.toContain("the goal");
    expect(toCid).not.toContain('name="context"');
  });

  test("a task can be delegated only to another member of the crew", async () => {
    const { state, events } = await run([
      asks(
        "ann",
        ["delegate_task", { coworker: "dan", task: "x" }],
        ["delegate_task", { coworker: "ann", task: "x" }],
      ),
      done,
    ]);
    expect(answersTo(state, "ann")).toEqual([
      [404, 'There is no coworker "dan". You can ask: bob, cid.'],
      [400, "You cannot delegate a task to yourself."],
    ]);
    expect(of(events, "delegation_started")).toEqual([]);
  });

  test("a delegate can't delegate back to an agent that waits for it", async () => {
    const { state, events } = await run([
      asks("ann", ["delegate_task", { coworker: "bob", task: "x" }]),
      asks("bob", ["delegate_task", { coworker: "ann", task: "y" }]),
      as("bob", { text: "alone" }),
      done,
    ]);
    expect(answersTo(state, "bob")).toEqual([
      [409, "ann is waiting for this result. Do it yourself, or ask someone else."],
    ]);
    expect(of(events, "delegation_started")).toHaveLength(1);
  });

  test("a delegate's failure is reported to its delegator", async () => {
    const { state, events } = await run([
      asks("ann", ["delegate_task", { coworker: "bob", task: "x" }]),
      as("bob", { refusal: "never" }),
      done,
    ]);
    expect(answersTo(state, "ann")).toEqual([[500, "bob could not do it: The model refused: never"]]);
    expect(of(events, "delegation_finished").map(({ status }) => status)).toEqual(["failed"]);
    expect(state.run.final_status).toBe("COMPLETED");
  });

  test("a delegate's authentication error ends the crew", async () => {
    const error = new ModelError({ code: "AUTH", message: "No.", retryable: false, user_action: "settings" });
    const { state, events } = await run([
      asks("ann", ["delegate_task", { coworker: "bob", task: "x" }]),
      as("bob", { error }),
    ]);
    expect(state.run.error?.code).toBe("AUTH");
    expect(of(events, "delegation_finished").map(({ status }) => status)).toEqual(["failed"]);
  });
});

describe("description of the delegation tool", () => {
  const descriptionOf = async (crew: object, bobs: string[]) => {
    const { models } = await run([done], crew, [role("ann", ["see"]), role("bob", bobs), role("cid", [])]);
    return models.calls[0]!.tools!.find(({ name }) => name === "delegate_task")!;
  };
  test("the delegation tool lists the tools that a coworker works without", async () => {
    const { description, parameters } = await descriptionOf({ delegate_tools: "shared" }, ["see", "look"]);
    expect(description).toBe(
      "Delegate a task to a coworker. It knows only what you tell it; you get its result. It has no tools that you lack: bob works without look.",
    );
    expect(parameters.properties).toMatchObject({
      coworker: { description: "One of: bob (bob), cid (cid)" },
    });
  });
  test("the delegation tool lists no restrictions if no coworker loses a tool", async () => {
    const { description } = await descriptionOf({ delegate_tools: "shared" }, ["see"]);
    expect(description).toMatch(/ It has no tools that you lack\.$/);
  });
  test("the delegation tool says if coworkers use all tools of their roles", async () => {
    expect((await descriptionOf({ delegate_tools: "own" }, ["look"])).description).toMatch(
      / It uses the tools of its role\.$/,
    );
  });
});
