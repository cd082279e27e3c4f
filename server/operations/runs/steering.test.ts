import { describe, expect, test } from "vitest";
import { z } from "zod";
import { NO_DISK } from "@/db/disk";
import { appRouter } from "@/server/api/root";
import type { Json } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { expectSchema, newApi } from "@/server/http-api/testing";
import { fakeTools } from "@/server/runner/testing";
import { defineTool, type ToolScope } from "@/server/tools/define";

type TaskView = Record<
  "task_id" | "description" | "status" | "output" | "started_at" | "completed_at",
  string
> &
  Record<"tokens_used" | "cost_usd", number>;
type PlanView = { node_id: string; status: string; plan: { tasks: TaskView[] } };

/** Two agents of a crew with a written plan, whose first task waits for a person. */
const planned = (tasks = ["first", "second"]) =>
  draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      output_keys: ["result"],
      config: {
        crew: { process: "sequential", agents: [{ agent_id: "ann", role_name: "Writer" }] },
        plan: {
          execution_mode: "step",
          tasks: tasks.map((task_id) => ({ task_id, description: `do ${task_id}`, assigned_agent: "ann" })),
        } as never,
      },
    },
  });

async function begin(graph: WorkflowGraph, config: object = {}, tools?: Parameters<typeof newApi>[1]) {
  const api = newApi(() => "done", tools);
  api.roles.create({ ...api.roles.list()[0]!.role, name: "Writer", tools: [], guardrails: [] });
  const workflow = api.workflows.create({ name: "x", graph });
  const { body, status } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {}, config });
  expect([status, body]).toEqual([202, { run_id: expect.any(String) }]);
  const run = async () => (await api.ask("GET", `/runs/${body.run_id}`)).body;
  const steer = (what: string, sent: object) => api.ask("POST", `/runs/${body.run_id}/${what}`, sent);
  return { ...api, id: body.run_id as string, run, steer };
}

describe("raising a limit", () => {
  test("a run that stopped at a limit continues once the API raises it", async () => {
    const stage = await begin(draw("start > a > b > end"), { max_steps: 2 });
    await stage.host.settled(stage.id);
    const stopped = await stage.run();
    expectSchema("getRun", stopped);
    expect([stopped.final_status, stopped.waiting_for]).toEqual([
      "INCOMPLETE",
      [{ for: "limit", limit: "max_steps" }],
    ]);
    const low = await stage.steer("limits", { limit: "max_steps", to: 2 });
    expect([low.status, low.body.error.code, low.body.error.details]).toEqual([
      409,
      "not_higher",
      { now: 2 },
    ]);
    for (const to of [1e308, 3.5]) {
      const odd = await stage.steer("limits", { limit: "max_steps", to });
      expect([odd.status, odd.body.error.code]).toEqual([422, "no_such_limit"]);
    }
    const other = await stage.steer("limits", { limit: "max_total_tokens", to: 9 });
    expect([other.status, other.body.error.code]).toEqual([409, "not_at_limit"]);
    const raised = await stage.steer("limits", { limit: "max_steps", to: 50 });
    expectSchema("raiseRunLimit", raised.body);
    expect(raised.status).toBe(202);
    await expect.poll(async () => (await stage.run()).final_status).toBe("COMPLETED");
    const { events } = (await stage.ask("GET", `/runs/${stage.id}/events`)).body;
    expect(events.find(({ type }: { type: string }) => type === "run_limit_raised").payload).toEqual({
      limit: "max_steps",
      from: 2,
      to: 50,
      by: expect.stringContaining("API token"),
    });
    expect((await stage.steer("limits", { limit: "max_steps", to: 99 })).status).toBe(409);
    expect((await stage.steer("limits", { limit: "luck", to: 99 })).status).toBe(400);
  });
});

