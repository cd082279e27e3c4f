import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { expectSchema, newApi } from "@/server/http-api/testing";

const counting = draw("start > inc > r; r again> inc; r done> end", {
  inc: {
    output_keys: ["n", "r"],
    config: {
      set: {
        n: "('n' in state ? state.n : 0) + 1",
        r: "('n' in state ? state.n : 0) < 3 ? 'again' : 'done'",
      },
    },
  },
});

async function begin(config: object) {
  const api = newApi(() => "done");
  const workflow = api.workflows.create({ name: "x", graph: counting });
  const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {}, config });
  const run = async () => (await api.ask("GET", `/runs/${body.run_id}`)).body;
  const steer = (what: string, sent: object = {}) => api.ask("POST", `/runs/${body.run_id}/${what}`, sent);
  const stood = () => expect.poll(async () => (await run()).status).toMatch(/paused|finished/);
  return { ...api, id: body.run_id as string, run, steer, stood };
}

test("the API steps through a run", async () => {
  const { run, steer, stood } = await begin({ mode: "step" });
  const stops: string[] = [];
  for (await stood(); (await run()).status === "paused"; await stood()) {
    const { paused_at } = await run();
    stops.push(paused_at.node_id);
    const response = await steer("step");
    expect(response.status).toBe(200);
    expectSchema("stepRun", response.body);
  }
  expect(stops).toEqual(["start", ...["inc", "r", "inc", "r", "inc", "r", "inc", "r"], "end"]);
  expect(await run()).toMatchObject({ final_status: "COMPLETED", paused_at: null, state: { n: 4 } });
});

test("a conditional breakpoint pauses at the matching iteration, and the run is listed as paused", async () => {
  const breakpoint = { on: "node_start", node_id: "inc", condition: "state.n == 2", hit_count: 1 };
  const { run, steer, stood, ask, id } = await begin({ mode: "breakpoint", breakpoints: [breakpoint] });
  await stood();
  const held = await run();
  expectSchema("getRun", held);
  expect([held.status, held.state.n, held.paused_at]).toEqual([
    "paused",
    2,
    {
      point: "node_start",
      node_id: "inc",
      activation_id: "inc#3",
      breakpoint,
      reason: "breakpoint",
      by: "run",
      since: expect.any(Number),
    },
  ]);
  expect((await ask("GET", "/runs?status=paused")).body.runs.map((one: { id: string }) => one.id)).toEqual([
    id,
  ]);
  expect((await steer("resume")).status).toBe(200);
  await stood();
  expect((await run()).final_status).toBe("COMPLETED");
});

test("running to a node pauses before it, and is rejected if the node doesn't exist", async () => {
  const api = newApi(() => "done");
  const workflow = api.workflows.create({ name: "x", graph: counting });
  const start = (config: object) => api.ask("POST", `/workflows/${workflow}/runs`, { input: {}, config });
  const nowhere = await start({ stop_at: "luck" });
  expect([nowhere.status, nowhere.body.error.message]).toEqual([422, 'This workflow has no node "luck".']);
  const { body } = await start({ stop_at: "r" });
  const run = async () => (await api.ask("GET", `/runs/${body.run_id}`)).body;
  await expect.poll(async () => (await run()).status).toBe("paused");
  expect((await run()).paused_at).toMatchObject({ node_id: "r", breakpoint: { once: true } });
});

test("an invalid command is rejected with a message", async () => {
  const { steer, stood, run } = await begin({ mode: "step" });
  await stood();
  const twice = await steer("pause");
  expect([twice.status, twice.body.error]).toEqual([
    409,
    {
      code: "not_now",
      message: "This run is already paused.",
      details: { status: "paused" },
      doc_url: "/docs/errors#not_now",
    },
  ]);
  const nowhere = await steer("breakpoints", { breakpoints: [{ on: "node_start", node_id: "luck" }] });
  expect([nowhere.status, nowhere.body.error.message]).toEqual([409, 'This workflow has no node "luck".']);
  const unread = await steer("breakpoints", { breakpoints: [{ on: "node_start", condition: "state.n ==" }] });
  expect([unread.status, unread.body.error.details.issues[0].at]).toEqual([400, "breakpoints.0.condition"]);
  expect((await steer("step", { granularity: "mile" })).status).toBe(400);
  await steer("resume");
  await expect.poll(async () => (await run()).status).toBe("finished");
  const late = await steer("resume");
  expect([late.status, late.body.error.code]).toEqual([409, "run_ended"]);
});

