import { describe, expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent, Payloads } from "../events";
import { agentStarted, created, crewRun, fold, of, ready, started } from "../testing";
import { type ForkOrigin, type ForkPatches, writtenAs } from "./lineage";

const line = draw("start > crew > end", { crew: { node_type: "crew_task" } });
const origin = (more: Partial<ForkOrigin> = {}): ForkOrigin => ({
  from_run: "r0",
  root_run: "r0",
  as: "r0",
  at_seq: 1,
  at: 0,
  by: "eve",
  graph: "original",
  patches: {},
  ...more,
});
const forked = (patches: ForkPatches = {}): NewEvent => ({
  type: "run_forked",
  payload: { from_run: "r0", from_seq: 1, patches, graph: "original", by: "eve" },
});
const spent = (input_tokens: number) => ({ ...NO_USAGE, input_tokens, requests: 1 });
const answered = (
  tokens: number,
  cost_usd: number | null,
  more: Partial<Payloads["llm_call_completed"]> = {},
) =>
  of(
    "crew",
    "llm_call_completed",
    {
      content: "x",
      finish_reason: "stop",
      provider: "p",
      model: "m",
      simulated: false,
      usage: spent(tokens),
      cost_usd,
      cost_source: "table",
      latency_ms: 1,
      ttft_ms: 1,
      response_format: "text",
      ...more,
    },
    { agent_id: "ann", call_id: `c${tokens}` },
  );
const begun = (...forks: ForkOrigin[]) => [created(line, { forks }), ready("crew"), started("crew")];

test("costs from before a fork or paid by another run are inherited, not the run's own", () => {
  const s = fold(
    ...begun(origin(), origin()),
    answered(5, 1),
    answered(7, null),
    forked(),
    answered(11, 2),
    answered(2, 0, { reused: { run_id: "r9", usage: spent(100), cost_usd: 3 } }),
    answered(3, 0, { reused: { run_id: "r9", usage: spent(1000), cost_usd: null } }),
    forked(),
  );
  expect(s.run.inherited).toEqual({
    usage: { ...NO_USAGE, input_tokens: 5 + 7 + 11 + 2 + 3 + 1100, requests: 7 },
    cost_usd: 6,
    unknown_cost_calls: 2,
  });
  expect(s.totals.usage).toEqual(NO_USAGE);
  expect(s.totals.cost_usd).toBe(0);
  expect(s.totals.unknown_cost_calls).toBe(0);
  expect(s.run.forked).toBe(2);
  expect(s.run.started_at).toBe(90);
});

describe("a forked run", () => {
  test("a fork continues with the state edits of the person who forked it", () => {
    const state: NewEvent = {
      type: "state_initialized",
      payload: { state: { a: 1, b: 2 }, defaults_applied: [] },
    };
    const s = fold(...begun(origin()), state, forked({ state: { set: { a: 9, c: 3 }, remove: ["b"] } }));
    expect(s.state).toEqual({ a: 9, c: 3 });
    expect(s.writer).toEqual({ a: "person:eve", c: "person:eve" });
    expect(Object.keys(s.versions)).toEqual(["a", "c"]);
  });

  test("a fork applies message edits and ignores those for missing messages", () => {
    const messageAdded = (content: string) =>
      of(
        "crew",
        "message_added",
        { message: { role: "user", content }, origin: "template" },
        { agent_id: "ann" },
      );
    const agent = "crew#1/ann";
    const messages = [
      { agent, at: 1, content: "other" },
      { agent, at: 2, content: "none" },
      { agent: "nobody", at: 0, content: "none" },
    ];
    const s = fold(
      ...begun(origin()),
      agentStarted("ann", "Writer"),
      messageAdded("one"),
      messageAdded("two"),
      messageAdded("three"),
      forked({ messages: messages.slice(0, 1) }),
    );
    expect(s.agents[agent]?.messages.map(({ content }) => content)).toEqual(["one", "other", "three"]);
    const few = fold(
      ...begun(origin()),
      agentStarted("ann", "Writer"),
      messageAdded("one"),
      forked({ messages }),
    );
    expect(few.agents[agent]?.messages).toEqual([{ role: "user", content: "one" }]);
    expect(Object.keys(few.agents)).toEqual([agent]);
  });

  test("a fork to another workflow uses its roles and keeps those of added members", () => {
    const [writer, poet, judge] = ["Writer", "Poet", "Judge"].map((name) => RoleDefinition.parse({ name }));
    const other = draw("start > crew > x > end", { crew: { node_type: "crew_task" } });
    const latest = { graph: other, roles: [{ ...writer!, description: "new" }] };
    const { begin } = crewRun({ members: { ann: "Writer" }, roles: [writer!, judge!] });
    const [first, ...rest] = begin as [NewEvent & { type: "run_created" }, ...NewEvent[]];
    const joined = (agent_id: string, role_name: string | null, role?: RoleDefinition) =>
      of("crew", "member_changed", {
        agent_id,
        action: "added",
        ...(role_name ? { agent: { agent_id, role_name } as never } : {}),
        ...(role ? { role } : {}),
        by: "eve",
      });
    const s = fold(
      { ...first, payload: { ...first.payload, forks: [origin({ latest })] } },
      ...rest,
      joined("bob", "Poet", poet),
      joined("cid", "Writer"),
      joined("ann", null),
      forked(),
    );
    expect([s.graph, s.roles]).toEqual([other, [{ ...writer, description: "new" }, poet]]);
  });

  test("a fork can drop its pins", () => {
    const pins = { crew: { output: {} } };
    const kept = (more: Partial<ForkOrigin>) =>
      fold(created(line, { pins, forks: [origin(more)] }), forked()).run.pins;
    expect([kept({}), kept({ without_pins: true })]).toEqual([pins, undefined]);
  });

  const held = { on: "error" as const };
  const settings = (config: ForkOrigin["config"], more: Partial<Payloads["run_created"]> = {}) => {
    const { run } = fold(
      created(line, {
        can_hold: true,
        forks: [origin(config ? { config } : {})],
        config: { mode: "step" },
        ...(more as object),
      }),
      { type: "breakpoints_set", payload: { breakpoints: [held], by: "eve" } },
      forked(),
    );
    return [run.can_hold, run.stepping, run.breakpoints, run.config.mode, run.config.max_steps];
  };
  test("a fork pauses where the original did unless its config says otherwise", () => {
    const usual = settings(undefined)[4];
    const stop = [{ on: "node_start", node_id: "crew", once: true }];
    expect(settings(undefined)).toEqual([true, "node", [held], "step", usual]);
    expect(settings({ max_steps: 7 })).toEqual([true, "node", [held], "step", 7]);
    expect(settings({ mode: "continuous" })).toEqual([undefined, undefined, undefined, "continuous", usual]);
    expect(settings({ mode: "breakpoint" })).toEqual([true, undefined, undefined, "breakpoint", usual]);
    expect(settings({ breakpoints: [] })).toEqual([true, "node", undefined, "step", usual]);
    expect(settings({ stop_at: "crew" })).toEqual([true, "node", stop, "step", usual]);
  });

  test("a fork writes its log under the ids of its ancestors up to each fork point", () => {
    const forks = [{ as: "r0" }, { as: "r1" }];
    expect(writtenAs({ id: "r2" })).toBe("r2");
    expect(writtenAs({ id: "r2", forks })).toBe("r0");
    expect(writtenAs({ id: "r2", forks, forked: 1 })).toBe("r1");
    expect(writtenAs({ id: "r2", forks, forked: 2 })).toBe("r2");
  });
});
