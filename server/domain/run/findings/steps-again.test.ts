import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { containing } from "@/server/domain/testing/containing";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent, RunEvent } from "../events";
import { findingsOf } from ".";
import { by, CREATED, event, log, modelReply, tool } from "./testing";

/** What is found, by its kind and place; the words of each are held by the tests that name them. */
const places = (events: readonly RunEvent[]) =>
  findingsOf(events).map(({ kind, seq, agent_id }) => [kind, seq, agent_id]);

/** A call whose result nobody recorded, or that came out as is said. */
const called = (agent_id: string, tool_name: string, call_id: string, args: JsonObject = {}) =>
  event("tool_call_started", { tool_name, args, protocol: "native", risk: "LOW" }, { agent_id, call_id });
const gave = (agent_id: string, call_id: string, more: object) =>
  event("tool_call_completed", { tool_name: "look", status_code: 200, ...more }, { agent_id, call_id });
const attempt = (call_id: string, more: object) => [
  called("writer", "look", call_id),
  gave("writer", call_id, more),
];

describe("repeated steps", () => {
  test("a tool call is found once, at the third call with the same arguments and result", () => {
    expect(findingsOf(log(...[1, 2, 3, 4, 5].flatMap(() => tool("chief_writer", "look"))))).toMatchObject([
      { kind: "repeated_step", seq: 6, agent_id: "chief_writer", said: containing("look 3 times") },
    ]);
  });

  test.each<[string, NewEvent[], number[]]>([
    ["twice", [...tool("writer", "look"), ...tool("writer", "look")], []],
    [
      "with a different result each time",
      ["a", "b", "c"].flatMap((output, n) => attempt(`t${n}`, { output })),
      [],
    ],
    [
      "with a different error each time",
      ["a", "b", "c"].flatMap((error, n) => attempt(`t${n}`, { status_code: 500, error })),
      [],
    ],
    [
      "with the same error each time",
      [1, 2, 3].flatMap((n) => attempt(`t${n}`, { status_code: 500, error: "It is away." })),
      [6],
    ],
    ["without a result each time", [1, 2, 3].flatMap((n) => attempt(`t${n}`, {})), [6]],
    [
      "with a different status each time",
      ([200, 400, 500] as const).flatMap((status_code, n) => attempt(`t${n}`, { status_code, output: "x" })),
      [],
    ],
    [
      "under a different name each time",
      [...tool("writer", "a"), ...tool("writer", "b"), ...tool("writer", "c")],
      [],
    ],
    ["by three agents", ["a", "b", "c"].flatMap((agent) => tool(agent, "look")), []],
    ["without a recorded result", [1, 2, 3, 4].map((n) => called("writer", "look", `open${n}`)), []],
  ])("checks a tool that is called %s", (_how, events, seqs) => {
    expect(findingsOf(log(...events)).map(({ seq }) => seq)).toEqual(seqs);
  });

  test("an agent that was warned about going in circles is found with the warning", () => {
    const stuck = (agent_id: string) =>
      event(
        "stuck_detected",
        { pattern: "monologue", message: "It talks to itself.", action: "nudge" },
        by(agent_id),
      );
    expect(findingsOf(log(stuck("writer"), stuck("writer")))).toMatchObject([
      { kind: "repeated_step", seq: 2, agent_id: "writer", said: containing("It talks to itself.") },
    ]);
    const same = [1, 2, 3].flatMap(() => tool("writer", "look"));
    // Of whom the same calls are said already, it is not said twice; of another agent it is.
    expect(places(log(...same, stuck("writer")))).toEqual([["repeated_step", 6, "writer"]]);
    expect(places(log(...same, stuck("editor")))).toEqual([
      ["repeated_step", 6, "writer"],
      ["repeated_step", 8, "editor"],
    ]);
    const otherActivation = { ...stuck("writer"), activation_id: "work#2" };
    expect(places(log(...same, otherActivation))).toEqual([
      ["repeated_step", 6, "writer"],
      ["repeated_step", 8, "writer"],
    ]);
  });

  describe("loops", () => {
    interface Round {
      output: JsonObject;
      node?: string;
      /** It asked no model. */
      isDumb?: true;
      /** It is in no loop. */
      isOnce?: true;
    }
    const rounds = (...all: Round[]): RunEvent[] =>
      log(
        ...all.flatMap(({ output, node = "work", isDumb, isOnce }, n): NewEvent[] => {
          const place = { node_id: node, activation_id: `${node}#${n + 1}` };
          const iteration = isOnce ? {} : { iteration: n + 1 };
          return [
            { type: "node_ready", ...place, payload: { consumes: [], ...iteration } },
            isDumb
              ? { type: "timer_fired", ...place, payload: {} }
              : {
                  type: "llm_call_started",
                  ...place,
                  agent_id: "writer",
                  call_id: `round${n}`,
                  payload: { purpose: "task", attempt: 1, message_count: 1 },
                },
            { type: "node_completed", ...place, payload: { output, written_keys: [] } },
          ];
        }),
      );

    test("a loop step that returns the same result three times is found, ignoring whitespace and case", () => {
      const events = rounds(
        { output: { draft: "Dear aunt" } },
        { output: { draft: "dear  Aunt" } },
        { output: { draft: "Dear aunt" } },
        { output: { draft: "Dear aunt" } },
      );
      expect(findingsOf(events)).toMatchObject([
        {
          kind: "repeated_step",
          seq: 10,
          node_id: "work",
          activation_id: "work#3",
          said: containing("Crew returned the same result 3 times"),
        },
      ]);
    });

    test("a finding names a step without a name by its id", () => {
      const [created, ...rest] = rounds(...[1, 2, 3].map((): Round => ({ output: { n: 1 }, node: "a" })));
      const graph = draw("start > a > end", { a: { name: "" } });
      const nameless = { ...created, payload: { ...CREATED.payload, graph } } as RunEvent;
      expect(findingsOf([nameless, ...rest]).map((one) => one.said)).toEqual([
        "The loop repeated, and a returned the same result 3 times.",
      ]);
    });

    const same: Round = { output: { n: 1 } };
    test.each<[string, Round[], number[]]>([
      ["returns a different result each time", [1, 2, 3].map((n) => ({ output: { n } })), []],
      ["returns the same result twice and then another", [same, same, { output: { n: 2 } }], []],
      ["starts to repeat itself after another result", [{ output: { n: 2 } }, same, same, same], [13]],
      ["returns another result in between", [same, same, { output: { n: 2 } }, same], []],
      ["returns nothing", [1, 2, 3].map(() => ({ output: {} })), []],
      ["calls no model", [1, 2, 3].map((): Round => ({ ...same, isDumb: true })), []],
      ["is not in a loop", [1, 2, 3].map((): Round => ({ ...same, isOnce: true })), []],
      ["alternates with another step", ["a", "work", "a", "work"].map((node) => ({ ...same, node })), []],
    ])("checks a step that %s", (_how, all, seqs) => {
      expect(findingsOf(rounds(...all)).map(({ seq }) => seq)).toEqual(seqs);
    });
  });
});