test("edited state changes the route that a paused run takes", async () => {
  const { run, steer, stood } = await begin({ breakpoints: [{ on: "node_start", node_id: "r" }] });
  await stood();
  expect((await steer("state", { remove: ["luck"] })).status).toBe(409);
  const edited = await steer("state", { set: { r: "done", n: 40 } });
  expectSchema("editRunState", edited.body);
  expect([edited.status, edited.body.state.n]).toEqual([200, 40]);
  await steer("resume");
  await expect.poll(async () => (await run()).final_status).toBe("COMPLETED");
  expect((await run()).nodes.inc.count).toBe(1);
});

test("a skipped node gets the output from the request", async () => {
  const { run, steer, stood } = await begin({ breakpoints: [{ on: "node_start", node_id: "inc" }] });
  await stood();
  expect((await steer("skip", { node_id: "inc", output: { n: 7 } })).body.error.message).toContain(
    '"r" is missing',
  );
  const skipped = await steer("skip", { node_id: "inc", output: { n: 7, r: "done" } });
  expectSchema("skipRunNode", skipped.body);
  expect(skipped.status).toBe(200);
  await steer("resume");
  await expect.poll(async () => (await run()).final_status).toBe("COMPLETED");
  expect((await run()).state.n).toBe(7);
});

test("the API sends an instruction to an agent of a paused run", async () => {
  const api = newApi(({ messages }) => messages.at(-1)?.content ?? "");
  const graph = draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Planner", task_description_template: "Say something." },
    },
  });
  const workflow = api.workflows.create({ name: "x", graph });
  const config = { breakpoints: [{ on: "llm_call" }] };
  const started = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {}, config });
  const at = `/runs/${started.body.run_id}`;
  const run = async () => (await api.ask("GET", at)).body;
  await expect.poll(async () => (await run()).status).toBe("paused");
  const sent = await api.ask("POST", `${at}/inject`, { target: { agent_id: "Planner" }, text: "Be brief." });
  expectSchema("instructRun", sent.body);
  expect([sent.status, sent.body.status]).toEqual([200, "paused"]);
  const nobody = await api.ask("POST", `${at}/inject`, { target: { node_id: "end" }, text: "Be brief." });
  expect([nobody.status, nobody.body.error]).toMatchObject([
    409,
    { code: "not_now", message: "end calls no model, so the message would not be read." },
  ]);
  expect((await api.ask("POST", `${at}/inject`, { target: {}, text: "Be brief." })).status).toBe(400);
  await api.ask("POST", `${at}/resume`, {});
  await expect.poll(async () => (await run()).state.answer).toContain("Be brief.");
});

test("the API retries a failed node, and the ended run continues", async () => {
  let isGone = true;
  const api = newApi(() => {
    if (isGone) throw new Error("The model is gone.");
    return "done";
  });
  const graph = draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Planner", task_description_template: "Say something." },
    },
  });
  const workflow = api.workflows.create({ name: "x", graph });
  const started = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {} });
  const at = `/runs/${started.body.run_id}`;
  const run = async () => (await api.ask("GET", at)).body;
  await expect.poll(async () => (await run()).final_status).toBe("ERROR");
  const wrong = await api.ask("POST", `${at}/retry`, { node_id: "start" });
  expect([wrong.status, wrong.body.error.message]).toEqual([409, "start has not failed (completed)."]);
  isGone = false;
  const sent = await api.ask("POST", `${at}/retry`, { node_id: "ask" });
  expectSchema("retryRunNode", sent.body);
  expect(sent.status).toBe(200);
  await expect.poll(async () => (await run()).final_status).toBe("COMPLETED");
  const late = await api.ask("POST", `${at}/retry`, { node_id: "ask" });
  expect([late.status, late.body.error]).toMatchObject([
    409,
    { code: "run_ended", message: "This run has ended." },
  ]);
});

test("the API overrides the next node of a run", async () => {
  const { run, steer, stood } = await begin({
    breakpoints: [{ on: "node_end", node_id: "r", hit_count: 1 }],
  });
  await stood();
  const sent = await steer("override", { node_id: "r", to: "end" });
  expectSchema("overrideRunNext", sent.body);
  expect(sent.status).toBe(200);
  const nothing = await steer("override", { node_id: "r" });
  expect([nothing.status, nothing.body.error.message]).toEqual([
    409,
    "Specify a node that has started, and what comes next: a node (`to`) or an agent (`agent_id`).",
  ]);
  await steer("resume");
  await expect.poll(async () => (await run()).final_status).toBe("COMPLETED");
  expect((await run()).state.n).toBe(1);
});

