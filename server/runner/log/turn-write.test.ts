import { expect, test } from "vitest";
import type { RunState } from "@/server/domain/run";
import { draw } from "@/server/domain/testing/drawing";
import { simulate } from "@/server/domain/testing/simulate";
import { emptyTurn } from "../testing";
import { TurnWriter } from "./turn-write";

const turn = emptyTurn("run");

/** A run whose one step waits for a time. */
function waiting(): RunState {
  const { state } = simulate(draw("start > a > end"));
  const { final_status: _ended, ...run } = state.run;
  const activation = { ...state.activations["a#1"]!, status: "waiting" as const };
  return {
    ...state,
    run: { ...run, status: "running" },
    running: new Set(["a#1"]),
    activations: { ...state.activations, "a#1": activation },
  };
}

test("a run's status is written with the turn that changes it, and not again", () => {
  const s = waiting();
  const { run, totals } = s;
  const { usage } = totals;
  const activation = { ...s.activations["a#1"]!, waiting: { for: "signal" as const } };
  const signalled = { ...s, activations: { ...s.activations, "a#1": activation } };
  const paused = { point: "anywhere", reason: "person", by: "ann", since: 5 } as const;
  const changes: [RunState, RunState][] = [
    [signalled, { ...signalled, run: { ...run, paused_at: paused } }],
    [s, { ...s, run: { ...run, final_status: "ERROR" } }],
    [s, { ...s, totals: { ...totals, usage: { ...usage, input_tokens: 7 } } }],
    [s, { ...s, totals: { ...totals, usage: { ...usage, output_tokens: 7 } } }],
    [s, { ...s, totals: { ...totals, cost_usd: 0.5 } }],
    [s, { ...s, totals: { ...totals, unknown_cost_calls: 1 } }],
    [s, { ...s, run: { ...run, simulated: true } }],
    [s, signalled],
  ];
  const written = changes.map(([one, other]) => {
    const writer = new TurnWriter(() => []);
    const progressOf = (state: RunState) => {
      writer.state = state;
      return writer.write(turn).write.progress;
    };
    const [first, again, then, still] = [one, one, other, other].map(progressOf);
    const before = new Map<string, unknown>(Object.entries(first ?? {}));
    const changed = Object.entries(then ?? {}).filter(([key, value]) => value !== before.get(key));
    return [again, changed, still];
  });
  expect(written).toEqual(
    [
      ["status", "paused"],
      ["final_status", "ERROR"],
      ["input_tokens", 7],
      ["output_tokens", 7],
      ["cost_usd", 0.5],
      ["unknown_cost_calls", 1],
      ["simulated", true],
      ["waits_for", null],
    ].map((change) => [undefined, [change], undefined]),
  );
});