describe("lost history", () => {
  const shortened = (agent_id: string) =>
    event(
      "context_condensed",
      { kind: "summarised", from: 1, to: 4, tokens_before: 90, tokens_after: 20 },
      by(agent_id),
    );
  const handed = (from: string, to: string) =>
    event("handed_off", { from, to, reason: "so", count: 1 }, by(from));

  test("a tool call repeated after the conversation was compacted is found with its tool", () => {
    const pageCall = (page: number) => tool("writer", "look", { page });
    const events = log(
      ...pageCall(1),
      ...pageCall(2),
      shortened("writer"),
      ...pageCall(3),
      ...pageCall(2),
      ...pageCall(1),
    );
    expect(findingsOf(events)).toMatchObject([
      {
        kind: "history_lost",
        seq: 9,
        agent_id: "writer",
        said: containing("writer repeated a call to look after its conversation was compacted"),
      },
    ]);
  });

  test("a tool call that the next agent repeats after a handoff is found", () => {
    const events = log(
      ...tool("writer", "look", { page: 1 }),
      handed("writer", "chief_editor"),
      ...tool("chief_editor", "look", { page: 2 }),
      ...tool("chief_editor", "look", { page: 1 }),
    );
    expect(findingsOf(events)).toMatchObject([
      {
        kind: "history_lost",
        seq: 7,
        agent_id: "chief_editor",
        said: containing("chief editor called look again, although writer had just done so befor"),
      },
    ]);
  });

  const toolCall = (agent: string) => tool(agent, "look");
  test.each<[string, NewEvent[]]>([
    [
      "repeated before the conversation was compacted",
      [...toolCall("writer"), ...toolCall("writer"), shortened("writer")],
    ],
    ["done once after the conversation was compacted", [shortened("writer"), ...toolCall("writer")]],
    [
      "repeated after another agent's conversation was compacted",
      [...toolCall("writer"), shortened("editor"), ...toolCall("writer")],
    ],
    [
      "repeated because it had failed",
      [...tool("writer", "look", {}, 500), shortened("writer"), ...toolCall("writer")],
    ],
    [
      "done with other arguments",
      [...tool("writer", "look", { page: 1 }), shortened("writer"), ...tool("writer", "look", { page: 2 })],
    ],
    ["done with another tool", [...toolCall("writer"), shortened("writer"), ...tool("writer", "see")]],
    [
      "a message to another member",
      [...tool("writer", "post_message"), shortened("writer"), ...tool("writer", "post_message")],
    ],
    ["repeated by another agent without a handoff", [...toolCall("writer"), ...toolCall("editor")]],
    [
      "repeated by the agent that handed off",
      [...toolCall("writer"), handed("writer", "editor"), ...toolCall("writer")],
    ],
    [
      "repeated by the other agent before the handoff",
      [...toolCall("writer"), ...toolCall("editor"), handed("writer", "editor")],
    ],
    [
      "done only after the handoff",
      [handed("writer", "editor"), ...toolCall("writer"), ...toolCall("editor")],
    ],
    [
      "not repeated by the other agent after the handoff",
      [
        ...toolCall("writer"),
        handed("writer", "editor"),
        modelReply("editor", "Thank you."),
        ...tool("editor", "write"),
      ],
    ],
    [
      "started without a recorded result",
      [called("writer", "look", "open"), shortened("writer"), called("writer", "look", "again")],
    ],
  ])("history is not lost if work was %s", (_how, events) => {
    expect(findingsOf(log(...events))).toEqual([]);
  });
});
