import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { analyse } from "@/server/domain/graph/analysis";
import { containing } from "@/server/domain/testing/containing";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "../events";
import {
  completed,
  created,
  crewRun,
  failedWith,
  fold,
  logOf,
  of,
  over,
  paused,
  ready,
  started,
} from "../testing";
import { commandError, type RunCommand, tooLate, unknownStop } from "./command";
import { canGoOn } from "./command-errors";

const line = draw("start > a > b > end", { b: { name: "" } });
const errorOf = (command: RunCommand, events: NewEvent[], graph = line) =>
  commandError(analyse(graph), fold(...events), command);
const begun = [created(line), ready("a")];

describe("pausing and resuming", () => {
  const commands: RunCommand[] = [
    { kind: "pause" },
    { kind: "pause", now: true },
    { kind: "resume" },
    { kind: "step", granularity: "node" },
  ];
  const isFree = "This run is not paused. Pause it first.";
  test.each<[string, NewEvent[], (string | null)[]]>([
    ["is running", begun, [null, null, isFree, isFree]],
    ["is paused", [...begun, paused], ["This run is already paused.", null, null, null]],
    ["has ended", [...begun, over()], Array.from({ length: 4 }, () => "This run has ended.")],
  ])("pause, resume and step are checked in a run that %s", (_how, events, errors) => {
    expect(commands.map((command) => errorOf(command, events))).toEqual(errors);
  });
});

test("a breakpoint or stop point must name a node or connection of the workflow", () => {
  const at = (...breakpoints: Extract<RunCommand, { kind: "set_breakpoints" }>["breakpoints"]) =>
    errorOf({ kind: "set_breakpoints", breakpoints }, begun);
  const [node, edge] = ['This workflow has no node "x".', 'This workflow has no connection "e9".'];
  expect(at({ on: "node_start", node_id: "a" }, { on: "edge", edge_id: "e0" }, { on: "error" })).toBeNull();
  expect(at({ on: "node_start", node_id: "a" }, { on: "node_start", node_id: "x" })).toEqual(node);
  expect(at({ on: "node_start", node_id: "a", edge_id: "e9" })).toEqual(edge);
  expect(unknownStop(line, {})).toBeNull();
  expect(unknownStop(line, { stop_at: "b" })).toBeNull();
  expect(unknownStop(line, { stop_at: "x" })).toEqual(node);
  expect(unknownStop(line, { breakpoints: [{ on: "edge", edge_id: "e9" }], stop_at: "x" })).toEqual(edge);
});

test("a command that arrived too late is distinguished from other warnings", () => {
  const warning = (code: string, message: string): NewEvent => ({
    type: "warning",
    payload: { code, message },
  });
  const [other, late] = [warning("OTHER", "Something."), warning("COMMAND_TOO_LATE", "It has ended.")];
  expect(tooLate(null)).toBeNull();
  expect(tooLate([])).toBeNull();
  expect(tooLate(logOf([created(line), other]))).toBeNull();
  expect(tooLate(logOf([other, late]))).toBe("It has ended.");
});

describe("state edits", () => {
  const graph = {
    ...line,
    global_state_schema: { type: "object", properties: { n: { type: "number" } } },
  } as typeof line;
  const held = [
    created(graph, { config: { max_state_chars: 1000 } }),
    { type: "state_initialized", payload: { state: { n: 1, text: "x" }, defaults_applied: [] } } as NewEvent,
    ready("a"),
  ];
  const edit = (set: JsonObject, remove: string[] = []): RunCommand => ({ kind: "edit_state", set, remove });
  test.each<[string, RunCommand, string | null]>([
    ["sets a key", edit({ n: 2 }), null],
    ["removes a key", edit({}, ["text"]), null],
    ["names no key", edit({}), "Name the keys to set or remove."],
    ["removes a missing key", edit({ n: 2 }, ["text", "m"]), 'The state has no "m" to remove.'],
    [
      "sets a key to a value that violates its schema",
      edit({ text: 1, n: "two" }),
      '"n" violates its schema',
    ],
  ])("checks a state edit that %s", (_what, command, error) => {
    expect(errorOf(command, [...held, paused], graph)).toEqual(containing(error));
  });

  test("a state edit is accepted only while the run is paused", () => {
    expect(errorOf(edit({ n: 2 }), held, graph)).toBe(
      "Pause the run before editing its state, so that nothing else writes it.",
    );
  });

  test("a state edit may fill the state up to its limit but not beyond", () => {
    const size = (length: number) => errorOf(edit({ text: "x".repeat(length) }), [...held, paused], graph);
    const most = Array.from({ length: 1000 }, (_, length) => length).filter(
      (length) => size(length) === null,
    ).length;
    expect(size(most - 1)).toBeNull();
    expect(size(most)).toEqual(expect.stringMatching(/^The state would have 1,001 characters/));
  });
});

