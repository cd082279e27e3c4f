import { expect, test } from "vitest";
import { z } from "zod";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { defineTool } from "@/server/tools/define";
import { cases, graphOf, modelsOf, roles } from "../crew/testing";
import { cutAt, fakeModels, fakeTools, newStage, role } from "../testing";

type Stage = ReturnType<typeof newStage>;

const fork = (stage: Stage, run_id: string, more: Partial<Parameters<Stage["host"]["fork"]>[0]> = {}) =>
  stage.host.fork({ run_id, patches: {}, graph: "original", by: "ann", trigger: "test", ...more });

/** What a log says, without what names the run and the moment at which it was written. */
const plain = (events: readonly RunEvent[]) => events.slice(1).map(({ ts: _, ...event }) => event);

const settled = async (stage: Stage, id: string, answer: "approve" | "reject" = "approve") => {
  for (;;) {
    const { status: now, waits_for } = stage.store.find(id)!;
    if (now === "finished") return stage.store.state(id)!;
    if (waits_for === "person")
      for (const { id: question, status, requested } of Object.values(stage.store.state(id)!.interactions))
        if (status === "open")
          stage.host.steering.answer(id, question, requested.fingerprint, { answer, by: "ann" });
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

const counting = () =>
  draw("start > n > r; r again> n; r done> b > end; r more> c > end", {
    n: {
      config: {
        set: {
          n: "('n' in state ? state.n : 0) + 1",
          r: "('n' in state ? state.n : 0) < 3 ? 'again' : 'done'",
        },
      },
      output_keys: ["n", "r"],
    },
  });

const risky = (calls: string[]) =>
  defineTool({
    name: "send",
    description: "Sends",
    input: z.object({ n: z.number() }),
    source: "builtin",
    risk: "HIGH",
    execute: ({ n }) => {
      calls.push(`send ${n}`);
      return `sent ${n}`;
    },
  });

/** A loop of two rounds with an agent, then a crew, then a call that a person has to approve. */
const everything = () => {
  const { nodes, edges } = graphOf(cases.parallel!);
  const crew = Object.values(nodes).find(({ node_type }) => node_type === "crew_task")!;
  expect(edges.length).toBeGreaterThan(0);
  return draw("start > a > n > r; r again> a; r done> crew > send > end", {
    a: {
      node_type: "agent_task",
      config: { required_role: "Worker", task_description_template: "Round {{ n }}" },
      output_keys: ["said"],
    },
    n: {
      config: {
        set: {
          n: "('n' in state ? state.n : 0) + 1",
          r: "('n' in state ? state.n : 0) < 1 ? 'again' : 'done'",
        },
      },
      output_keys: ["n", "r"],
    },
    crew: { node_type: "crew_task", config: crew.config as never, output_keys: ["made"] },
    send: { node_type: "tool_call", config: { tool_name: "send", args: { n: 1 } } },
  });
};

test("a fork at any turn matches the original up to there and, if unchanged, ends the same", async () => {
  const sent: string[] = [];
  const models = modelsOf(cases.parallel!.answer);
  const stage = newStage({ models, tools: fakeTools([risky(sent)]) });
  const id = stage.start(everything(), { roles });
  const original = await settled(stage, id);
  expect([original.run.error, original.run.final_status, sent]).toEqual([undefined, "COMPLETED", ["send 1"]]);
  const before = stage.store.events(id, 0, 1e6);
  const asked = models.asked.length;

  for (const { lastSeq } of stage.store.journal(id).turns) {
    const { run_id, at_seq } = fork(stage, id, { at: { seq: lastSeq } });
    const state = await settled(stage, run_id);
    const made = stage.store.events(run_id, 0, 1e6);
    expect(plain(made.slice(0, at_seq))).toEqual(plain(before.slice(0, at_seq)));
    expect(made.map(({ seq }) => seq)).toEqual(made.map((_, at) => at + 1));
    expect([state.run.final_status, state.state, state.run.output]).toEqual([
      original.run.final_status,
      original.state,
      original.run.output,
    ]);
    expect(stage.store.journal(run_id).turns.length).toBeGreaterThan(0);
  }
  expect(models.asked).toHaveLength(asked);
  expect(stage.store.events(id, 0, 1e6)).toEqual(before);
});

test("a fork continues with the edited state, and the original stays unchanged", async () => {
  const stage = newStage();
  const { id, events } = await stage.run(counting());
  const { run_id, at_seq } = fork(stage, id, {
    at: { node_id: "r", occurrence: 2 },
    patches: { state: { set: { r: "more", kept: [1] }, remove: ["n"] } },
  });
  const state = await settled(stage, run_id);
  expect([
    state.run.final_status,
    Object.keys(state.nodes).filter((node) => state.nodes[node]!.count > 0),
  ]).toEqual(["COMPLETED", ["start", "n", "r", "c", "end"]]);
  expect([state.state, state.writer.kept]).toEqual([{ r: "more", kept: [1], c: "c" }, "person:ann"]);
  const made = stage.store.events(run_id);
  expect(made[at_seq]).toMatchObject({
    type: "run_forked",
    payload: { from_run: id, from_seq: at_seq, graph: "original", by: "ann" },
  });
  expect(made[at_seq + 1]).toMatchObject({ type: "node_started", activation_id: "r#2" });
  expect(stage.store.events(id)).toEqual(events);
  expect(stage.store.find(run_id)?.origin).toEqual({ kind: "fork", run_id: id, root: id, seq: at_seq });
});

const asking = (text = "tell") =>
  draw("start > a > b > end", {
    a: { node_type: "agent_task", config: { required_role: "Worker", task_description_template: "first" } },
    b: { node_type: "agent_task", config: { required_role: "Worker", task_description_template: text } },
  });

test("inherited costs are shown separately and count toward no budget", async () => {
  const models = fakeModels(({ messages }) => `said ${messages.length}`);
  const stage = newStage({ models });
  const config = { budget: { max_total_tokens: 45, warn_at: 1, mode: "hard" as const } };
  const { id } = await stage.run(asking(), { roles: [role("Worker")], config });
  expect(models.requests).toHaveLength(2);

  const same = await settled(stage, fork(stage, id, { at: { node_id: "b" } }).run_id);
  expect(models.requests).toHaveLength(2);
  expect([same.run.final_status, same.totals.cost_usd, same.run.inherited]).toMatchObject([
    "COMPLETED",
    0,
    { cost_usd: 0.002, unknown_cost_calls: 0, usage: { input_tokens: 20, output_tokens: 10, requests: 2 } },
  ]);

  const messages = same.agents["b#1/Worker"]!.messages;
  const at = messages.length - 2;
  const other = await settled(
    stage,
    fork(stage, id, {
      at: {
        seq:
          stage.store.events(id).find(({ type, node_id }) => type === "llm_call_started" && node_id === "b")!
            .seq - 1,
      },
      patches: { messages: [{ agent: "b#1/Worker", at, content: "Say it in French." }] },
    }).run_id,
  );
  expect(models.requests).toHaveLength(3);
  expect(models.requests[2]!.messages.at(-1)).toMatchObject({ role: "user", content: "Say it in French." });
  expect([other.run.final_status, other.totals.cost_usd, other.run.inherited!.cost_usd]).toEqual([
    "COMPLETED",
    0.001,
    0.001,
  ]);
  expect(other.agents["b#1/Worker"]!.messages[at]).toMatchObject({ content: "Say it in French." });
});

test("a fork repeats a call with side effects only if a person approves it", async () => {
  const sent: string[] = [];
  const stage = newStage({ tools: fakeTools([risky(sent)]) });
  const id = stage.start(
    draw("start > send > end", {
      send: { node_type: "tool_call", config: { tool_name: "send", args: { n: 1 } }, output_keys: ["sent"] },
    }),
  );
  await settled(stage, id);
  const at = { seq: stage.store.events(id).find(({ type }) => type === "tool_call_started")!.seq };
  const ask = async (answer: "approve" | "reject") => {
    const { run_id } = fork(stage, id, { at });
    const { run, interactions, state } = await settled(stage, run_id, answer);
    const asked = Object.values(interactions).map(({ requested: { title }, answered }) => [
      title,
      answered?.answer,
    ]);
    return { status: run.final_status, sent: state.sent, asked };
  };
  expect(await ask("reject")).toEqual({
    status: "COMPLETED",
    sent: "sent 1",
    asked: [
      ["send is about to use send", "approve"],
      ["Call send again?", "reject"],
    ],
  });
  expect(sent).toEqual(["send 1"]);
  await ask("approve");
  expect(sent).toEqual(["send 1", "send 1"]);
});

test("a fork asks an open question again with its remaining time, but no answered question", async () => {
  const sent: string[] = [];
  const stage = newStage({ tools: fakeTools([risky(sent)]) });
  const send = { node_type: "tool_call", config: { tool_name: "send", args: { n: 1 } } };
  const id = stage.start(draw("start > s1 > s2 > end", { s1: send, s2: send }));
  await settled(stage, id, "approve");
  const events = stage.store.events(id);
  const [, second] = events.filter(({ type }) => type === "interaction_requested");
  const { run_id } = fork(stage, id, { at: { seq: second!.seq } });
  await expect.poll(() => stage.store.find(run_id)!.waits_for).toBe("person");
  const open = Object.values(stage.store.state(run_id)!.interactions);
  expect(open.map(({ id: name, status }) => [name, status])).toEqual([
    ["s1#1/1/tool", "answered"],
    ["s2#1/1/tool", "open"],
  ]);
  expect(open[1]!.requested.expires_at).toBeGreaterThanOrEqual(
    (second as RunEventOf<"interaction_requested">).payload.expires_at,
  );
  await settled(stage, run_id, "reject");
  expect(stage.store.state(run_id)!.run.reason_code).toBe("HUMAN_REJECTED");
  expect(sent).toEqual(["send 1", "send 1"]);
});

test("a fork on the current workflow follows it, and is rejected if an active node is missing", async () => {
  const stage = newStage();
  const { id } = await stage.run(draw("start > a > b > end"));
  const latest = (text: string) => ({
    graph: "latest" as const,
    latest: { graph: draw(text), roles: [] },
    at: { node_id: "b" },
  });
  const { state, run } = await settled(stage, fork(stage, id, latest("start > a > b > c > end")).run_id);
  expect([run.final_status, state]).toEqual(["COMPLETED", { a: "a", b: "b", c: "c" }]);
  expect(() => fork(stage, id, latest("start > a > d > end"))).toThrow(
    "b is active or queued at that point, but the current workflow has no b.",
  );
  const failed = await stage.run(
    draw("start > a > b > end", { b: { config: { set: { b: "state.missing.deeper" } } } }),
  );
  expect(failed.state.run.final_status).toBe("ERROR");
  const mended = await settled(stage, fork(stage, failed.id, latest("start > a > b > end")).run_id);
  expect([mended.run.final_status, mended.state]).toEqual(["COMPLETED", { a: "a", b: "b" }]);
});

test("a fork of a fork resumes after a crash at any turn and ends the same", async () => {
  const stage = newStage();
  const { id } = await stage.run(counting());
  const one = fork(stage, id, {
    at: { node_id: "n", occurrence: 2 },
    patches: { state: { set: { n: -5 }, remove: [] } },
  });
  await settled(stage, one.run_id);
  const two = fork(stage, one.run_id, {
    at: { node_id: "b" },
    patches: { state: { set: { more: 1 }, remove: [] } },
  });
  const whole = await settled(stage, two.run_id);
  expect([whole.run.final_status, whole.state]).toEqual(["COMPLETED", { n: 4, r: "done", b: "b", more: 1 }]);
  expect(stage.store.events(two.run_id).filter(({ type }) => type === "run_forked")).toHaveLength(2);
  expect(stage.store.family(id).map(({ id: run, origin }) => [run, origin?.run_id])).toEqual([
    [id, undefined],
    [one.run_id, id],
    [two.run_id, one.run_id],
  ]);

  const { turns } = stage.store.journal(two.run_id);
  for (let kept = 1; kept < turns.length; kept++) {
    const again = newStage({ db: cutAt(stage, two.run_id, kept) });
    again.host.recover();
    const state = await settled(again, two.run_id);
    expect([kept, state.run.final_status, state.state]).toEqual([kept, "COMPLETED", whole.state]);
  }
});

test("a fork can start from the beginning with another input, or just before an end or a limit", async () => {
  const stage = newStage();
  const first = await stage.run(draw("start > a > end", { a: { config: { set: { a: "state.n + 1" } } } }), {
    input: { n: 1 },
  });
  const again = await settled(stage, fork(stage, first.id, { input: { n: 5 } }).run_id);
  expect([first.state.state.a, again.state.a, again.input]).toEqual([2, 6, { n: 5 }]);
  const last = first.events.at(-1)!.seq;
  expect(fork(stage, first.id, { at: { seq: last } }).at_seq).toBe(last - 1);
  expect(() => fork(stage, first.id, { at: { seq: last + 1 } })).toThrow(`events 1 to ${last};`);
  expect(() => fork(stage, first.id, { at: { node_id: "a", occurrence: 2 } })).toThrow(
    "started once in this run",
  );
});

test("a fork takes along files and memories as they were at that point", async () => {
  const stage = newStage();
  const workspace = new WorkspaceStore(stage.db);
  const { id } = await stage.run(asking(), { roles: [role("Worker")] });
  const keys = stage.store.journal(id).turns.flatMap(({ key }) => key ?? []);
  const [early, late] = [
    keys.find((key) => key.startsWith("a#1"))!,
    keys.find((key) => key.startsWith("b#1"))!,
  ];
  const write = (name: string, key: string, text: string) =>
    workspace.write(id, name, text, { writtenBy: `${id}/${key}` });
  const { artifact_id } = write("plan.md", early, "one");
  write("plan.md", late, "two");
  const { run_id } = fork(stage, id, { at: { node_id: "b" } });
  expect(workspace.versions(run_id, "plan.md").map(({ version }) => version)).toEqual([1]);
  expect(workspace.read(run_id, { artifact_id })?.content).toBe("one");
  expect(workspace.read(id, { path: "plan.md" })?.content).toBe("two");
});

test("a replay takes all answers from the log; without an answer, strict fails and lenient asks", async () => {
  const sent: string[] = [];
  const models = fakeModels(() => "an answer");
  const stage = newStage({ models, tools: fakeTools([risky(sent)]) });
  const id = stage.start(
    draw("start > a > send > end", {
      a: { node_type: "agent_task", config: { required_role: "Worker", task_description_template: "first" } },
      send: { node_type: "tool_call", config: { tool_name: "send", args: { n: 1 } } },
    }),
    { roles: [role("Worker")] },
  );
  const original = await settled(stage, id);
  const replay = (mode: "strict" | "lenient") => fork(stage, id, { replay: mode }).run_id;
  const ended = async (run_id: string) => {
    await expect.poll(() => stage.store.find(run_id)!.status).toBe("finished");
    return stage.store.state(run_id)!;
  };
  for (const mode of ["strict", "lenient"] as const) {
    const { run, state } = await ended(replay(mode));
    expect([run.final_status, state]).toEqual(["COMPLETED", original.state]);
  }
  expect([models.requests.length, sent]).toEqual([1, ["send 1"]]);

  // As a run from before requests were recorded.
  stage.db.$client
    .prepare("update run_turns set result = json_remove(result, '$.request') where run_id = ?")
    .run(id);
  const { run } = await ended(replay("strict"));
  expect([run.final_status, run.error?.message]).toEqual([
    "ERROR",
    "This strict replay reached a call that was never recorded. Strict replays make no new calls. The original run predates the recording of requests or made no requests, so none of its answers can be reused.",
  ]);
  expect([models.requests.length, sent]).toEqual([1, ["send 1"]]);
  const asked = await settled(stage, replay("lenient"));
  expect(Object.values(asked.interactions).map(({ requested }) => requested.title)).toEqual([
    "Call a model?",
    "send is about to use send",
    "Call send?",
  ]);
  expect([asked.run.final_status, models.requests.length, sent]).toEqual([
    "COMPLETED",
    2,
    ["send 1", "send 1"],
  ]);
});

test("a fork follows its own pause settings and limits, not those of its original", async () => {
  const stage = newStage();
  const { id, events } = await stage.run(counting());
  const first = events.find(({ type, node_id }) => type === "node_completed" && node_id === "n")!;
  const at = { seq: first.seq };
  const stopsOf = async (config: NonNullable<Parameters<typeof fork>[2]>["config"]) => {
    const { run_id } = fork(stage, id, { at, config });
    const stops: (string | undefined)[] = [];
    for (;;) {
      await expect.poll(() => stage.store.find(run_id)?.status).toMatch(/paused|finished/);
      const { run } = stage.store.state(run_id)!;
      if (run.status === "finished") return [stops, run.reason_code];
      stops.push(run.paused_at?.node_id);
      await stage.host.steering.command(run_id, { kind: "resume" }, "ann");
    }
  };
  expect(
    await stopsOf({ breakpoints: [{ on: "node_start", node_id: "n", condition: "state.n == 2" }] }),
  ).toEqual([["n"], "END_REACHED"]);
  expect(await stopsOf({ mode: "step" })).toEqual([["r"], "END_REACHED"]);
  expect(await stopsOf({ stop_at: "b" })).toEqual([["b"], "END_REACHED"]);
  // Two node runs were the original's, and four are left.
  expect(await stopsOf({ max_steps: 4 })).toEqual([[], "MAX_STEPS"]);
  expect(() => fork(stage, id, { at, config: { stop_at: "luck" } })).toThrow(
    'This workflow has no node "luck".',
  );
});
