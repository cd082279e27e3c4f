import { beforeEach, describe, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import type { RunConfig } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import type { RunFrame } from "@/server/runner/log/followers";
import { newServices } from "@/server/services";
import { appRouter } from "./root";

// What the browser asks about runs, without a browser.

const GRAPHS = {
  short: draw("start > end"),
  long: draw("start > w > end", { w: { node_type: "wait", config: { ms: 3_600_000 } } }),
  steps: draw("start > a > b > end", {
    a: { node_type: "wait", config: { ms: 0 } },
    b: { node_type: "wait", config: { ms: 0 } },
  }),
};

function newBrowser() {
  const services = newServices(emptyDb(), { dataDir: null });
  const ask = appRouter.createCaller({ troupe: services, principal: { kind: "session", id: "ses_1" } });
  /** Starts a run of one of the drawings; resolves with its id. */
  const start = async (graph: keyof typeof GRAPHS, config: Partial<RunConfig> = {}) => {
    const { id } = await ask.workflows.create({ name: graph, graph: GRAPHS[graph] });
    return { workflow_id: id, ...(await ask.runs.start({ workflow_id: id, input: {}, config })) };
  };
  const finished = (run_id: string) => services.host.settled(run_id);
  return { services, ask, start, finished };
}
let browser: ReturnType<typeof newBrowser>;
beforeEach(() => {
  browser = newBrowser();
});

test("every command to a missing run is answered with not found", async () => {
  const { ask } = browser;
  const run_id = "run_none";
  const answer = { interaction_id: "x", fingerprint: "x", answer: "approve" } as const;
  const asked = [
    () => ask.runs.get({ run_id }),
    () => ask.runs.cancel({ run_id }),
    () => ask.runs.tryAgain({ run_id }),
    () => ask.runs.remove({ run_id }),
    () => ask.runs.raiseLimit({ run_id, limit: "max_steps", to: 9 }),
    () => ask.runs.answer({ run_id, ...answer }),
  ];
  for (const one of asked) await expect(one(), String(one)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(ask.runs.start({ workflow_id: "wf_none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a start with a used idempotency key returns the same run; with another input it is rejected", async () => {
  const { ask } = browser;
  const { id } = await ask.workflows.create({ name: "short", graph: GRAPHS.short });
  const asked = { workflow_id: id, idempotency_key: "once" };
  const { run_id } = await ask.runs.start(asked);
  expect((await ask.runs.start(asked)).run_id).toBe(run_id);
  await expect(ask.runs.start({ ...asked, input: { other: 1 } })).rejects.toMatchObject({ code: "CONFLICT" });
});

describe("following a run", () => {
  const read = async (run_id: string, lastEventId?: string) => {
    const frames: { id: string; types: string[] }[] = [];
    for await (const tracked of await browser.ask.runs.follow({ run_id, lastEventId })) {
      // Without a wire between, it is as the procedure yields it: the number to go on from, and the frame.
      const [id, frame] = tracked as unknown as [string, RunFrame];
      if (frame.kind === "events") frames.push({ id, types: frame.events.map(({ type }) => type) });
    }
    return frames;
  };

  test("following a run yields every event once, numbered so that a lost connection can resume", async () => {
    const { run_id } = await browser.start("steps");
    const live = await read(run_id);
    const types = live.flatMap((frame) => frame.types);
    expect([types[0], types.at(-1)]).toEqual(["run_created", "run_finished"]);
    expect(Number(live.at(-1)!.id)).toBe(types.length);
    expect((await read(run_id)).flatMap((frame) => frame.types)).toEqual(types);
    expect((await read(run_id, "2")).flatMap((frame) => frame.types)).toEqual(types.slice(2));
    expect((await read(run_id, "nonsense")).flatMap((frame) => frame.types)).toEqual(types);
    expect(await read(run_id, String(types.length))).toEqual([]);
  });

  test("following a missing run is rejected", async () => {
    await expect(read("run_none")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

test("runs are listed by workflow and final status, page by page", async () => {
  const { ask, start, finished } = browser;
  const done = await start("short");
  const waiting = await start("long");
  await finished(done.run_id);
  const ids = async (by: Parameters<typeof ask.runs.list>[0]) =>
    (await ask.runs.list(by)).map(({ id }) => id);
  expect((await ids({})).sort()).toEqual([done.run_id, waiting.run_id].sort());
  expect(await ids({ workflow_id: done.workflow_id })).toEqual([done.run_id]);
  expect(await ids({ final_status: "COMPLETED" })).toEqual([done.run_id]);
  expect(await ids({ final_status: "ERROR" })).toEqual([]);
  const [first] = await ask.runs.list({ limit: 1 });
  const rest = await ids({ after: { value: first!.created_at, id: first!.id } });
  expect([first!.id, ...rest].sort()).toEqual([done.run_id, waiting.run_id].sort());
  await ask.runs.cancel({ run_id: waiting.run_id });
});

test("an active run can be cancelled once, and deleted only then", async () => {
  const { ask, start, finished } = browser;
  const { run_id } = await start("long");
  await expect(ask.runs.remove({ run_id })).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  await ask.runs.cancel({ run_id });
  await finished(run_id);
  expect(await ask.runs.get({ run_id })).toMatchObject({ final_status: "CANCELLED" });
  await expect(ask.runs.cancel({ run_id })).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  await expect(ask.runs.tryAgain({ run_id })).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  await ask.runs.remove({ run_id });
  await expect(ask.runs.get({ run_id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a run that stopped at a limit continues once that limit is raised within its bounds", async () => {
  const { ask, start, finished } = browser;
  const { run_id } = await start("steps", { max_steps: 2 });
  await finished(run_id);
  expect(await ask.runs.get({ run_id })).toMatchObject({ final_status: "INCOMPLETE" });
  const raise = (limit: "max_steps" | "max_total_tokens", to: number) =>
    ask.runs.raiseLimit({ run_id, limit, to });
  await expect(raise("max_total_tokens", 9)).rejects.toThrow(
    "This run didn't stop because of this limit, so raising it has no effect.",
  );
  for (const to of [0, -1, 2.5, 5001]) await expect(raise("max_steps", to), String(to)).rejects.toThrow();
  expect(await ask.runs.get({ run_id })).toMatchObject({ final_status: "INCOMPLETE" });
  await raise("max_steps", 9);
  await finished(run_id);
  expect(await ask.runs.get({ run_id })).toMatchObject({ final_status: "COMPLETED" });
});

test("a limit of an active run can be raised within its bounds", async () => {
  const { ask, start } = browser;
  const { run_id } = await start("long", { max_steps: 10 });
  for (const to of [10.5, 5001])
    await expect(ask.runs.raiseLimit({ run_id, limit: "max_steps", to })).rejects.toThrow(/^max_steps: /);
  await ask.runs.raiseLimit({ run_id, limit: "max_steps", to: 5000 });
  await ask.runs.cancel({ run_id });
});
