import { describe, expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { containing } from "@/server/domain/testing/containing";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent, Payloads, RunEvent } from "../events";
import { findingsOf } from ".";
import { brief, named } from "./finding";
import {
  by,
  CREATED,
  event,
  failure,
  finished,
  log,
  modelReply,
  parsed,
  places,
  post,
  tool,
  usage,
} from "./testing";

/** The same run of a drawing whose node has no name. */
const nameless = ([, ...rest]: RunEvent[]): RunEvent[] => [
  {
    ...CREATED,
    payload: { ...CREATED.payload, graph: draw("start > work > end", { work: { name: "" } }) },
    seq: 1,
    ts: 0,
  } as RunEvent,
  ...rest,
];

describe("a low budget", () => {
  const short = event("budget_warning", { metric: "cost_usd", used: 8, limit: 10 }, by("editor"));
  const asked = (agent_id: string, input_tokens: number, output_tokens: number) => {
    const one = modelReply(agent_id, "so");
    return {
      ...one,
      payload: { ...one.payload, usage: { ...usage(input_tokens), output_tokens } },
    } as NewEvent;
  };

  test("a low budget is attributed to the member that had used most of it, with its share", () => {
    const events = log(
      asked("editor", 20, 10),
      asked("chief_writer", 30, 10),
      asked("chief_writer", 0, 20),
      asked("judge", 5, 5),
      short,
      asked("editor", 900, 0),
    );
    expect(findingsOf(events)).toMatchObject([
      { kind: "budget_eaten", seq: 6, agent_id: "chief_writer", said: containing("60%") },
    ]);
    const exceeded = event("budget_exceeded", { metric: "total_tokens", used: 10, limit: 10 });
    const two = findingsOf(log(asked("editor", 20, 0), asked("writer", 80, 0), exceeded));
    expect(two.map((one) => one.said)).toEqual([
      "When the budget ran low, writer had used 80% of all tokens, and 1 other used the rest.",
    ]);
  });

  test.each<[string, NewEvent[]]>([
    ["if none had used most of it", [asked("editor", 41, 0), asked("writer", 59, 0), short]],
    ["if an agent works alone", [asked("writer", 80, 0), asked("writer", 80, 0), short]],
    ["if only one had called a model by then", [asked("writer", 80, 0), short, asked("editor", 1, 0)]],
    ["if nothing was used", [asked("editor", 0, 0), asked("writer", 0, 0), short]],
    ["if it never ran low", [asked("editor", 1, 0), asked("writer", 80, 0)]],
  ])("a low budget is attributed to no member %s", (_how, events) => {
    expect(findingsOf(log(...events))).toEqual([]);
  });
});

describe("a truncated value", () => {
  const cut = (more: Partial<NewEvent> = {}, code = "VALUE_CUT") =>
    event("warning", { code, message: '"report" is too long.' }, more);

  test("a truncated value is found with the agent that read only its beginning", () => {
    const found = (more: object) => [
      { kind: "input_cut", seq: 2, ...more, said: containing("The rest was never read") },
    ];
    expect(findingsOf(log(cut(by("chief_writer"))))).toMatchObject(found(by("chief_writer")));
    expect(findingsOf(log(cut()))).toMatchObject(found({}));
  });

  const read = tool("writer", "read_value");
  const otherActivation = read.map((one) => ({ ...one, activation_id: "work#2" }));
  test.each<[string, NewEvent[], [string, number][]]>([
    ["that was read further", [cut(), ...read], []],
    ["that was read before", [...read, cut()], [["input_cut", 4]]],
    ["that only another activation read further", [cut(), ...otherActivation], [["input_cut", 2]]],
    ["after which another tool was called", [cut(), ...tool("writer", "look")], [["input_cut", 2]]],
    ["without an activation", [cut({ activation_id: undefined } as never)], []],
    ["with another warning code", [cut({}, "OTHER")], []],
  ])("checks a truncated value %s", (_how, events, found) => {
    expect(places(...events)).toEqual(found);
  });
});

