import { expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { RunCommand } from "@/server/domain/run/commands/command";
import type { TeamCommand, TeamEdit } from "@/server/domain/run/commands/team-edit";
import type { ModelRequest } from "@/server/llm/model";
import { newStage } from "../testing";
import { type Case, cases, roles as crewRoles, graphOf, modelsOf } from "./testing";

type Stage = ReturnType<typeof newStage>;

const expert = RoleDefinition.parse({ name: "Expert", description: "knows", tools: ["calculator"] });
const add = (more: Partial<TeamCommand> = {}, settings: object = {}): TeamCommand => ({
  kind: "edit_team",
  node_id: "crew",
  edit: { kind: "add", role_name: "Expert", ...settings },
  role: expert,
  ...more,
});
const edit = (one: TeamEdit, more: Partial<TeamCommand> = {}): TeamCommand => ({
  kind: "edit_team",
  node_id: "crew",
  edit: one,
  ...more,
});
const sendCommand = async (stage: Stage, id: string, command: RunCommand) => {
  const { heard } = await stage.host.steering.command(id, command, "ann");
  return heard === "ended" ? null : heard;
};
const refusal = async (stage: Stage, id: string, command: RunCommand) => {
  const event = (await sendCommand(stage, id, command))?.find(({ type }) => type === "warning");
  return event?.type === "warning" ? event.payload.message : null;
};
const startedIn = (stage: Stage, id: string) =>
  stage.store.events(id, 0, 1e6).flatMap((event) => (event.type === "agent_started" ? [event.agent_id] : []));

/** Runs a crew, and tells it something while a call of its model, the first unless said, is answered. */
async function meanwhile(crew: Case, commands: RunCommand[], { nth = 1, roles = crewRoles } = {}) {
  const models = modelsOf(crew.answer);
  const requests: ModelRequest[] = [];
  const replies: (string | null)[] = [];
  const stage: Stage = newStage({
    models: {
      ...models,
      async complete(request, io) {
        requests.push(request);
        if (requests.length === nth) for (const one of commands) replies.push(await refusal(stage, id, one));
        return models.complete(request, io);
      },
    },
  });
  const id: string = stage.start(graphOf(crew), { roles });
  await stage.host.settled(id);
  const state = stage.store.state(id)!;
  return { replies, order: startedIn(stage, id), state, requests, stage, id };
}

const threeTasks: Case = {
  ...cases.sequential!,
  plan: {
    tasks: [
      { task_id: "first", description: "begin", required_role: "Worker" },
      { task_id: "second", description: "go on", required_role: "Lead", dependencies: ["first"] },
    ],
  },
};

test("a library role can join a running crew and take over a task", async () => {
  const chosen: RunCommand = { kind: "override_agent", activation_id: "crew#1", agent_id: "expert" };
  const {
    replies: replies,
    order,
    state,
    requests,
    stage,
    id,
  } = await meanwhile(threeTasks, [add(), chosen]);
  expect([replies, order, state.run.final_status]).toEqual([[null, null], ["worker", "expert"], "COMPLETED"]);
  expect(state.crews["crew#1"]!.members.map(({ agent_id, role_name }) => [agent_id, role_name])).toEqual([
    ["lead", "Lead"],
    ["worker", "Worker"],
    ["checker", "Checker"],
    ["expert", "Expert"],
  ]);
  expect(requests[1]!.messages[0]!.content).toMatch(/expert \(Expert\): knows/);
  const changed = stage.store.events(id, 0, 1e6).find(({ type }) => type === "member_changed");
  expect(changed).toMatchObject({
    node_id: "crew",
    payload: { agent_id: "expert", action: "added", role: { name: "Expert" }, by: "ann" },
  });
});

/** A manager that gives up on whoever is not there any more. */
const manager: Case = {
  ...cases.hierarchical!,
  answer: (request) => {
    const step = cases.hierarchical!.answer(request);
    const isGone = request.messages.some(({ content }) => /is no longer in your team/.test(content));
    if (!isGone || !("json" in step)) return step;
    return {
      json: {
        ...(step.json as object),
        send_to: "User",
        stop: "Completed",
        ledger: {
          is_request_satisfied: { answer: true, reason: "so" },
          is_in_loop: { answer: false, reason: "no" },
          is_progress_being_made: { answer: true, reason: "so" },
        },
      },
    };
  },
};

test("a removed member gets no further messages, and the manager sees the new team", async () => {
  const {
    replies: replies,
    order,
    state,
    requests,
  } = await meanwhile(manager, [edit({ kind: "remove", agent_id: "worker" })]);
  expect([replies, order, state.run.final_status]).toEqual([[null], ["lead", "lead"], "COMPLETED"]);
  const content = requests[1]!.messages.at(-1)!.content;
  expect(content).toMatch(/worker is no longer in your team/);
  expect(content).toMatch(/Its members are now:\n- checker \(Checker\)/);
});

test("a handoff to a member removed in the meantime has no effect", async () => {
  const { order, state } = await meanwhile(
    {
      ...cases.swarm!,
      answer: (request) =>
        request.messages.some(({ content }) => /no longer in the crew|cannot hand off/.test(content))
          ? { text: "done alone" }
          : cases.swarm!.answer(request),
    },
    [edit({ kind: "remove", agent_id: "worker" })],
  );
  expect([order, state.run.final_status]).toEqual([["lead"], "COMPLETED"]);
});

test("a running agent is notified of team changes and can hand off to the new member", async () => {
  const searching = { id: "c1", tool_name: "search", args: {} };
  const answer: Case["answer"] = ({ messages }) => {
    const who = /You are (\w+)/.exec(messages[0]!.content)![1]!;
    if (who === "Expert") return { text: "the expert's answer" };
    const isNotified = messages.some(({ content }) => content.includes("New team member: expert"));
    return {
      tool_calls: [
        isNotified
          ? { id: "c2", tool_name: "handoff", args: { destination_agent: "expert", reason: "for you" } }
          : searching,
      ],
    };
  };
  const {
    replies: replies,
    order,
    state,
    requests,
  } = await meanwhile({ ...cases.swarm!, answer }, [add(), edit({ kind: "remove", agent_id: "checker" })]);
  expect([replies, order, state.run.final_status]).toEqual([[null, null], ["lead", "expert"], "COMPLETED"]);
  expect(requests[0]!.messages.some(({ content }) => content.includes("expert"))).toBe(false);
  expect(requests[1]!.messages.at(-1)).toEqual({
    role: "user",
    content:
      "A person changed your team while you were working:\n- New team member: expert (Expert): knows\n- checker is no longer in the team.",
  });
});

test("a model change applies from the next call, even at a breakpoint before it", async () => {
  const crew: Case = { ...threeTasks, answer: () => ({ text: "done" }) };
  const models = modelsOf(crew.answer);
  const asked: (string | undefined)[] = [];
  const stage = newStage({
    models: {
      ...models,
      complete(request, io) {
        asked.push(request.llm_config.model);
        return models.complete(request, io);
      },
    },
  });
  const id = stage.start(graphOf(crew), {
    roles: crewRoles,
    config: { breakpoints: [{ on: "llm_call", agent_id: "worker" }] },
  });
  await expect.poll(() => stage.store.find(id)?.status).toBe("paused");
  const patch = { llm_config: { model: "better" }, backstory: "You are thorough." };
  expect(await refusal(stage, id, edit({ kind: "change", agent_id: "worker", patch }))).toBeNull();
  await sendCommand(stage, id, { kind: "resume" });
  await stage.host.settled(id);
  expect(asked).toEqual(["better", undefined]);
});

test("a member's tools can be narrowed but not extended beyond its role", async () => {
  const roles = crewRoles.map((role) =>
    role.name === "Lead" ? { ...role, tools: ["calculator", "web_search"] } : role,
  );
  const change = (tools: string[]) => edit({ kind: "change", agent_id: "lead", patch: { tools } });
  const {
    replies: replies,
    stage,
    id,
  } = await meanwhile(threeTasks, [change(["http_request"]), change(["calculator"])], {
    roles,
  });
  expect(replies).toEqual([
    "The role \"Lead\" can't use http_request. Members can use only their role's tools: choose a role that allows it.",
    null,
  ]);
  const granted = stage.store
    .events(id, 0, 1e6)
    .flatMap((event) =>
      event.type === "agent_started" && event.agent_id === "lead" ? [event.payload.withheld ?? []] : [],
    );
  expect(granted.flat().map(({ tool_name }) => tool_name)).toContain("web_search");
});

test("a program can't make a team change that extends what agents may do", async () => {
  const roles = crewRoles.map((role) => (role.name === "Lead" ? { ...role, tools: ["calculator"] } : role));
  const only = { only_narrows: true as const };
  const { replies } = await meanwhile(
    threeTasks,
    [
      add(only),
      edit({ kind: "change", agent_id: "lead", patch: { tools: [] } }),
      edit({ kind: "change", agent_id: "lead", patch: { tools: null } }, only),
      edit({ kind: "add", role_name: "Lead" }, only),
      edit({ kind: "add", role_name: "Checker" }, only),
      edit({ kind: "change", agent_id: "checker", patch: { llm_config: { model: "small" } } }, only),
    ],
    { roles },
  );
  const person = "Only a signed-in person can do this:";
  expect(replies).toEqual([
    `${person} expert would get tools that no Expert in this crew can use now: calculator.`,
    null,
    `${person} lead would get tools that no Lead in this crew can use now: calculator.`,
    `${person} lead_2 would get tools that no Lead in this crew can use now: calculator.`,
    null,
    null,
  ]);
});

test("an invalid team change is refused with the reason and changes nothing", async () => {
  const rejectionsIn = async (crew: Case, ...edits: (TeamEdit | TeamCommand)[]) => {
    const commands = edits.map((one) => ("node_id" in one ? one : edit(one)));
    const { replies, state } = await meanwhile(crew, commands);
    expect(state.team_changes).toEqual({});
    return replies;
  };
  const out = (agent_id: string) => ({ kind: "remove" as const, agent_id });
  expect(
    await rejectionsIn(
      threeTasks,
      out("worker"),
      out("lead"),
      out("luck"),
      { kind: "add", role_name: "Nobody" },
      { kind: "add", role_name: "Worker", agent_id: "checker" },
      { kind: "change", agent_id: "lead", patch: {} },
      add({ node_id: "end" }),
      add({ node_id: "luck" }),
    ),
  ).toEqual([
    "worker is working. Remove it when it is done, or choose who continues instead.",
    'lead is still assigned to the plan\'s task "second". Reassign it first.',
    'crew has no agent "luck". Its agents: lead, worker, checker.',
    'The library has no role "Nobody".',
    'crew already has an agent "checker".',
    "Specify what to change about lead.",
    "end has no crew.",
    'This workflow has no node "luck".',
  ]);
  expect(await rejectionsIn(cases.hierarchical!, out("lead"))).toEqual([
    "lead leads this crew and can't be removed. Change its model or instructions instead.",
  ]);
  expect(await rejectionsIn(cases["sample and vote"]!, out("worker"), add())).toEqual([
    "One agent gives all of this crew's answers, and they are comparable only if that agent stays the same.",
    "One agent gives all of this crew's answers, and they are comparable only if that agent stays the same.",
  ]);
  expect(await rejectionsIn(cases.custom!, out("checker"))).toEqual([
    "Without checker, the crew couldn't continue: Step “check” is assigned to unknown agent “checker”. Add the agent to the crew, or assign another.",
  ]);
  const alone: Case = {
    crew: { process: "swarm", agents: [{ agent_id: "lead", role_name: "Lead" }] },
    answer: () => ({ text: "done" }),
  };
  expect(await rejectionsIn(alone, out("lead"))).toEqual([
    "lead is the last member of this crew. Add another member first.",
  ]);
  // The first call is the chair's, who puts the proposal; the second is a vote.
  const { replies } = await meanwhile(cases.consensus!, [add(), edit(out("worker"))], { nth: 2 });
  const voting = "Its members are voting. The team can't change until the vote is over.";
  expect(replies).toEqual([voting, voting]);
});

test("a team can be changed before its crew starts", async () => {
  const stage = newStage({ models: modelsOf(threeTasks.answer) });
  const id = stage.start(graphOf(threeTasks), {
    roles: crewRoles,
    config: { breakpoints: [{ on: "node_start", node_id: "crew" }] },
  });
  await expect.poll(() => stage.store.find(id)?.status).toBe("paused");
  expect(await refusal(stage, id, edit({ kind: "remove", agent_id: "checker" }))).toBeNull();
  expect(await refusal(stage, id, add())).toBeNull();
  expect(
    await refusal(stage, id, { kind: "inject", target: { agent_id: "expert" }, text: "Help." }),
  ).toBeNull();
  await sendCommand(stage, id, { kind: "resume" });
  await stage.host.settled(id);
  const { crews, run } = stage.store.state(id)!;
  expect([crews["crew#1"]!.members.map(({ agent_id }) => agent_id), run.final_status]).toEqual([
    ["lead", "worker", "expert"],
    "COMPLETED",
  ]);
});

test("a run with a changed team resumes after a crash and forks with its changes", async () => {
  const held = { breakpoints: [{ on: "llm_call" as const, agent_id: "lead" }] };
  const stage = newStage({ models: modelsOf(threeTasks.answer) });
  const id = stage.start(graphOf(threeTasks), { roles: crewRoles, config: held });
  await expect.poll(() => stage.store.find(id)?.status).toBe("paused");
  expect(await refusal(stage, id, add({}, { agent_id: "ann", llm_config: { model: "fine" } }))).toBeNull();
  expect(await refusal(stage, id, edit({ kind: "remove", agent_id: "checker" }))).toBeNull();
  const before = stage.store.state(id)!;
  const seq = stage.store.events(id, 0, 1e6).at(-1)!.seq;
  const next = newStage({ db: stage.db, models: modelsOf(threeTasks.answer) });
  next.host.recover();
  const { run_id: fork } = next.host.fork({
    run_id: id,
    at: { seq },
    patches: {},
    graph: "original",
    by: "ann",
    trigger: "editor",
  });
  for (const one of [id, fork]) {
    await expect.poll(() => next.store.find(one)?.status).toBe("paused");
    await next.host.steering.command(one, { kind: "resume" }, "ann");
    await next.host.settled(one);
    const { team_changes, crews, run, roles } = next.store.state(one)!;
    expect([team_changes, roles.map(({ name }) => name), run.final_status]).toEqual([
      before.team_changes,
      ["Lead", "Worker", "Checker", "Expert"],
      "COMPLETED",
    ]);
    expect(crews["crew#1"]!.members.map(({ agent_id }) => agent_id)).toEqual(["lead", "worker", "ann"]);
  }
});