test("the API sends a waiting run its signal", async () => {
  const api = newApi(() => "done");
  const graph = draw("start > w > end", {
    w: { node_type: "wait", output_keys: ["amount"], config: { signal: "paid" } },
  });
  const workflow = api.workflows.create({ name: "x", graph });
  const started = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {} });
  const at = `/runs/${started.body.run_id}`;
  const run = async () => (await api.ask("GET", at)).body;
  await expect.poll(async () => (await run()).status).toBe("waiting");
  const waiting = await run();
  expectSchema("getRun", waiting);
  expect(waiting.waiting_for).toEqual([{ for: "signal", node_id: "w", activation_id: "w#1", name: "paid" }]);
  const unknown = await api.ask("POST", `${at}/signals`, { name: "luck" });
  expect([unknown.status, unknown.body.error.code]).toEqual([409, "not_now"]);
  const sent = await api.ask("POST", `${at}/signals`, { name: "paid", data: { amount: 7 } });
  expectSchema("signalRun", sent.body);
  await expect.poll(async () => (await run()).final_status).toBe("COMPLETED");
  expect((await run()).state.amount).toBe(7);
});

test("a command sent with the last step is either applied or rejected", async () => {
  for (let round = 0; round < 8; round++) {
    const { run, steer, stood, ask, id } = await begin({ mode: "step", stop_at: "end" });
    for (await stood(); (await run()).paused_at?.node_id !== "end"; await stood()) await steer("step");
    const replies = await Promise.all([
      steer("step"),
      steer("breakpoints", { breakpoints: [] }),
      steer("inject", { target: { run: true }, text: "Go." }),
      steer("step"),
    ]);
    await stood();
    expect((await run()).status).toBe("finished");
    const { events } = (await ask("GET", `/runs/${id}/events?limit=1000`)).body;
    for (const { status, body } of replies) {
      const named = events.filter((event: { command_id?: string }) => event.command_id === body.command_id);
      if (status === 200) expect([body.applied, named.length]).toEqual([true, 1]);
      else expect([status, body.error?.code]).toEqual([409, expect.stringMatching(/run_ended|not_now/)]);
    }
  }
});

test("a command that a run hasn't applied yet is accepted with its id", async () => {
  const { steer, stood, host, ask } = await begin({ mode: "step" });
  await stood();
  host.steering.command = () => Promise.resolve({ command_id: "control#1", heard: null });
  const response = await steer("step");
  expect([response.status, response.body.command_id, response.body.applied]).toEqual([
    202,
    "control#1",
    false,
  ]);
  const { responses } = (await ask("GET", "/openapi.json")).body.paths["/runs/{id}/step"].post;
  expect([responses[200].description, responses[202].description]).toEqual([
    "Resumed for one step",
    "Accepted, not applied yet",
  ]);
});

test("stepping a run that waits for a paused child run says which run to step", async () => {
  const api = newApi(() => "done");
  const inner = api.workflows.create({ name: "inner", graph: draw("start > t > end") });
  const sub = { node_type: "sub_workflow", config: { workflow_id: inner }, output_keys: ["result"] };
  const outer = api.workflows.create({ name: "outer", graph: draw("start > sub > end", { sub }) });
  const { body } = await api.ask("POST", `/workflows/${outer}/runs`, { config: { mode: "step" } });
  const step = (id: string) => api.ask("POST", `/runs/${id}/step`);
  const is = (id: string, status: string) => expect.poll(() => api.runs.find(id)?.status).toBe(status);
  for (const _node of ["start", "sub"]) {
    await is(body.run_id, "paused");
    await step(body.run_id);
  }
  await expect.poll(() => api.runs.openChildren(body.run_id)).toHaveLength(1);
  const [child = ""] = api.runs.openChildren(body.run_id);
  await is(child, "paused");
  const refused = await step(body.run_id);
  expect([refused.status, refused.body.error.message, refused.body.error.details.child_run]).toEqual([
    409,
    `This run waits for its child run ${child}, which is paused. Send the command to that run: POST /api/v1/runs/${child}/step.`,
    child,
  ]);
  expect((await step(child)).status).toBe(200);
});