describe("plan edits", () => {
  test("the API changes pending tasks of a plan and returns the result of each task", async () => {
    const stage = await begin(planned());
    await expect.poll(async () => (await stage.run()).waiting_for.length).toBe(1);
    const asking = await stage.run();
    expectSchema("getRun", asking);
    const { questions } = (await stage.ask("GET", `/runs/${stage.id}/questions`)).body;
    expect(asking.waiting_for).toEqual([
      {
        for: "person",
        node_id: "crew",
        activation_id: "crew#1",
        interaction_id: questions[0].interaction_id,
        kind: questions[0].kind,
        until: questions[0].expires_at,
      },
    ]);
    const add = { kind: "add", task: { description: "do third", assigned_agent: "ann", dependencies: [] } };
    // Also where it was before.
    expect((await stage.steer("plans", { edit: add })).status).toBe(202);
    const change = { kind: "change", task_id: "second", patch: { description: "do better" } };
    const changed = await stage.steer("plan", { activation_id: "crew#1", edit: change });
    expect([changed.status, changed.body]).toEqual([
      202,
      { run_id: stage.id, activation_id: "crew#1", command_id: "control#2", applied: true },
    ]);
    expect((await stage.steer("plan", { activation_id: "crew#9", edit: change })).status).toBe(404);
    const wrong = await stage.steer("plan", { edit: { kind: "cancel", task_id: "none" } });
    expect([wrong.status, wrong.body.error.code]).toEqual([409, "plan_not_changed"]);

    await expect
      .poll(async () => {
        const open = (await stage.ask("GET", `/runs/${stage.id}/questions`)).body.questions;
        for (const { interaction_id, fingerprint } of open)
          await stage.steer("answers", { interaction_id, fingerprint, answer: "approve" });
        return (await stage.run()).final_status;
      })
      .toBe("COMPLETED");
    const { plans } = (await stage.ask("GET", `/runs/${stage.id}/plans`)).body;
    expectSchema("listRunPlans", { plans });
    expect(plans.map(({ node_id, status, plan }: PlanView) => [node_id, status, plan.tasks.length])).toEqual([
      ["crew", "completed", 3],
    ]);
    const done = await stage.run();
    expectSchema("getRun", done);
    expect(done.waiting_for).toEqual([]);
    expect(
      done.tasks.map((task: TaskView) => [
        task.task_id,
        task.description,
        task.status,
        task.output,
        task.tokens_used,
      ]),
    ).toEqual([
      ["first", "do first", "completed", "done", 15],
      ["second", "do better", "completed", "done", 15],
      ["task_003", "do third", "completed", "done", 15],
    ]);
    expect(
      done.tasks.every((task: TaskView) => task.cost_usd > 0 && task.started_at && task.completed_at),
    ).toBe(true);
    const late = await stage.steer("plan", { edit: add });
    expect([late.status, late.body.error.code]).toEqual([409, "run_ended"]);
  });
});

