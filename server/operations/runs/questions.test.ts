import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { expectSchema, newApi } from "@/server/http-api/testing";

/** A step whose task waits for a person before it begins. */
const asking = draw("start > crew > end", {
  crew: {
    node_type: "crew_task",
    name: "The crew",
    output_keys: ["result"],
    config: {
      crew: { process: "sequential", agents: [{ agent_id: "ann", role_name: "Writer" }] },
      plan: {
        execution_mode: "step",
        tasks: [{ task_id: "first", description: "do first", assigned_agent: "ann" }],
      } as never,
    },
  },
});

async function twoRuns() {
  const api = newApi(() => "done");
  api.roles.create({ ...api.roles.list()[0]!.role, name: "Writer", tools: [], guardrails: [] });
  const ids: string[] = [];
  const list = async (query = "") => (await api.ask("GET", `/questions${query}`)).body.questions;
  for (const name of ["Ebb", "Tide"]) {
    const workflow = api.workflows.create({ name, graph: asking });
    ids.push((await api.ask("POST", `/workflows/${workflow}/runs`, { input: {} })).body.run_id as string);
    // One asks before the other, so that it comes first.
    await soon(async () => (await list()).length).toBe(ids.length);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { ...api, list, ids };
}

/** A machine under load takes its time. */
const soon: typeof expect.poll = (what) => expect.poll(what, { timeout: 10_000 });

test("the API lists the questions of all runs and answers one with a listed option", async () => {
  const { ask, list, host, ids } = await twoRuns();
  const { body } = await ask("GET", "/questions");
  expectSchema("listQuestions", body);
  const [first, second] = body.questions;
  expect(first).toMatchObject({
    run_id: ids[0],
    workflow_name: "Ebb",
    node_id: "crew",
    node_name: "The crew",
    kind: "review",
    title: expect.any(String),
    why: expect.any(String),
    fingerprint: expect.any(String),
    expires_at: expect.any(Number),
    requested_at: expect.any(Number),
    urgency: "normal",
    assigned_to: null,
    held: null,
    options: [
      { label: "approve", value: "approve" },
      { label: "reject", value: "reject" },
    ],
  });
  const { interaction_id, fingerprint, options } = first;
  const answer = { interaction_id, fingerprint, answer: options[0].value };
  expect((await ask("POST", `/runs/${first.run_id}/answers`, answer)).status).toBe(200);
  await host.settled(ids[0]!);
  expect(await list()).toEqual([second]);
  expect(await ask("POST", `/runs/${first.run_id}/answers`, answer)).toMatchObject({
    status: 409,
    body: { error: { code: "not_open" } },
  });
});

test("the API asks for a manager's missing fact by a form, and takes the answer as its value", async () => {
  const yes = { answer: true, reason: "so" };
  const decision = (message: string, stop: string) => ({
    plan: [],
    current_plan_step: "ask",
    send_to: "User",
    message,
    ledger: { is_request_satisfied: yes, is_in_loop: { ...yes, answer: false }, is_progress_being_made: yes },
    stop,
  });
  const api = newApi(({ messages }) => {
    const [, town] = /<answer>(.*)<\/answer>/.exec(messages.at(-1)!.content) ?? [];
    return JSON.stringify(town ? decision(town, "Completed") : decision("Which town?", "Clarification"));
  });
  const members = ["boss", "bob"].map((agent_id) => ({ agent_id, role_name: "Writer" }));
  const graph = draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      output_keys: ["result"],
      config: { crew: { process: "hierarchical", manager: { agent_id: "boss" }, agents: members } },
    },
  });
  api.roles.create({ ...api.roles.list()[0]!.role, name: "Writer", tools: [], guardrails: [] });
  const workflow = api.workflows.create({ name: "Trip", graph });
  const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {} });
  const open = async () => (await api.ask("GET", "/questions")).body.questions;
  await soon(async () => (await open()).length).toBe(1);
  const [{ interaction_id, fingerprint, ...question }] = await open();
  expect(question).toMatchObject({
    kind: "escalation",
    why: "Which town?",
    options: [],
    response_schema: { type: "object", properties: { message: { type: "string" } } },
  });
  const answer = { interaction_id, fingerprint, value: { message: "Ghent" } };
  expect((await api.ask("POST", `/runs/${body.run_id}/answers`, answer)).status).toBe(200);
  await api.host.settled(body.run_id);
  expect(api.runs.state(body.run_id)?.state.result).toBe("Ghent");
});

test("a listed run shows its answer deadline and not its next reminder", async () => {
  const { ask, list, ids } = await twoRuns();
  const [question] = await list();
  const { runs } = (await ask("GET", "/runs")).body;
  const run = runs.find(({ id }: { id: string }) => id === ids[0]);
  expect(run).toMatchObject({ waits_for: "person", wakes_at: question.expires_at });
});

test("questions are filtered by workflow, kind and person", async () => {
  const { list } = await twoRuns();
  const [, tide] = await list();
  expect(await list(`?workflow_id=${tide.workflow_id}`)).toEqual([tide]);
  expect(await list("?kind=tie")).toEqual([]);
  // What is nobody's in particular, anybody may answer.
  expect(await list("?assigned_to=ann")).toHaveLength(2);
  expect(await list("?expertise=law")).toEqual([]);
});

test("questions are filtered by required expertise", async () => {
  const { ask, workflows } = newApi();
  for (const required_expertise of [["law"], ["taxes", "law"]]) {
    const graph = draw("start > gate; gate approved> end; gate rejected> end", {
      gate: {
        node_type: "approval_gate",
        config: {
          title: `Ask ${required_expertise.join()}`,
          options: ["approved", "rejected"],
          required_expertise,
        },
      },
    });
    await ask("POST", `/workflows/${workflows.create({ name: "Pay", graph })}/runs`, { input: {} });
  }
  const titles = async (query = "") =>
    (await ask("GET", `/questions${query}`)).body.questions.map(({ title }: { title: string }) => title);
  await soon(async () => (await titles()).length).toBe(2);
  expect(await titles("?expertise=taxes")).toEqual(["Ask taxes,law"]);
  expect(await titles("?expertise=law")).toHaveLength(2);
});
