import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { type Api, expectSchema, newApi } from "@/server/http-api/testing";

const ended = (api: Api, run_id: string) => expect.poll(() => api.runs.find(run_id)?.status).toBe("finished");

async function approved() {
  const asked: string[] = [];
  const api = newApi(({ messages }) => {
    asked.push(messages.at(-1)?.content ?? "");
    return '{"approval_status": "approved", "approver_comments": "Enjoy."}';
  });
  const start = await api.ask("POST", `/workflows/${api.addApproval()}/runs`, {
    input: { user_request: "Vacation next week" },
  });
  const { run_id } = start.body as { run_id: string };
  await ended(api, run_id);
  const events = api.runs.events(run_id);
  return { api, asked, run_id, events };
}

test("a fork with changed state takes another route and only calls models for new steps", async () => {
  const { api, asked, run_id, events } = await approved();
  const router = events.find(({ type }) => type === "router_decided")!;
  const before = asked.length;
  const { status, body } = await api.ask("POST", `/runs/${run_id}/fork`, {
    at: { node_id: router.node_id, occurrence: 1 },
    state: { set: { approval_status: "rejected" } },
  });
  expect([status, Object.keys(body as object)]).toEqual([202, ["run_id", "at_seq"]]);
  expectSchema("forkRun", body);
  const fork = body as { run_id: string };
  await ended(api, fork.run_id);
  expect([before, asked.length]).toEqual([2, 3]);
  const same = await api.ask("POST", `/runs/${run_id}/fork`, { at: { node_id: router.node_id } });
  await ended(api, (same.body as { run_id: string }).run_id);
  expect(asked).toHaveLength(3);
  const of = async (id: string) => {
    const answer = await api.ask("GET", `/runs/${id}`);
    return answer.body as {
      state: { approval_status: string };
      origin: object | null;
      cost_usd: number;
      inherited: { cost_usd: number } | null;
    };
  };
  const [was, is] = [await of(run_id), await of(fork.run_id)];
  expectSchema("getRun", is);
  expect([was.state, is.state].map(({ approval_status }) => approval_status)).toEqual([
    "approved",
    "rejected",
  ]);
  expect([was.origin, is.origin, is.inherited?.cost_usd]).toEqual([
    null,
    { kind: "fork", run_id, root: run_id, seq: (body as { at_seq: number }).at_seq },
    0.001,
  ]);
  const family = await api.ask("GET", `/runs/${fork.run_id}/family`);
  expect((family.body as { runs: { id: string }[] }).runs.map(({ id }) => id)).toEqual([
    run_id,
    fork.run_id,
    (same.body as { run_id: string }).run_id,
  ]);
  expect(api.runs.events(run_id)).toEqual(events);
});

test("an invalid fork is rejected with a message", async () => {
  const { api, run_id, events } = await approved();
  const rejection = async (body: object) => {
    const answer = await api.ask("POST", `/runs/${run_id}/fork`, body);
    return [answer.status, (answer.body as { error: { message: string } }).error.message];
  };
  expect(await rejection({ at: { seq: 9999 } })).toEqual([
    409,
    `This run has events 1 to ${events.length}; event 9999 doesn't exist.`,
  ]);
  expect(await rejection({ at: { node_id: "nobody" } })).toEqual([409, "nobody didn't start in this run."]);
  expect(await rejection({ at: { seq: 5 }, state: { remove: ["nothing"] } })).toEqual([
    409,
    "The state has no “nothing” at that point, so it can't be removed.",
  ]);
  expect((await rejection({ at: { seq: 5 }, input: {} }))[0]).toBe(400);
  expect((await rejection({ at: { seq: 5 }, surprise: 1 }))[0]).toBe(400);
  expect((await api.ask("POST", "/runs/run_none/fork", {})).status).toBe(404);
});

test("a strict replay makes no calls and has the same result", async () => {
  const { api, asked, run_id } = await approved();
  const answer = await api.ask("POST", `/runs/${run_id}/replay`, { mode: "strict" });
  expect(answer.status).toBe(202);
  const { run_id: replay } = answer.body as { run_id: string };
  await ended(api, replay);
  const [was, is] = [api.runs.state(run_id)!, api.runs.state(replay)!];
  expect([asked.length, is.run.final_status, is.state, is.run.output, is.totals.cost_usd]).toEqual([
    2,
    "COMPLETED",
    was.state,
    was.run.output,
    0,
  ]);
  expect(api.runs.find(replay)?.origin).toMatchObject({ kind: "replay", run_id });
});