describe("crews and agents over the API", () => {
  const crew = { crew_id: "desk", agents: [{ agent_id: "pen", agent_ref: "careful", role_name: "Writer" }] };
  const agent = { agent_id: "careful", role_name: "Writer", backstory: "Once burnt" };

  test("the API creates, replaces and deletes crews and agents, unless they are in use", async () => {
    const api = newApi();
    const made = await api.ask("POST", "/agents", { name: "Careful", agent });
    expectSchema("createAgent", made.body);
    expect([made.status, made.headers.get("location"), made.headers.get("etag")]).toEqual([
      201,
      "/api/v1/agents/careful",
      '"1"',
    ]);
    expect((await api.ask("POST", "/agents", { agent })).body.error.code).toBe("id_taken");
    const { body: desk } = await api.ask("POST", "/crews", { crew });
    expect([desk.id, desk.name, desk.crew.agents[0].backstory]).toEqual(["desk", "desk", "Once burnt"]);

    const calmer = { name: "Calm", agent: { ...agent, backstory: "Calm again" } };
    const replaced = await api.ask("PUT", "/agents/careful", calmer, { "if-match": '"1"' });
    expect([replaced.status, replaced.body.name, replaced.headers.get("etag")]).toEqual([200, "Calm", '"2"']);
    const stale = await api.ask("PUT", "/agents/careful", calmer, { "if-match": '"1"' });
    expect([stale.status, stale.body.error.details]).toEqual([412, { revision: 2 }]);
    const moved = await api.ask("PUT", "/agents/careful", { agent: { ...agent, agent_id: "other" } });
    expect([moved.status, moved.body.error.code]).toEqual([422, "id_fixed"]);
    expect((await api.ask("GET", "/crews/desk")).body.crew.agents[0].backstory).toBe("Calm again");

    const needed = await api.ask("DELETE", "/agents/careful");
    expect([needed.status, needed.body.error.code]).toEqual([409, "agent_in_use"]);
    expect((await api.ask("DELETE", "/crews/desk")).status).toBe(204);
    expect((await api.ask("DELETE", "/agents/careful")).status).toBe(204);
    expect((await api.ask("DELETE", "/agents/careful")).status).toBe(404);
  });

  test("a misspelled field is rejected by name in any request body", async () => {
    const api = newApi();
    const rejection = async (path: string, body: object) => {
      const answer = await api.ask("POST", path, body);
      return [answer.status, answer.body.error.code, answer.body.error.details.issues[0].at];
    };
    expect(await rejection("/agents", { agent: { ...agent, back_story: "x" } })).toEqual([
      400,
      "unknown_field",
      "agent.back_story",
    ]);
    expect(await rejection("/crews", { crew: { ...crew, agents: [{ ...agent, tool: 1 }] } })).toEqual([
      400,
      "unknown_field",
      "crew.agents.0.tool",
    ]);
    expect(await rejection("/roles", { name: "R", goal: "x" })).toEqual([400, "unknown_field", "goal"]);
    expect(await rejection(`/workflows/${api.addApproval()}/runs`, { inputs: {} })).toEqual([
      400,
      "unknown_field",
      "inputs",
    ]);
  });
});

