import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { AgentConfig } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { newNode } from "@/server/domain/nodes/new-node";
import { newServices } from "@/server/services";
import { bringFile, previewImport } from "@/server/testing/importing";
import { appRouter } from "./root";

function newCaller(isKnown = true) {
  const troupe = newServices(emptyDb(), { dataDir: null });
  troupe.roles.seed(builtinRoles);
  const principal = isKnown ? { kind: "session" as const, id: "ses_1" } : null;
  return { troupe, ask: appRouter.createCaller({ troupe, principal }) };
}
const crew = CrewConfig.parse({ agents: [{ agent_id: "a", role_name: "Writer" }] });
const graphWith = (ref: string) =>
  WorkflowGraph.parse({
    graph_id: "g",
    start_node_id: "s",
    nodes: {
      s: { id: "s", node_type: "start", output_keys: ["ask"] },
      c: {
        id: "c",
        node_type: "crew_task",
        output_keys: ["text"],
        config: { plan_description_template: "Go", crew_id_or_config_ref: ref },
      },
      e: { id: "e", node_type: "end" },
    },
    edges: [
      { id: "e1", source_node_id: "s", target_node_id: "c" },
      { id: "e2", source_node_id: "c", target_node_id: "e" },
    ],
  });

test("a crew in use can be deleted only by force, and its workflow's file contains a copy", async () => {
  const { ask, troupe } = newCaller();
  const { id } = await ask.crews.create({ name: "Writing desk", crew });
  expect(id).toBe("writing_desk");
  const workflow = troupe.workflows.create({ name: "W", graph: graphWith(id) });
  expect((await ask.crews.list())[0]?.used_by).toEqual([
    { kind: "workflow", id: workflow, name: "W", node_ids: ["c"] },
  ]);
  await expect(ask.crews.remove({ id })).rejects.toMatchObject({ code: "CONFLICT" });
  const { text } = await ask.workflows.export({ id: workflow });
  expect(text).toContain('"role_name": "Writer"');
  await ask.crews.remove({ id, force: true });
  await expect(ask.crews.remove({ id, force: true })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a run gets a copy of its crew as of its start, and doesn't start without it", async () => {
  const { ask, troupe } = newCaller();
  const { id } = await ask.crews.create({ name: "Desk", crew });
  const workflow_id = troupe.workflows.create({ name: "W", graph: graphWith(id) });
  const started = troupe.startRun({ workflow_id, input: { ask: "Tea" }, trigger: "api" });
  await ask.crews.remove({ id, force: true });
  const first = troupe.runs.events(started!.run_id)[0];
  expect(JSON.stringify(first)).toContain('"role_name":"Writer"');
  expect(() => troupe.startRun({ workflow_id, input: { ask: "Tea" }, trigger: "api" })).toThrow(
    'This workflow can\'t run yet: "c" uses the crew "desk", which isn\'t in the library. Choose another crew, or add its members here.',
  );
  troupe.host.cancel(started!.run_id, { by: "test", reason: "over" });
});

test("an agent of the library works in crews and agent tasks, as of the run's start", async () => {
  const { ask, troupe } = newCaller();
  const agent = AgentConfig.parse({ agent_id: "x", role_name: "Writer", backstory: "Once burnt" });
  const { id } = await ask.agents.create({ name: "Careful writer", agent });
  expect(id).toBe("careful_writer");
  const member = AgentConfig.parse({ agent_id: "pen", agent_ref: id, role_name: "Editor" });
  const desk = await ask.crews.create({ name: "Desk", crew: { ...crew, agents: [member] } });
  expect((await ask.crews.list())[0]?.crew.agents).toEqual([{ ...agent, agent_id: "pen", agent_ref: id }]);
  const graph = graphWith(desk.id);
  graph.nodes.t = newNode("agent_task", {
    id: "t",
    output_keys: ["more"],
    config: { agent_ref: id, task_description_template: "Go" },
  });
  graph.edges.push({ ...graph.edges[0]!, id: "e3", target_node_id: "t" });
  graph.edges.push({ ...graph.edges[1]!, id: "e4", source_node_id: "t" });
  const workflow_id = troupe.workflows.create({ name: "W", graph });
  const [listed] = await ask.agents.list();
  expect(listed?.used_by.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["workflow W", "crew Desk"]);
  await expect(ask.agents.remove({ id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: "This agent is used by 1 workflow and 1 crew.",
  });
  const started = troupe.startRun({ workflow_id, input: { ask: "Tea" }, trigger: "api" });
  await ask.agents.save({ id, revision: 1, name: "Bold", agent: { ...agent, backstory: "Never burnt" } });
  const [first] = troupe.runs.events(started!.run_id);
  expect(JSON.stringify(first).match(/Once burnt/g)).toHaveLength(2);
  await ask.agents.remove({ id, force: true });
  expect(() => troupe.startRun({ workflow_id, input: { ask: "Tea" }, trigger: "api" })).toThrow(
    'This workflow can\'t run yet: "Agent task" uses the agent "careful_writer", which isn\'t in the library. Choose another agent, or use only a role.',
  );
  await ask.agents.restore({ name: "Bold", agent: { ...agent, agent_id: id } });
  troupe.startRun({ workflow_id, input: { ask: "Tea" }, trigger: "api" });
  troupe.host.cancel(started!.run_id, { by: "test", reason: "over" });
});

test("a crew file is previewed, brings its roles, and replaces crews only on request", async () => {
  const { ask, troupe } = newCaller();
  const text = "crew_id: band\nagents:\n  - {name: ann, role: Drummer, goals: [Keep time]}\n";
  const seen = await previewImport(ask, text);
  expect(seen.crews.map(({ crew: found, state }) => [found.crew_id, state])).toEqual([["band", "new"]]);
  expect(troupe.crews.list()).toEqual([]);
  expect(await bringFile(ask, text)).toMatchObject({ created: ["Drummer", "band"] });
  expect(troupe.roles.find("Drummer")).toBeDefined();
  const other = text.replaceAll("ann", "bob");
  expect(await bringFile(ask, other)).toMatchObject({ skipped: ["Drummer", "band"] });
  expect(await bringFile(ask, other, { existing: "replace" })).toMatchObject({ replaced: ["band"] });
  expect(troupe.crews.find("band")).toMatchObject({ name: "Band", crew: { agents: [{ agent_id: "bob" }] } });
  const exported = await ask.crews.export({ format: "yaml" });
  expect((await previewImport(ask, exported.text)).crews[0]?.state).toBe("same");
});

test("agents can be imported without a crew, and a crew is exported with its agents and roles", async () => {
  const { ask, troupe } = newCaller();
  const text =
    "agents:\n  - {agent_id: careful, role: Drummer, goals: [Keep time]}\ncrews:\n" +
    "  - crew_id: band\n    process: swarm\n    agents: [{agent_id: ann, agent_ref: careful, role_name: Drummer}]\n";
  const seen = await previewImport(ask, text);
  expect(seen.agents.map(({ agent, state }) => [agent.agent_id, state])).toEqual([["careful", "new"]]);
  expect(await bringFile(ask, text)).toMatchObject({ created: ["Drummer", "careful", "band"] });
  expect(troupe.agents.find("careful")).toMatchObject({ name: "Careful", agent: { role_name: "Drummer" } });
  const { agent } = troupe.agents.find("careful")!;
  await ask.agents.save({ id: "careful", revision: 1, name: "Careful", agent: { ...agent, max_rpm: 3 } });

  const other = newCaller();
  const file = await ask.crews.export({ ids: ["band"], format: "json" });
  expect(await bringFile(other.ask, file.text)).toMatchObject({
    created: ["Drummer", "careful", "band"],
    findings: [],
  });
  expect(other.troupe.agents.find("careful")?.agent).toEqual({ ...agent, max_rpm: 3 });
  expect(other.troupe.crews.find("band")?.crew.agents[0]).toMatchObject({ max_rpm: 3 });
  expect(other.troupe.roles.find("Drummer")?.role.goals).toEqual(["Keep time"]);

  const alone = await ask.agents.export({ format: "yaml" });
  expect((await previewImport(ask, alone.text)).agents[0]?.state).toBe("same");
  expect(await bringFile(ask, text, { existing: "replace" })).toMatchObject({ replaced: ["careful"] });
});

test("tools are listed with their roles; a trial call is real and audited without its arguments", async () => {
  const { ask, troupe } = newCaller();
  const { tools, crew: crewTools } = await ask.tools.list();
  expect(tools.find(({ name }) => name === "web_search")?.used_by).toContain("Researcher");
  expect(crewTools.find(({ name }) => name === "plan_read")?.used_by).toEqual(["Manager"]);
  const tried = await ask.tools.tryOut({ name: "calculator", args: { expression: "6 * 7" } });
  expect(tried.output).toMatchObject({ status_code: 200, output: { value: 42 } });
  expect((await ask.tools.tryOut({ name: "calculator", args: {} })).output.status_code).toBe(400);
  expect((await ask.tools.tryOut({ name: "nothing", args: {} })).output.status_code).toBe(404);
  const [entry] = troupe.audit.list({ kinds: ["tool_tried_out"] }).slice(-1);
  expect(entry).toMatchObject({ who: "session:ses_1", detail: { tool: "calculator", status_code: 200 } });
  expect(JSON.stringify(troupe.audit.list())).not.toContain("6 * 7");
});

test("memories are searched by prefix and page, and a deletion can be undone once", async () => {
  const { ask, troupe } = newCaller();
  for (const [key, value] of [
    ["tea", "green, not black"],
    ["release", "never on a friday"],
    ["cat", "is called Friedrich"],
  ] as const)
    troupe.memories.store({
      scope: "global",
      scope_id: "",
      key,
      value,
      tainted: true,
      source: { tool_name: "store_memory" },
    });
  const found = await ask.memories.list({ text: "frid" });
  expect(found.memories.map(({ key }) => key)).toEqual(["release"]);
  expect((await ask.memories.list({ text: "fri" })).memories).toHaveLength(2);
  expect((await ask.memories.list({ text: '" OR *' })).memories).toEqual([]);
  const first = await ask.memories.list({ limit: 2 });
  const rest = await ask.memories.list({ limit: 2, cursor: first.next_cursor ?? undefined });
  expect(new Set([...first.memories, ...rest.memories].map(({ key }) => key)).size).toBe(3);
  expect(rest.next_cursor).toBeNull();
  expect(await ask.memories.counts()).toMatchObject({ global: 3, run: 0 });

  const { id, place: _place, ...memory } = found.memories[0]!;
  expect(await ask.memories.update({ id, value: "never on a Monday" })).toMatchObject({ tainted: false });
  await ask.memories.remove({ id });
  await ask.memories.restore(memory);
  await expect(ask.memories.restore(memory)).rejects.toMatchObject({ code: "CONFLICT" });
});

test("the library requires signing in", async () => {
  const { ask } = newCaller(false);
  for (const call of [
    ask.tools.list(),
    ask.tools.tryOut({ name: "calculator", args: {} }),
    ask.memories.list({}),
    ask.crews.list(),
    ask.roles.folder(),
  ])
    await expect(call).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});
