import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import type { CallableWorkflow } from "@/server/domain/graph/callable";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { applyFix, findProblems } from "../problems";

const workflow = (id: string, more: Partial<CallableWorkflow> = {}): CallableWorkflow => ({
  id,
  name: id.charAt(0).toUpperCase() + id.slice(1),
  inputs: [],
  outputs: [],
  calls: [],
  ...more,
});
const runs = (workflow_id: string, input: JsonObject = {}, more: JsonObject = {}) =>
  draw("start > sub > end", {
    start: { output_keys: ["topic"] },
    sub: { node_type: "sub_workflow", config: { workflow_id, input }, ...more },
  });
const find = (graph: WorkflowGraph, others: readonly CallableWorkflow[]) =>
  findProblems(graph, [], undefined, {
    workflows: { self: "main", find: (id) => others.find((other) => other.id === id) },
  }).filter(({ code }) => /WORKFLOW_|E_WORKFLOW|E_UNKNOWN_WORKFLOW|E_MAP_BODY|W_UNREACHABLE/.test(code));
const problemsOf = (graph: WorkflowGraph, others: readonly CallableWorkflow[] = []) =>
  find(graph, others).map(({ code, at, message }) => `${code} ${at.field}: ${message}`);

const input = (key: string, required = true) => ({ key, schema: {}, required });
const MAIN = workflow("main");

describe("a node that runs another workflow", () => {
  test("needs one that is here", () => {
    expect(problemsOf(runs("gone"), [MAIN])).toEqual([
      'E_UNKNOWN_WORKFLOW workflow_id: "sub" runs the workflow "gone", which isn\'t here. Choose another one, or restore it from the trash. If this workflow was imported, import that one too, then choose it.',
    ]);
  });

  test("can't lead back to its own workflow", () => {
    expect(problemsOf(runs("main"), [MAIN])[0]).toContain("these workflows run each other: Main → Main.");
    expect(problemsOf(runs("b"), [MAIN, workflow("b", { calls: ["main"] })])[0]).toContain(
      "Main → B → Main.",
    );
  });

  test("nests at most as deep as the limit, which is named", () => {
    const chain = ["b", "c", "d", "e", "f", "g"].map((id, at, all) =>
      workflow(id, { calls: all.slice(at + 1, at + 2) }),
    );
    expect(problemsOf(runs("c"), [MAIN, ...chain])).toEqual([]);
    expect(problemsOf(runs("b"), [MAIN, ...chain])[0]).toBe(
      'E_WORKFLOW_DEPTH workflow_id: "sub" runs workflows 6 levels deep (Main → B → C → D → E → F → G); the maximum is 5. Merge some of them, or raise the limit in this workflow\'s settings.',
    );
    const shallow = { ...runs("f"), config: { ...draw("start > end").config, max_subrun_depth: 1 } };
    expect(problemsOf(shallow as WorkflowGraph, [MAIN, ...chain])[0]).toContain("2 levels deep");
  });

  test("doesn't run while a workflow below it has errors", () => {
    const others = [MAIN, workflow("b", { calls: ["c"] }), workflow("c")];
    const problemsWith = (errors: Record<string, number>) =>
      findProblems(runs("b"), [], undefined, {
        workflows: {
          self: "main",
          find: (id) => others.find((other) => other.id === id),
          errors: (id) => errors[id] ?? 0,
        },
      }).flatMap(({ code, message }) => (code === "E_WORKFLOW_PROBLEMS" ? [message] : []));
    expect(problemsWith({})).toEqual([]);
    expect(problemsWith({ b: 1, c: 3 })).toEqual(['"B" has a problem. Open that workflow and fix it.']);
    expect(problemsWith({ c: 3 })).toEqual(['"C" has 3 problems. Open that workflow and fix them.']);
  });

  test("gives it all that it needs, and nothing that it doesn't know", () => {
    const others = [MAIN, workflow("b", { inputs: [input("topic"), input("tone", false)] })];
    expect(problemsOf(runs("b", { topic: "state.topic" }), others)).toEqual([]);
    expect(problemsOf(runs("b", { topik: "state.topic" }), others)).toEqual([
      'E_WORKFLOW_INPUT input: "B" needs "topic". Add it to the inputs of "sub".',
      'W_WORKFLOW_INPUT input.topik: "B" has no input "topik". Did you mean "topic"?',
    ]);
    const graph = runs("b");
    const [missing] = find(graph, others);
    expect(find(applyFix(graph, missing!.fix!), others)).toEqual([]);
  });

  test("takes of its result what it returns", () => {
    const others = [MAIN, workflow("b", { outputs: ["summary", "score"] })];
    const taking = (...output_keys: string[]) => problemsOf(runs("b", {}, { output_keys }), others);
    expect(taking("result")).toEqual([]);
    expect(taking("summary", "score")).toEqual([]);
    expect(taking("sumary")).toEqual([
      'W_WORKFLOW_OUTPUT output_keys: "B" doesn\'t return "sumary". Did you mean "summary"?',
    ]);
    expect(taking("summary", "verdict")).toEqual([
      'W_WORKFLOW_OUTPUT output_keys: "B" doesn\'t return "verdict". Remove it, or return it there.',
    ]);
  });
});