describe("a quarantined run", () => {
  test("a quarantined run shows its reason, rejects other commands, and can be retried", async () => {
    const stage = await begin(draw("start > w > end", { w: { config: { ms: 60_000 } } }));
    const held = {
      ...{ code: "stopped_server" as const, message: "It stopped the server twice." },
      ...{ at: 1, retry_at: 60_001 },
    };
    await expect.poll(async () => (await stage.run()).status).toBe("waiting");
    stage.runs.hold(stage.id, held);
    const run = await stage.run();
    expectSchema("getRun", run);
    expect([run.status, run.held, run.final_status]).toEqual(["held", held, null]);
    expect((await stage.ask("GET", "/health")).body.runs).toEqual({ quarantined: 1, next_retry_at: 60_001 });
    const listed = await stage.ask("GET", "/runs?status=held");
    expectSchema("listRuns", listed.body);
    expect(listed.body.runs).toMatchObject([{ id: stage.id, held }]);
    for (const [what, sent] of [
      ["limits", { limit: "max_steps", to: 900 }],
      ["answers", { interaction_id: "i", fingerprint: "f", answer: "approve" }],
      ["plan", { edit: { kind: "cancel", task_id: "t" } }],
    ] as const) {
      const { status, body } = await stage.steer(what, sent);
      expect([status, body.error.code]).toEqual([409, "run_held"]);
      expect(body.error.message).toContain(held.message);
    }
    const tried = await stage.steer("try-again", {});
    expect(tried.status).toBe(202);
    expectSchema("tryRunAgain", tried.body);
    expect((await stage.run()).held).toBe(null);
    const again = await stage.steer("try-again", {});
    expect([again.status, again.body.error.code]).toEqual([409, "not_held"]);
    expect((await stage.steer("cancel", {})).body.cancelled).toBe(true);
    await expect.poll(async () => (await stage.run()).final_status).toBe("CANCELLED");
  });

  test("a run with a damaged log is returned up to the damage", async () => {
    const stage = await begin(draw("start > a > end"));
    await stage.host.settled(stage.id);
    stage.db.$client
      .prepare("update run_turns set events = '[{' where run_id = ? and turn = 1")
      .run(stage.id);
    // One that has ended is told as far as it is known, with the damage as a warning.
    const known = await stage.ask("GET", `/runs/${stage.id}`);
    expectSchema("getRun", known.body);
    expect([known.status, known.body.final_status]).toEqual([200, "COMPLETED"]);
    expect(known.body.warnings).toEqual([expect.stringMatching(/Turn 1 of this run's log can't be read/)]);
    expect((await stage.ask("GET", `/runs/${stage.id}/events`)).body.events).toHaveLength(1);
    stage.db.$client.prepare("update runs set status = 'running' where id = ?").run(stage.id);
    stage.host.recover();
    await expect.poll(async () => (await stage.run()).held?.code).toBe("damaged_log");
    const { events } = (await stage.ask("GET", `/runs/${stage.id}/events`)).body;
    expect(events[0].type).toBe("run_created");
    expect((await stage.steer("cancel", {})).body.cancelled).toBe(true);
    await expect.poll(() => stage.runs.find(stage.id)?.final_status).toBe("CANCELLED");
  });

  test("a run with a damaged first record is still returned after it is cancelled", async () => {
    const stage = await begin(draw("start > a > end"));
    await stage.host.settled(stage.id);
    const { $client } = stage.db;
    $client.prepare("update run_turns set events = '[{' where run_id = ? and turn = 0").run(stage.id);
    $client.prepare("update runs set status = 'running' where id = ?").run(stage.id);
    stage.host.recover();
    await expect.poll(async () => (await stage.run()).held?.code).toBe("damaged_log");
    expect((await stage.steer("cancel", {})).body.cancelled).toBe(true);
    await expect.poll(() => stage.runs.find(stage.id)?.final_status).toBe("CANCELLED");
    const { status, body } = await stage.ask("GET", `/runs/${stage.id}`);
    expectSchema("getRun", body);
    expect([status, body.id, body.final_status, body.warnings.length]).toEqual([
      200,
      stage.id,
      "CANCELLED",
      1,
    ]);
    for (const part of ["events", "agents", "questions", "plans"])
      expect([part, (await stage.ask("GET", `/runs/${stage.id}/${part}`)).status]).toEqual([part, 200]);
  });
});

describe("a question from an MCP server", () => {
  const asks = {
    from: "travel",
    message: "For whom?",
    schema: {
      type: "object",
      properties: { name: { type: "string", minLength: 2 }, seat: { enum: ["a", "w"], default: "a" } },
      required: ["name"],
    },
  };
  const book = {
    ...defineTool({
      name: "mcp:travel/book",
      description: "Books",
      input: z.object({}),
      source: "mcp",
      risk: "LOW",
      execute: () => null,
    }),
    execute: async (_input: unknown, { answers = [] }: ToolScope) => ({
      status_code: answers.length > 0 ? (200 as const) : (409 as const),
      ...(answers[0] ? { output: (answers[0].content ?? answers[0].action) as Json } : { asks }),
    }),
  };

  test("a question from an MCP server takes an object and reports errors per field", async () => {
    const drawn = draw("start > n > end", {
      n: { id: "n", node_type: "tool_call", output_keys: ["done"], config: { tool_name: "mcp:travel/book" } },
    });
    const stage = await begin(drawn, { confirmation: { kind: "never" } }, fakeTools([book]));
    const open = async () => (await stage.ask("GET", `/runs/${stage.id}/questions`)).body;
    await expect.poll(async () => (await open()).questions.length).toBe(1);
    expectSchema("listRunQuestions", await open());
    const [{ interaction_id, fingerprint, kind, asks: asked }] = (await open()).questions;
    expect([kind, asked]).toEqual(["question", asks]);
    const give = (value: object) => stage.steer("answers", { interaction_id, fingerprint, ...value });
    for (const [value, errors] of [
      [{ answer: "approve" }, [{ key: "name", message: "Required." }]],
      [
        { answer: "approve", content: { name: "A", seat: "roof" } },
        [
          { key: "name", message: expect.stringContaining("2") },
          { key: "seat", message: expect.any(String) },
        ],
      ],
      [{ answer: "approve", content: { name: "Ann", row: 1 } }, [{ key: "row", message: "Unknown field." }]],
      [{ answer: "approve_always" }, [{ key: "answer", message: expect.any(String) }]],
      [{ answer: "reject", content: {} }, [{ key: "content", message: expect.any(String) }]],
    ] as const) {
      const { status, body } = await give(value);
      expect([status, body.error.code, body.error.details.errors]).toEqual([422, "invalid_answer", errors]);
    }
    expect((await give({ answer: "approve", content: { name: "Ann" } })).status).toBe(200);
    await stage.host.settled(stage.id);
    expect((await stage.run()).final_status).toBe("COMPLETED");
    expect(stage.runs.state(stage.id)?.state.done).toEqual({ name: "Ann", seat: "a" });
    expect((await give({ answer: "approve", content: { name: "Ann" } })).status).toBe(409);
  });
});

