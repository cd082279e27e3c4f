import { describe, expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { RunEventOf } from "@/server/domain/run/events";
import type { KeptCommand } from "@/server/domain/run/events/control-events";
import type { RuleExpectation } from "@/server/domain/scenario/expectation";
import { draw } from "@/server/domain/testing/drawing";
import type { Turn } from "../durable/embedded-contract";
import { INTERPRETER_VERSION } from "../interpreter/execute";
import { newStage } from "../testing";
import { bisect } from "./bisect";
import { recordingOf } from "./recording";

type Creation = RunEventOf<"run_created">["payload"];
type Log = Parameters<typeof recordingOf>[0];

const drawing = draw("start > a > end");
/** A log of nothing but its beginning. */
function logOf(more: Partial<Creation> = {}, { version = INTERPRETER_VERSION, begun = false } = {}): Log {
  const created: RunEventOf<"run_created"> = {
    seq: 1,
    ts: 700,
    type: "run_created",
    payload: {
      graph: drawing,
      roles: [],
      workflow_id: null,
      workflow_name: "Test",
      input: {},
      config: RunConfig.parse({}),
      trigger: "test",
      provider_summary: null,
      ...more,
    },
  };
  const turn = (at: number, events: Turn["events"] = []): Turn => ({
    turn: 0,
    key: null,
    result: null,
    at,
    lastSeq: 0,
    inlined: 0,
    events,
  });
  const turns = [turn(700, [created]), ...(begun ? [turn(900)] : [])];
  return {
    journal: () => ({
      version,
      turns: turns.map((one, at) => ({ ...one, turn: at })),
      timers: new Map(),
      signals: new Map(),
    }),
  };
}
const kept: KeptCommand = {
  after: ["a#1/1/x"],
  by: "ann",
  command: { kind: "edit_state", set: { r: 1 }, remove: [] },
};
const held: Partial<RunConfig> = {
  mode: "step",
  breakpoints: [{ on: "node_start", node_id: "a" }],
};

describe("a run's recording", () => {
  test("a recording without commands drops pause settings and keeps the start time of the run", () => {
    const log = logOf({ config: RunConfig.parse(held), can_hold: true }, { begun: true });
    const recording = recordingOf(log, "r")!;
    expect([recording.run_id, recording.begunAt, recording.held]).toEqual(["r", 900, {}]);
    const { config, ...payload } = recording.created.payload;
    expect(config).toEqual({ ...RunConfig.parse({}), mode: "continuous" });
    expect([Object.hasOwn(payload, "can_hold"), Object.hasOwn(payload, "repeats")]).toEqual([false, false]);
  });

  test("a recording that repeats commands keeps the pause settings of the run", () => {
    const whole = logOf({ config: RunConfig.parse(held), can_hold: true, repeats: [kept] });
    const recording = recordingOf(whole, "r")!;
    expect(recording.held).toEqual({ ...held, can_hold: true });
    expect(recording.created.payload).toMatchObject({ repeats: [kept], config: { mode: "continuous" } });
    expect(recording.created.payload.config.breakpoints).toBeUndefined();
    expect(recordingOf(logOf({ repeats: [kept] }), "r")!.held).toEqual({ mode: RunConfig.parse({}).mode });
    // It was never carried out.
    expect(recording.begunAt).toBe(700);
  });

  test("a log of another version or without its beginning yields no recording", () => {
    expect(recordingOf(logOf({}, { version: 0 }), "r")).toBeUndefined();
    expect(recordingOf({ journal: (id) => ({ ...logOf().journal(id), turns: [] }) }, "r")).toBeUndefined();
  });
});

describe("runs that can't be reproduced", () => {
  const runs = async () => {
    const stage = newStage();
    const ran = async (n: number) => {
      const { id } = await stage.run(draw("start > a > end", { a: { config: { set: { a: "state.n" } } } }), {
        input: { n },
      });
      return recordingOf(stage.store, id)!;
    };
    return [await ran(1), await ran(2)] as const;
  };
  const state = (when: string): RuleExpectation => ({ kind: "state", when });
  const why = (which: string) =>
    `Replayed from its log, the ${which} run had a different result: Completed. Timing or the order of parallel work may be the cause.`;
  const input = { kind: "input", title: "Input", good: '{"n":1}', bad: '{"n":2}' };

  test("runs that can't be reproduced are reported, the bad run first", async () => {
    const [good, bad] = await runs();
    expect(await bisect(good, bad, state("state.a > 0"))).toEqual({
      verdict: "not_reproduced",
      sentence: why("bad"),
      differences: [input],
      tries: [{ from_good: 0, outcome: "holds", why: "Completed." }],
    });
    expect(await bisect(good, bad, state("state.a > 9"))).toEqual({
      verdict: "not_reproduced",
      sentence: why("good"),
      differences: [input],
      tries: [
        { from_good: 0, outcome: "fails", why: "Completed." },
        { from_good: 1, outcome: "fails", why: "Completed." },
      ],
    });
  });

  test("runs without any difference are replayed once", async () => {
    const [good] = await runs();
    expect(await bisect(good, good, state("state.a > 9"))).toEqual({
      verdict: "no_difference",
      sentence:
        "Both runs started the same way and received the same answers, so timing or the order of parallel work made the difference.",
      differences: [],
      tries: [{ from_good: 0, outcome: "fails", why: "Completed." }],
    });
  });
});