describe("a node that repeats a part of its workflow", () => {
  const repeats = (config: JsonObject, text = "start > m > end; body") =>
    draw(text, {
      start: { output_keys: ["tickets"] },
      m: {
        node_type: "map",
        name: "Each",
        config: { items: "state.tickets", ...config },
        output_keys: ["all"],
      },
      body: { name: "Summarize", config: { set: { summary: "state.ticket" } } },
    });

  test("has no problems, and the part counts as reached", () => {
    expect(problemsOf(repeats({ node: "body", input: { ticket: "item" } }))).toEqual([]);
    expect(problemsOf(repeats({ workflow_id: "b" }), [MAIN, workflow("b")])).toEqual([
      'W_UNREACHABLE undefined: "Summarize" has no incoming connection, so it never runs. Connect or remove it.',
    ]);
  });

  test("needs a part without connections", () => {
    expect(problemsOf(repeats({ node: "body" }, "start > m > body > end"))[0]).toContain(
      "Summarize is connected to Each. What is repeated can't have connections to other nodes. Choose another node or group.",
    );
  });

  test("gives the part what it reads, which takes one click for a single key", () => {
    const graph = repeats({ node: "body" });
    const [missing] = find(graph, []);
    expect(missing?.message).toBe('"Summarize" needs "ticket". Add it to the inputs of "Each".');
    expect(missing?.fix?.label).toBe("Set ticket to item");
    expect(find(applyFix(graph, missing!.fix!), [])).toEqual([]);
  });

  test("reads of each result what the part returns", () => {
    expect(problemsOf(repeats({ node: "body", input: { ticket: "item" }, output: "output.sumary" }))).toEqual(
      ['W_WORKFLOW_OUTPUT output: "Summarize" doesn\'t return "sumary". Did you mean "summary"?'],
    );
  });

  test("the texts of the part are checked, and so are its loops", () => {
    const graph = draw("start > m > end; c > a > b; b > a", {
      m: { node_type: "map", config: { items: "[1]", node: "g" }, output_keys: ["all"] },
      a: { config: { set: { a: "1 +" } } },
    });
    const looped: WorkflowGraph = {
      ...graph,
      groups: [{ id: "g", name: "", color: "grey", node_ids: ["a", "b", "c"], is_collapsed: false }],
    };
    const codes = findProblems(looped, []).map(({ code, at }) => `${code} ${at.id}`);
    expect(codes).toContain("E_BAD_EXPRESSION a");
    expect(codes).toContain("E_UNCONDITIONAL_CYCLE a");
  });
});