describe("skipping a node", () => {
  const graph = draw("start > a > end; start > r; r yes> b > end; r no> c > end", {
    a: { output_keys: ["x"], config: { set: { x: "1" } } },
    r: { config: { kind: "value", value: "state.r", mode: "all", default_label: "" } },
    c: { name: "" },
  });
  const typed = {
    ...graph,
    global_state_schema: { type: "object", properties: { x: { type: "number" } } },
  } as typeof graph;
  const skip = (activation_id: string, output: JsonObject, labels?: string[]): RunCommand => ({
    kind: "skip_node",
    activation_id,
    output,
    ...(labels ? { labels } : {}),
  });
  const begin = [created(typed), ready("a"), ready("r")];
  test.each<[string, RunCommand, NewEvent[], string | null]>([
    ["that is ready", skip("a#1", { x: 1 }), begin, null],
    ["that is running", skip("a#1", { x: 1 }), [...begin, started("a")], null],
    ["that does not exist", skip("a#2", {}), begin, "This run has no a#2."],
    [
      "that is completed",
      skip("a#1", { x: 1 }),
      [...begin, started("a"), completed("a")],
      "a is no longer active",
    ],
    [
      "that has no name and is completed",
      skip("c#1", {}),
      [...begin, ready("c"), started("c"), completed("c")],
      "c is no longer active (completed).",
    ],
    [
      "that is an end node",
      skip("end#1", {}),
      [...begin, ready("end")],
      "end is an end node and can't be skipped",
    ],
    ["without its required output", skip("a#1", {}), begin, 'The output of a is invalid: "x" is missing'],
    [
      "with an output that violates the state schema",
      skip("a#1", { x: "one" }),
      begin,
      "The output of a is invalid: x:",
    ],
    ["with the label of a route", skip("r#1", {}, ["yes"]), begin, null],
    [
      "with a label that no route has",
      skip("r#1", {}, ["maybe"]),
      begin,
      expect.stringMatching(/^r chose "maybe", but no connection has that label\./),
    ],
  ])("checks skipping a node %s", (_what, command, events, error) => {
    expect(errorOf(command, events, typed)).toEqual(containing(error));
  });

  test("the output of a skipped node must match its schema, and at most five errors are listed", () => {
    const strict = draw("start > a > end", {
      a: {
        node_type: "agent_task",
        output_keys: ["x"],
        config: {
          agent: { agent_id: "ann", role_name: "Writer" },
          task_description_template: "x",
          output_schema: {
            type: "object",
            properties: Object.fromEntries(
              ["x", "b", "c", "d", "e", "f", "g"].map((key) => [key, { type: "string" }]),
            ),
          },
        },
      },
    });
    const of = (output: JsonObject) => errorOf(skip("a#1", output), [created(strict), ready("a")], strict);
    expect(of({ x: "fine" })).toBeNull();
    const error = of({ x: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1 });
    expect(error?.startsWith("The output of a is invalid: ")).toBe(true);
    expect(error?.split("; ")).toHaveLength(5);
  });
});

describe("retrying a node", () => {
  const retry =
    (events: NewEvent[], activation_id = "a#1") =>
    () =>
      errorOf({ kind: "retry_node", activation_id }, [...begun, ...events]);
  const failedRun = failedWith("a", "fail_run");
  const error = {
    code: "CONFIG" as const,
    message: "It failed.",
    retryable: false,
    user_action: "edit_graph" as const,
  };
  const ended = (activation_id?: string) =>
    over({ final_status: "ERROR", error: { ...error, ...(activation_id ? { activation_id } : {}) } });
  const notByNode =
    "This run ended for a reason that retrying a node can't resolve. Fork it from an earlier point.";
  test.each<[string, () => string | null, string | null]>([
    ["that does not exist", retry([], "a#2"), "This run has no a#2."],
    ["that has not failed", retry([]), "a has not failed (ready)."],
    ["that is completed", retry([completed("a")]), "a has not failed (completed)."],
    ["whose failure fails the run", retry([failedRun]), null],
    ["that is waiting for a retry", retry([failedWith("a", "retry")]), null],
    [
      "whose failure took another route",
      retry([failedWith("a", "continue")]),
      "a failed, so the run took another path",
    ],
    ["that ended the run", retry([failedRun, ended("a#1")]), null],
    ["when another node's failure ended the run", retry([failedRun, ended("b#1")]), notByNode],
    ["in a run that ended for another reason", retry([ended()]), notByNode],
    ["in a run that completed", retry([over()]), "This run has ended."],
    [
      "in a run that was cancelled after the failure",
      retry([failedRun, over({ final_status: "CANCELLED", error: { ...error, activation_id: "a#1" } })]),
      "This run has ended.",
    ],
    [
      "without a name in an active run",
      () => errorOf({ kind: "retry_node", activation_id: "b#1" }, [...begun, ready("b")]),
      "b has not failed (ready).",
    ],
  ])("checks retrying a node %s", (_what, actual, wanted) => {
    expect(actual()).toEqual(containing(wanted));
  });

  test("a retry can continue only a run that a node's failure ended", () => {
    const runs = [[failedRun], [failedRun, ended("a#1")], [failedRun, ended()], [ended()]];
    expect(runs.map((events) => canGoOn(fold(...begun, ...events)))).toEqual([false, true, false, false]);
  });
});

