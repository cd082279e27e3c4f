import { expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { writersNode } from "@/server/domain/testing/crew-node";
import { draw } from "@/server/domain/testing/drawing";
import { expectSchema, newApi } from "@/server/http-api/testing";

const crewed = draw("start > crew > end", {
  crew: writersNode(),
});

/** A run that is held before its crew begins. */
async function held() {
  const api = newApi(() => "done");
  for (const role of [
    { name: "Writer" },
    { name: "Reader" },
    { name: "Editor", description: "edits" },
    { name: "Searcher", tools: ["web_search"] },
  ])
    api.roles.put(RoleDefinition.parse(role));
  const workflow = api.workflows.create({ name: "x", graph: crewed });
  const config = { breakpoints: [{ on: "node_start", node_id: "crew" }] };
  const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {}, config });
  const run = async () => (await api.ask("GET", `/runs/${body.run_id}`)).body;
  await expect.poll(async () => (await run()).status).toBe("paused");
  const team = (edit: object, more: object = {}) =>
    api.ask("POST", `/runs/${body.run_id}/team`, { edit, ...more });
  return { ...api, id: body.run_id as string, team, run };
}

test("the API adds a library role to a crew and removes a member", async () => {
  const { team, ask, id, runs, run } = await held();
  const added = await team({ kind: "add", role_name: "Editor", backstory: "You are strict." });
  expect(added.status).toBe(200);
  expectSchema("changeRunTeam", added.body);
  expect((await team({ kind: "remove", agent_id: "bob" }, { node_id: "crew" })).status).toBe(200);
  await ask("POST", `/runs/${id}/resume`, {});
  await expect.poll(async () => (await run()).status).toBe("finished");
  const { crews, team_changes } = runs.state(id)!;
  expect(Object.values(crews)[0]!.members).toEqual([
    { agent_id: "ann", role_name: "Writer" },
    { agent_id: "editor", role_name: "Editor", description: "edits" },
  ]);
  expect(team_changes.crew!.editor!.agent.backstory).toBe("You are strict.");
});

test("invalid and unauthorized team changes are rejected with a message", async () => {
  const { team } = await held();
  const rejection = async (...sent: Parameters<typeof team>) => {
    const { status, body } = await team(...sent);
    return [status, body.error.code, body.error.message];
  };
  expect(await rejection({ kind: "add", role_name: "Searcher" })).toEqual([
    403,
    "person_only",
    "Only a signed-in person can do this: searcher would get tools that no Searcher in this crew can use now: web_search.",
  ]);
  expect(await rejection({ kind: "remove", agent_id: "ann" })).toEqual([
    409,
    "not_now",
    'ann is still assigned to the plan\'s task "write". Reassign it first.',
  ]);
  expect(await rejection({ kind: "add", role_name: "Nobody" })).toEqual([
    409,
    "not_now",
    'The library has no role "Nobody".',
  ]);
  expect(await rejection({ kind: "remove", agent_id: "bob" }, { node_id: "start" })).toEqual([
    409,
    "not_now",
    "start has no crew.",
  ]);
});