test("a value lost to a write conflict is found with the node that wrote it", () => {
  const conflict = (winner: string, writers: [string, string] = ["start#1", "work#12"]) =>
    event("state_conflict", { key: "draft", writers, winner, policy: "topological_order" });
  const found = (loser: string, first = "start", second = "Crew") => ({
    kind: "work_overwritten",
    seq: 2,
    said: containing(`${first} and ${second} both wrote "draft"; the value from ${loser}`),
  });
  expect(findingsOf(log(conflict("work#12")))).toMatchObject([found("start")]);
  expect(findingsOf(log(conflict("start#1")))).toMatchObject([found("Crew")]);
  expect(findingsOf(log(conflict("work#12", ["work#12", "work#12"])))).toMatchObject([found("Crew", "Crew")]);
  expect(findingsOf(nameless(log(conflict("start#1"))))).toMatchObject([found("work", "start", "work")]);
  expect(findingsOf(log(conflict("input", ["input", "gone#1"])))).toMatchObject([
    found("gone", "input", "gone"),
  ]);
});

describe("work past its end", () => {
  test("an agent that used all its turns is found", () => {
    const ended = (code: string | null) =>
      event(
        "agent_finished",
        {
          status: "failed",
          usage: usage(1),
          cost_usd: 0,
          ...(code ? { error: { ...failure, code: code as "MAX_ITERATIONS" } } : {}),
        },
        by("chief_writer"),
      );
    expect(findingsOf(log(ended("MAX_ITERATIONS"), ended("PROVIDER"), ended(null)))).toMatchObject([
      { kind: "end_not_noticed", seq: 2, agent_id: "chief_writer", said: containing("used all its turns") },
    ]);
  });

  test("a loop that stopped at its iteration limit is found", () => {
    const { activation_id: _a, ...stopped } = event("loop_finished", {
      iterations: 5,
      reason: "limit",
      consumes: [],
    });
    const found = (name: string) => [
      {
        kind: "end_not_noticed",
        seq: 2,
        node_id: "work",
        said: containing(`at ${name} stopped at its limit of 5 iterations`),
      },
    ];
    expect(findingsOf(log(stopped as NewEvent))).toMatchObject(found("Crew"));
    expect(findingsOf(nameless(log(stopped as NewEvent)))).toMatchObject(found("work"));
  });

  describe("a manager", () => {
    const ledger = (answer: boolean) =>
      event("ledger_updated", {
        ledger: { is_request_satisfied: { answer, reason: "so" } },
        stalls: 0,
        replans: 0,
      });
    const work = post("chief_manager", "writer", "Write some more of it.");

    test("a manager that assigned more work after the request was satisfied is found", () => {
      expect(findingsOf(log(ledger(false), work, ledger(true), work, work))).toMatchObject([
        { kind: "end_not_noticed", seq: 5, agent_id: "chief_manager", said: containing("satisfied") },
      ]);
    });

    const empty = event("ledger_updated", { ledger: {}, stalls: 0, replans: 0 });
    test.each<[string, NewEvent[]]>([
      ["that assigns one last task", [work, work, ledger(true), work]],
      ["that was never satisfied", [ledger(false), empty, work, work]],
      [
        "that then answers the person",
        [ledger(true), post("m", "User", "Here."), post("m", "user", "It is."), work],
      ],
      ["whose members reply", [ledger(true), work, post("writer", "m", "Done.", { kind: "reply" })]],
    ])("nothing is found for a manager %s", (_how, events) => {
      expect(findingsOf(log(...events))).toEqual([]);
    });
  });
});

test("a failure that a completed run ignored is found with its node and message", () => {
  const failed = (next: Payloads["node_failed"]["next"]) =>
    event("node_failed", { attempt: 1, error: { ...failure, message: "No  answer." }, next });
  const found = (seq: number, name = "Crew") => ({
    kind: "failure_passed_over",
    seq,
    said: containing(`${name} failed, and the run completed without it: No answer.`),
  });
  const all = (["continue", "retry", "skip_branch", "error_edge", "fail_run"] as const).map(failed);
  expect(findingsOf(log(...all, finished()))).toMatchObject([found(2), found(4)]);
  expect(findingsOf(log(...all, finished("ERROR")))).toEqual([]);
  expect(findingsOf(log(...all))).toEqual([]);
  expect(findingsOf(nameless(log(failed("continue"), finished())))).toMatchObject([found(2, "work")]);
});