describe("instructions", () => {
  const { a, begin, running } = crewRun({ members: { ann: "Writer", bob: "Reader" } });
  const inject = (target: Extract<RunCommand, { kind: "inject" }>["target"], events: NewEvent[]) => () =>
    commandError(a, fold(...events), { kind: "inject", target, text: "Be kind." });
  const after = [...running, completed("crew"), ready("end")];
  const removed: NewEvent = of("crew", "member_changed", { agent_id: "bob", action: "removed", by: "eve" });
  test.each<[string, () => string | null, string | null]>([
    ["for all agents", inject({ run: true }, begin), null],
    ["for all agents after the last model call", inject({ run: true }, after), "No model calls are left"],
    ["for a node", inject({ node_id: "crew" }, begin), null],
    [
      "for a node that has finished",
      inject({ node_id: "crew" }, after),
      "Crew has finished and can't run again",
    ],
    [
      "for a node without agents",
      inject({ node_id: "start" }, begin),
      "start calls no model, so the message",
    ],
    [
      "for a node that does not exist",
      inject({ node_id: "constructor" }, begin),
      "This workflow has no node",
    ],
    ["for an agent", inject({ agent_id: "bob" }, begin), null],
    [
      "for an agent that has finished",
      inject({ agent_id: "bob" }, after),
      "bob has finished its work in this run",
    ],
    ["for an agent that does not exist", inject({ agent_id: "cid" }, begin), "This workflow has no agent"],
    [
      "for an agent that was removed",
      inject({ agent_id: "bob" }, [...begin, removed]),
      'This workflow has no agent "bob". Its agents: ann.',
    ],
    [
      "for an agent that stayed when another was removed",
      inject({ agent_id: "ann" }, [...begin, removed]),
      null,
    ],
  ])("checks an instruction %s", (_what, actual, wanted) => {
    expect(actual()).toEqual(containing(wanted));
  });

  test("the error for an unknown agent lists no agents in a workflow without any", () => {
    const target = { agent_id: "ann" };
    expect(errorOf({ kind: "inject", target, text: "x" }, begun)).toBe('This workflow has no agent "ann".');
  });
});

describe("signals", () => {
  const graph = draw("start > wait > end; start > w2 > end", {
    wait: { node_type: "wait", name: "", output_keys: ["go", "why"], config: { signal: "green" } },
    w2: { node_type: "wait", name: "Second", config: { ms: 1 } },
  });
  const send = (name: string, data: JsonObject, events: NewEvent[]) => () =>
    errorOf({ kind: "signal", name, data }, [created(graph), ...events], graph);
  test.each<[string, () => string | null, string | null]>([
    ["that a node is waiting for", send("green", { go: 1, why: "so" }, [ready("wait")]), null],
    ["that no node waits for", send("red", {}, [ready("wait")]), "Nothing in this workflow waits for a"],
    [
      "that no node is still waiting for",
      send("green", { go: 1, why: "so" }, [ready("end")]),
      'Nothing in this run is still waiting for the signal "green".',
    ],
    [
      "without the outputs that the node requires",
      send("green", { go: 1 }, [ready("wait")]),
      "wait needs these",
    ],
  ])("checks a signal %s", (_what, actual, wanted) => {
    expect(actual()).toEqual(containing(wanted));
  });
});

test("the next agent can be overridden only in an active crew that runs its agents in turn", () => {
  const next = (
    crew: ReturnType<typeof crewRun>,
    agent_id: string,
    events = crew.running,
    activation_id = "crew#1",
  ) => commandError(crew.a, fold(...events), { kind: "override_agent", activation_id, agent_id });
  const members = { ann: "Writer", bob: "Reader" };
  const plain = crewRun({ members });
  const led = crewRun({ members, process: "hierarchical" });
  const ended = of("crew", "crew_finished", { status: "completed" });
  const pattern = {
    name: "p",
    type: "custom",
    workflow: [
      { step: "write", agent: "Writer" },
      { step: "again", agent: "Writer" },
    ],
  };
  const custom = crewRun({ members, process: "custom", collaboration_patterns: [pattern] });
  const together = "All members of this crew run at the same time, so none is next.";
  expect(next(plain, "bob")).toBeNull();
  expect(next(plain, "bob", plain.running, "crew#2")).toBe("This run has no crew#2.");
  expect(next(plain, "bob", plain.begin)).toBe("The crew of Crew has not started yet. Step into it first.");
  expect(next(plain, "bob", [...plain.begin, ready("start")], "start#1")).toBe("start has no crew.");
  expect(next(plain, "bob", [...plain.running, ended])).toBe("The crew of Crew has finished.");
  expect(next(plain, "eve")).toBe('Crew has no agent "eve". Its agents: ann, bob.');
  expect(next(crewRun({ members, process: "consensus" }), "bob")).toEqual(together);
  expect(next(crewRun({ members: { ann: "Writer" }, process: "sample" }), "ann")).toEqual(together);
  expect(next(led, "ann")).toBe("ann leads the crew and already acts in every round.");
  expect(next(led, "bob")).toBeNull();
  expect(next(custom, "ann")).toBeNull();
  expect(next(custom, "bob")).toBe("The crew's pattern has no step for bob.");
});