describe("simultaneous answers to one question", () => {
  const drawn = draw("start > n > end", {
    n: { id: "n", node_type: "tool_call", output_keys: ["done"], config: { tool_name: "send" } },
  });
  const send = defineTool({
    name: "send",
    description: "Sends",
    input: z.object({}),
    source: "builtin",
    risk: "HIGH",
    execute: () => "sent",
  });
  const asked = async () => {
    const tools = fakeTools([send]);
    const stage = await begin(drawn, {}, tools);
    const open = async () => (await stage.ask("GET", `/runs/${stage.id}/questions`)).body.questions;
    await expect.poll(async () => (await open()).length).toBe(1);
    const [{ interaction_id, fingerprint }] = await open();
    return { stage, tools, interaction_id, fingerprint };
  };

  test("the first of several simultaneous answers wins, and the others name it", async () => {
    const { stage, tools, ...question } = await asked();
    const answers = await Promise.all(
      (["reject", "approve", "approve"] as const).map((answer) =>
        stage.steer("answers", { ...question, answer }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const won = answers.findIndex(({ status }) => status === 200);
    await stage.host.settled(stage.id);
    const later = await stage.steer("answers", { ...question, answer: "approve" });
    for (const { status, body } of [...answers.filter((_one, at) => at !== won), later])
      expect([status, body.error.code, body.error.details, body.error.message]).toEqual([
        409,
        "not_open",
        { answered_by: expect.stringContaining("API token"), answer: ["reject", "approve", "approve"][won] },
        expect.stringContaining("has already answered this question (reject"),
      ]);
    expect(tools.calls).toHaveLength(won === 0 ? 0 : 1);
  });

  test("the first of simultaneous answers from the browser and the API wins", async () => {
    for (const isPageFirst of [true, false]) {
      const { stage, tools, ...question } = await asked();
      const { runs: page } = appRouter.createCaller({
        troupe: { runs: stage.runs, host: stage.host, audit: { append: () => 1 }, disk: NO_DISK },
        principal: { kind: "session", id: "s" },
      } as never);
      const byPage = () =>
        page.answer({ run_id: stage.id, ...question, answer: "approve" }).then(() => 200, String);
      const byProgram = () => stage.steer("answers", { ...question, answer: "approve" });
      const [first, second] = isPageFirst ? [byPage, byProgram] : [byProgram, byPage];
      const given = await Promise.all([first(), second()]);
      const [ofPage, ofProgram] = (isPageFirst ? given : given.toReversed()) as [
        number | string,
        Awaited<ReturnType<typeof byProgram>>,
      ];
      const pageWon = ofPage === 200;
      expect(ofProgram.status).toBe(pageWon ? 409 : 200);
      if (pageWon) expect(ofProgram.body.error.message).toContain("Someone in the app");
      else expect(ofPage).toMatch(/API token .* has answered this question already/);
      await stage.host.settled(stage.id);
      expect(tools.calls).toHaveLength(1);
    }
  });
});