test("a replay reports which manual changes it repeats, before and after it starts", async () => {
  const { api, run_id, events } = await approved();
  const router = events.find(({ type }) => type === "router_decided")!;
  const made = await api.ask("POST", `/runs/${run_id}/fork`, {
    at: { node_id: router.node_id },
    state: { set: { approver_comments: "Soon." } },
    config: { mode: "step" },
  });
  const { run_id: fork } = made.body as { run_id: string };
  await expect.poll(() => api.runs.find(fork)?.status).toBe("paused");
  await api.ask("POST", `/runs/${fork}/state`, { set: { approver_comments: "Later." } });
  await api.ask("POST", `/runs/${fork}/breakpoints`, { breakpoints: [] });
  while (api.runs.find(fork)?.status !== "finished") {
    await expect.poll(() => api.runs.find(fork)?.status).toMatch(/paused|finished/);
    await api.ask("POST", `/runs/${fork}/step`, {});
  }
  const doings = {
    repeats: ["edited the state"],
    not_repeated: ["state edits made at the fork"],
  };
  expect((await api.ask("GET", `/runs/${fork}/recorded`)).body).toMatchObject(doings);
  const replay = await api.ask("POST", `/runs/${fork}/replay`, {});
  expectSchema("replayRun", replay.body);
  expect(replay.body).toMatchObject(doings);
  await ended(api, (replay.body as { run_id: string }).run_id);
});

test("a fork uses the given settings, and a run counts its recorded answers", async () => {
  const { api, run_id, events } = await approved();
  const router = events.find(({ type }) => type === "router_decided")!;
  const at = { node_id: router.node_id };
  const made = await api.ask("POST", `/runs/${run_id}/fork`, { at, config: { mode: "step", max_steps: 50 } });
  const { run_id: fork } = made.body as { run_id: string };
  await expect.poll(() => api.runs.find(fork)?.status).toBe("paused");
  const { run } = api.runs.state(fork)!;
  expect([run.paused_at?.node_id, run.config.mode, run.config.max_steps]).toEqual([
    router.node_id,
    "step",
    50,
  ]);
  const rejection = async (config: object) => {
    const { status, body } = await api.ask("POST", `/runs/${run_id}/fork`, { at, config });
    return [status, (body as { error: { code: string } }).error.code];
  };
  expect(await rejection({ denied_tools: [] })).toEqual([400, "bad_request"]);
  expect(await rejection({ stop_at: "luck" })).toEqual([409, "not_forked"]);
  const recorded = await api.ask("GET", `/runs/${run_id}/recorded`);
  expectSchema("countRecordedAnswers", recorded.body);
  expect(recorded.body).toEqual({ answers: 2, model_calls: 2, repeats: [], not_repeated: [] });
});

test("the runs that a fork took over are listed with those that it started", async () => {
  const api = newApi(({ messages }) => (JSON.stringify(messages).includes("bad") ? "" : "fine"));
  const ask = {
    node_type: "agent_task",
    config: { required_role: "Writer", task_description_template: "Judge {{word}}" },
    output_keys: ["said"],
  };
  const start = (key: string) => ({ node_type: "start", output_keys: [key] });
  const inner = api.workflows.create({
    name: "Inner",
    graph: draw("start > a > end", { start: start("word"), a: ask }),
  });
  const config = {
    ...{ items: "state.words", workflow_id: inner, input: { word: "item" } },
    on_item_error: "collect",
  };
  const map = { node_type: "map", config, output_keys: ["results"] };
  const outer = api.workflows.create({
    name: "Outer",
    graph: draw("start > m > end", { start: start("words"), m: map }),
  });
  const { body } = await api.ask("POST", `/workflows/${outer}/runs`, {
    input: { words: ["good", "bad", "fair"] },
  });
  const { run_id } = body as { run_id: string };
  await ended(api, run_id);
  const forked = await api.ask("POST", `/runs/${run_id}/fork`, { at: { node_id: "m" } });
  const fork = (forked.body as { run_id: string }).run_id;
  await ended(api, fork);
  const childrenOf = async (id: string, query = "") => {
    const { body: listed } = await api.ask("GET", `/runs/${id}/children${query}`);
    expectSchema("listChildRuns", listed);
    return (listed as { runs: { id: string; parent: { run_id: string; item: number } }[] }).runs;
  };
  const [first, , third] = await childrenOf(run_id);
  const [one, two, three] = await childrenOf(fork);
  expect([one?.id, three?.id]).toEqual([first?.id, third?.id]);
  expect([one, two, three].map((child) => child?.parent.run_id)).toEqual([run_id, fork, run_id]);
  expect((await childrenOf(fork, `?after=${one?.id}`)).map(({ id }) => id)).toEqual([two?.id, three?.id]);
  expect((await childrenOf(fork, "?status=completed")).map(({ id }) => id)).toEqual([first?.id, third?.id]);
});