test("answers in the wrong format are found from the second one on, with the last error", () => {
  const form = (agent: string, ok: boolean, errors: string[]) => ({
    ...parsed,
    agent_id: agent,
    payload: { ok, errors, repair: "none" as const, attempt: 1 },
  });
  const found = (times: number, seq: number, why: string) => [
    {
      kind: "wrong_form",
      seq,
      agent_id: "writer",
      said: containing(`in the wrong format ${times} times: ${why}`),
    },
  ];
  const [bad, worse, good] = [
    form("writer", false, ["title is missing."]),
    form("writer", false, []),
    form("writer", true, []),
  ] as NewEvent[];
  expect(findingsOf(log(worse!, bad!, good!))).toMatchObject(found(2, 3, "title is missing"));
  expect(findingsOf(log(bad!, good!, bad!, worse!))).toMatchObject(found(3, 5, "it could not be read"));
  expect(findingsOf(log(bad!, good!, good!))).toEqual([]);
  expect(findingsOf(log(bad!, form("editor", false, ["so"]) as NewEvent))).toEqual([]);
});

describe("calls to tools of another role", () => {
  const rejected = (tool_name: string, status_code: 400 | 403 | 404 = 403, agent = "chief_writer") =>
    event(
      "tool_call_refused",
      { tool_name, args: {}, status_code, reason: "No." },
      { agent_id: agent, call_id: `refused_${tool_name}` },
    );
  const found = (seq: number, request: string) => ({
    kind: "wrong_tool",
    seq,
    agent_id: "chief_writer",
    said: containing(request),
  });

  test("a call to another role's tool is found once per agent, with those roles", () => {
    const both = RoleDefinition.parse({ name: "Printer", tools: ["publish"] });
    const [first, ...rest] = log(
      rejected("publish"),
      rejected("publish"),
      rejected("sing"),
      rejected("fly", 404),
      rejected("dance", 400),
    );
    const created = {
      ...first,
      payload: {
        ...CREATED.payload,
        roles: [...(CREATED as { payload: { roles: unknown[] } }).payload.roles, both],
      },
    } as RunEvent;
    expect(findingsOf([created, ...rest])).toMatchObject([
      found(2, "publish, which belongs to Editor and Printer"),
      found(4, "sing, which its role doesn't allow."),
      found(5, "fly, which doesn't exist."),
    ]);
  });

  test("a rejected call is not found if the agent has the tool, even if another agent lacks it", () => {
    const begun = (tools?: string[]) =>
      event(
        "agent_started",
        {
          role_name: "Editor",
          output_keys: [],
          limits: { max_iterations: 3 },
          ...(tools ? { tools } : {}),
        },
        by("editor"),
      );
    expect(places(begun(["publish"]), rejected("publish", 403, "editor"), rejected("publish"))).toEqual([
      ["wrong_tool", 4],
    ]);
    expect(places(begun(), rejected("publish", 403, "editor"))).toEqual([["wrong_tool", 3]]);
  });
});

test("findings are sorted by when they occurred, not by kind", () => {
  const failed = event("node_failed", { attempt: 1, error: failure, next: "continue" });
  const cut = event("warning", { code: "VALUE_CUT", message: "Too long." });
  const same = [1, 2, 3].flatMap(() => tool("writer", "look"));
  expect(places(failed, cut, ...same, finished())).toEqual([
    ["failure_passed_over", 2],
    ["input_cut", 3],
    ["repeated_step", 8],
  ]);
});

test("agent names and long texts are shortened to one line", () => {
  expect([named("chief_text_writer"), named(undefined)]).toEqual(["chief text writer", "an agent"]);
  expect(brief(" a\n b ", 3)).toBe("a b");
  expect(brief("abcd", 4)).toBe("abcd");
  expect(brief("abcde", 4)).toBe("abc…");
  expect(brief("ab de", 4)).toBe("ab…");
  expect([brief("x".repeat(120)).length, brief("x".repeat(121)).at(-1)]).toEqual([120, "…"]);
});
