import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { emptyDb } from "@/db/testing";
import { appRouter } from "@/server/api/root";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { newServer } from "@/server/llm/testing";
import { newServices } from "@/server/services";
import { bringFile, previewImport } from "@/server/testing/importing";

// What must hold of an installation as a whole, whoever wrote the file, the name or the answer that comes in.

const CANARIES = {
  provider: "canary-of-a-provider-6c1d2f",
  search: "canary-of-a-search-91ab37",
  mcp: "Bearer canary-of-mcp-55e0c4",
};

function install(env: Record<string, string> = {}) {
  const db = emptyDb();
  const troupe = newServices(db, { dataDir: null, env: { NODE_ENV: "test", ...env } });
  troupe.roles.seed(builtinRoles);
  const principal = { kind: "session" as const, id: "ses_1" };
  return { db, troupe, ask: appRouter.createCaller({ troupe, principal }) };
}
let here: ReturnType<typeof install>;
beforeEach(() => {
  here = install();
});
afterEach(() => here.troupe.toolSources.mcp.stop());

const oneAgent = (required_role: string) =>
  draw("start > work > end", {
    work: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role, task_description_template: "do it" },
    },
  });

describe("A3: names of object properties", () => {
  test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
    "the name %s refers to no tool, role or server",
    async (name) => {
      const { troupe, ask } = here;
      const output = await ask.tools.tryOut({ name, args: {} });
      expect(output.output).toMatchObject({ status_code: 404 });
      expect(troupe.roles.find(name)).toBeUndefined();
      await expect(ask.roles.get({ name })).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(ask.customTools.get({ name })).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(ask.mcp.refresh({ name })).rejects.toMatchObject({ code: "NOT_FOUND" });
      const workflow_id = troupe.workflows.create({ name: "W", graph: oneAgent(name) });
      await expect(ask.runs.start({ workflow_id })).rejects.toThrow(/role|problem/i);
    },
  );
});

describe("A10: imported files", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "troupe-import-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("servers and commands in imported workflows, roles and crews are ignored", async () => {
    const { troupe, ask } = here;
    const marker = path.join(folder, "pwned");
    const server = { command: "touch", args: [marker] };
    const hostile = {
      mcpServers: { x: server },
      mcp_servers: [{ name: "x", ...server }],
      tools: [{ name: "x", type: "script", description: "x", command: ["touch", marker] }],
    };
    const before = troupe.registry.list().map(({ name }) => name);
    const graph = oneAgent("Writer");
    const files = [
      JSON.stringify({ troupe: 1, name: "W", workflow: { ...graph, ...hostile }, ...hostile }),
      JSON.stringify({ ...graph, ...hostile }),
    ];
    for (const text of files) {
      await previewImport(ask, text);
      await bringFile(ask, text);
    }
    const roles = JSON.stringify({ roles: { R: { name: "R", description: "d", ...hostile } }, ...hostile });
    await previewImport(ask, roles);
    await bringFile(ask, roles, { roles: "replace" });
    const crews = JSON.stringify({
      team: { name: "T", agents: [{ name: "a", role: "R", ...hostile }], ...hostile },
      ...hostile,
    });
    await previewImport(ask, crews);
    await bringFile(ask, crews, { existing: "replace" });
    expect(await ask.mcp.list()).toEqual([]);
    expect(troupe.registry.list().map(({ name }) => name)).toEqual(before);
    expect(existsSync(marker)).toBe(false);
  });

  test("an MCP server can be added only by its address, never by a command", async () => {
    const command = { name: "x", command: "touch", args: ["pwned"] };
    // The types forbid it, too; a program sends what it likes.
    const add = here.ask.mcp.add as (input: unknown) => Promise<unknown>;
    await expect(add(command)).rejects.toMatchObject({ code: "BAD_REQUEST" });
    for (const url of ["file:///bin/sh", "javascript:1", "stdio:touch", "touch pwned"])
      await expect(add({ ...command, url })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect(await here.ask.mcp.list()).toEqual([]);
  });
});

describe("A12 and A13: stored keys", () => {
  const hidden = (text: string, where: string) => {
    for (const canary of [...Object.values(CANARIES), "canary-of-"])
      for (const spelling of [canary, Buffer.from(canary).toString("base64").replace(/=+$/, "")])
        expect(text.includes(spelling), `${where}: ${spelling}`).toBe(false);
  };
  async function seed(base_url: string) {
    const { ask } = here;
    const { id } = await ask.providers.save({
      name: "Ours",
      base_url,
      default_model: "m",
      key: CANARIES.provider,
    });
    await ask.providers.setDefault({ id });
    await ask.toolSettings.save({ purpose: "web", kind: "brave", base_url: "", key: CANARIES.search });
    await ask.mcp.add({ name: "notes", url: "http://127.0.0.1:9/mcp", authorization: CANARIES.mcp });
  }

  test("a stored key appears in no API response, export or database", async () => {
    await seed("http://127.0.0.1:9/v1");
    const { ask, troupe, db } = here;
    const id = troupe.workflows.create({ name: "W", graph: oneAgent("Writer") });
    const questions = {
      providers: await ask.providers.list(),
      searches: await ask.toolSettings.list(),
      mcp: await ask.mcp.list(),
      tools: await ask.tools.list(),
      names: await ask.tools.names(),
      custom: await ask.customTools.list(),
      workflows: await ask.workflows.list(),
      workflow: await ask.workflows.export({ id }),
      roles: await ask.roles.export({ format: "json" }),
      crews: await ask.crews.export({ format: "yaml" }),
      audit: await ask.audit.list({}),
      info: await ask.access.info().catch((error: Error) => error.message),
    };
    for (const [name, answer] of Object.entries(questions)) hidden(JSON.stringify(answer), name);
    hidden(db.$client.serialize().toString("latin1"), "the database");
  });

  test("a stored key does not appear in a run even if the provider repeats it", async () => {
    const service = await newServer(({ headers }, response) => {
      response.writeHead(401, { "content-type": "application/json" });
      const message = `Incorrect API key provided: ${headers.authorization}. Try again with ${CANARIES.provider}.`;
      response.end(JSON.stringify({ error: { message, code: "invalid_api_key" } }));
    });
    try {
      await seed(service.url);
      const { troupe, db } = here;
      const workflow_id = troupe.workflows.create({ name: "W", graph: oneAgent("Writer") });
      const { run_id } = troupe.startRun({ workflow_id, input: {}, trigger: "test" })!;
      await troupe.host.settled(run_id);
      expect(service.requests.length).toBeGreaterThan(0);
      expect(service.requests[0]?.headers.authorization).toBe(`Bearer ${CANARIES.provider}`);
      expect(troupe.runs.find(run_id)).toMatchObject({ final_status: "ERROR" });
      hidden(JSON.stringify(troupe.runs.events(run_id, 0, 1_000)), "events");
      hidden(JSON.stringify(troupe.runs.state(run_id)), "state");
      hidden(db.$client.serialize().toString("latin1"), "the database");
    } finally {
      await service.close();
    }
  });
});

describe("A8: hosts of stored keys", () => {
  const KEYS = /authorization|x-subscription-token|x-api-key|canary/i;

  test.each([301, 302, 303, 307, 308])(
    "a stored key is not sent along a %d redirect to another host",
    async (status) => {
      const thirdParty = await newServer((_request, response) => response.end("{}"));
      const host = await newServer((_request, response) => {
        response.writeHead(status, { location: thirdParty.url });
        response.end();
      });
      const { ask, troupe } = install({ TROUPE_MCP_ALLOWED_HOSTS: new URL(host.url).host });
      try {
        const origin = new URL(host.url).origin;
        const { id } = await ask.providers.save({
          name: "Ours",
          base_url: host.url,
          default_model: "m",
          key: CANARIES.provider,
        });
        await ask.providers.setDefault({ id });
        await ask.toolSettings.save({
          purpose: "web",
          kind: "brave",
          base_url: origin,
          key: CANARIES.search,
        });
        await ask.toolSettings.save({
          purpose: "code",
          kind: "github",
          base_url: origin,
          key: CANARIES.search,
        });
        await ask.mcp.add({ name: "notes", url: `${origin}/mcp`, authorization: CANARIES.mcp });
        for (const name of ["web_search", "code_search"]) {
          const { output } = await ask.tools.tryOut({ name, args: { query: "tea" } });
          expect(output.status_code, name).toBeGreaterThanOrEqual(400);
        }
        const workflow_id = troupe.workflows.create({ name: "W", graph: oneAgent("Writer") });
        const { run_id } = troupe.startRun({ workflow_id, input: {}, trigger: "test" })!;
        await troupe.host.settled(run_id);
        expect(troupe.runs.find(run_id)).toMatchObject({ final_status: "ERROR" });

        // All four came with their keys; nobody went on.
        const sent = host.requests.map(({ headers }) => JSON.stringify(headers)).join("\n");
        for (const key of Object.values(CANARIES)) expect(sent).toContain(key);
        expect(new Set(host.requests.map(({ url }) => url.split("?")[0]))).toEqual(
          new Set(["/v1/chat/completions", "/res/v1/web/search", "/search/code", "/mcp"]),
        );
        expect(thirdParty.requests.filter(({ headers }) => KEYS.test(JSON.stringify(headers)))).toEqual([]);
      } finally {
        await troupe.toolSources.mcp.stop();
        await host.close();
        await thirdParty.close();
      }
    },
  );

  test("a key is dropped when its address is changed to another host", async () => {
    const thirdParty = await newServer((_request, response) => response.end("{}"));
    const { ask, troupe } = install({ TROUPE_MCP_ALLOWED_HOSTS: new URL(thirdParty.url).host });
    try {
      const origin = new URL(thirdParty.url).origin;
      const provider = { name: "Ours", default_model: "m" };
      const { id } = await ask.providers.save({
        ...provider,
        base_url: "http://127.0.0.1:9/v1",
        key: CANARIES.provider,
      });
      await ask.toolSettings.save({
        purpose: "web",
        kind: "brave",
        base_url: "http://127.0.0.1:9",
        key: CANARIES.search,
      });
      await ask.mcp.add({ name: "notes", url: "http://127.0.0.1:9/mcp", authorization: CANARIES.mcp });
      await ask.providers.save({ ...provider, id, base_url: thirdParty.url });
      await ask.providers.setDefault({ id });
      await ask.toolSettings.save({ purpose: "web", kind: "brave", base_url: origin });
      await ask.mcp.add({ name: "notes", url: `${origin}/mcp` });
      await ask.tools.tryOut({ name: "web_search", args: { query: "tea" } });
      const workflow_id = troupe.workflows.create({ name: "W", graph: oneAgent("Writer") });
      const { run_id } = troupe.startRun({ workflow_id, input: {}, trigger: "test" })!;
      await troupe.host.settled(run_id);
      expect(thirdParty.requests.length).toBeGreaterThan(0);
      expect(JSON.stringify(thirdParty.requests)).not.toContain("canary");
    } finally {
      await troupe.toolSources.mcp.stop();
      await thirdParty.close();
    }
  });
});

test("A33: an unexpected error is reported by its code, not by its message", async () => {
  const { troupe } = here;
  const broken = {
    ...troupe,
    workflows: Object.assign(Object.create(troupe.workflows) as typeof troupe.workflows, {
      list: () => {
        throw new Error(`no such table, and the key is ${CANARIES.provider}`);
      },
    }),
  };
  const response = await fetchRequestHandler({
    endpoint: "/api/trpc",
    req: new Request("http://127.0.0.1:3000/api/trpc/workflows.list"),
    router: appRouter,
    createContext: () => ({ troupe: broken, principal: { kind: "session" as const, id: "s" } }),
  });
  expect(response.status).toBe(500);
  const text = await response.text();
  const Shape = z.object({ error: z.object({ message: z.string(), data: z.object({ code: z.string() }) }) });
  expect(Shape.parse(JSON.parse(text)).error).toMatchObject({
    message: "Internal error. See the server log.",
    data: { code: "INTERNAL_SERVER_ERROR" },
  });
  expect(text).not.toMatch(/canary|no such table|stack|\.ts:/);
});

describe("A40: permissions of imported files", () => {
  const asking = (...tools: string[]) => ({ name: "Guest", description: "A guest", tools });
  const files = {
    roles: (role: object) => JSON.stringify({ roles: { Guest: role } }),
    workflows: (role: object) =>
      JSON.stringify({ troupe: 1, name: "W", workflow: oneAgent("Guest"), roles: [role] }),
    crews: (role: object) =>
      JSON.stringify({
        crews: [{ crew_id: "band", agents: [{ agent_id: "ann", role_name: "Guest" }] }],
        roles: [role],
      }),
    agents: (role: object) =>
      JSON.stringify({ agents: [{ agent_id: "ann", role_name: "Guest" }], roles: [role] }),
  };
  type Door = keyof typeof files;
  const tools = () => here.troupe.roles.find("Guest")?.role.tools;

  describe.each(Object.keys(files) as Door[])("a file of %s", (door) => {
    const text = files[door](asking("file_write", "mcp:x/*", "web_search"));

    test("an imported role lists the tools it requests and gets none by default", async () => {
      const { roles } = await previewImport(here.ask, text);
      expect(roles).toMatchObject([{ state: "new", asks: ["file_write", "mcp:x/*", "web_search"] }]);
      expect(tools()).toBeUndefined();
      const { left_out } = await bringFile(here.ask, text);
      expect(left_out).toEqual([{ role: "Guest", tools: ["file_write", "mcp:x/*", "web_search"] }]);
      expect(tools()).toEqual([]);
      expect(here.troupe.audit.list()).toEqual([]);
    });

    test("an imported role gets exactly the requested tools that a person allowed", async () => {
      const allow = ["web_search", "http_request", "mcp:x/send", "*"].map((tool) => `tool:${tool}`);
      const { left_out } = await bringFile(here.ask, text, { allow });
      expect(left_out).toEqual([{ role: "Guest", tools: ["file_write", "mcp:x/*"] }]);
      expect(tools()).toEqual(["web_search"]);
      const granted = here.troupe.audit.list().filter(({ kind }) => kind === "role_tools_changed");
      expect(granted.map(({ detail }) => detail)).toEqual([
        { role: "Guest", added: ["web_search"], removed: [], from: "file" },
      ]);
    });
  });

  test.each(["roles", "workflows"] as const)(
    "a role replaced by a file of %s keeps its tools and gains none",
    async (door) => {
      here.troupe.roles.create(RoleDefinition.parse(asking("web_search", "calculator")));
      const text = files[door](asking("web_search", "file_write"));
      const { roles } = await previewImport(here.ask, text);
      expect(roles).toMatchObject([{ state: "differs", asks: ["file_write"] }]);
      const { left_out } = await bringFile(here.ask, text, { roles: "replace" });
      expect(left_out).toEqual([{ role: "Guest", tools: ["file_write"] }]);
      expect(tools()).toEqual(["web_search"]);
    },
  );

  test.each([
    { allow_tools: ["calculator"], written: [] },
    { allow_tools: ["calculator", "file_write"], written: ["a.md"] },
  ])("a run of an imported workflow uses only allowed tools: $allow_tools", async (one) => {
    const goals = ['[[offline: tool file_write {"path": "a.md", "content": "x"}]] [[offline: text "over"]]'];
    const text = files.workflows({ ...asking("file_write", "calculator"), goals });
    const allow = one.allow_tools.map((tool) => `tool:${tool}`);
    const { workflow_id } = await bringFile(here.ask, text, { allow });
    const { run_id } = here.troupe.startRun({ workflow_id: workflow_id ?? "", input: {}, trigger: "test" })!;
    await here.troupe.host.settled(run_id);
    const state = here.troupe.runs.state(run_id)!;
    expect(Object.values(state.files).map(({ path }) => path)).toEqual(one.written);
    const refused = here.troupe.runs
      .events(run_id, 0, 1e6)
      .filter(({ type }) => type === "tool_call_refused");
    expect(refused).toHaveLength(one.written.length > 0 ? 0 : 1);
  });

  describe("nodes of an imported workflow", () => {
    const file = (more: object = {}) =>
      JSON.stringify({
        troupe: 1,
        name: "Collector",
        workflow: draw("start > keep > ask > sum > end", {
          keep: {
            node_type: "tool_call",
            config: { tool_name: "store_memory", args: { key: "k", value: "from a file", scope: "global" } },
          },
          ask: {
            node_type: "http_request",
            output_keys: ["page"],
            config: { url: "https://collector.example/x" },
          },
          sum: { node_type: "code", output_keys: ["n"], config: { source: "return { n: 1 }" }, ...more },
        }),
      });
    const KEYS = [
      "tool:http_request",
      "tool:store_memory",
      "host:collector.example",
      "code:sum",
      "memory:global",
    ];
    const bringWorkflow = async (text: string, more?: Parameters<typeof bringFile>[2]) => {
      const done = await bringFile(here.ask, text, more);
      return { ...done, workflow_id: done.workflow_id ?? expect.fail("It brought no workflow.") };
    };
    const start = (workflow_id: string) => here.troupe.startRun({ workflow_id, input: {}, trigger: "test" });

    test("imported nodes list what they would use and do not run until it is allowed", async () => {
      const preview = await previewImport(here.ask, file());
      expect(preview.capabilities.map(({ key, had }) => [key, had])).toEqual(KEYS.map((key) => [key, false]));
      const { workflow_id: id, withheld } = await bringWorkflow(file());
      expect(withheld).toEqual(KEYS);
      expect(() => start(id)).toThrow("This workflow can't run yet: it has 5 problems.");
      expect(here.troupe.runs.list()).toEqual([]);
      expect(here.troupe.memories.list({})).toEqual([]);
      // Neither does a copy of it, nor the same thing after it was saved, renamed and brought back from the bin.
      const { id: copy } = await here.ask.workflows.duplicate({ id });
      const { graph, revision } = here.troupe.workflows.find(id)!;
      await here.ask.workflows.save({ id, revision, graph, name: "Other" });
      await here.ask.workflows.remove({ id });
      await here.ask.workflows.restore({ id });
      for (const one of [id, copy])
        expect(() => start(one)).toThrow("This workflow can't run yet: it has 5 problems.");
    });

    test("capabilities of imported nodes can be allowed one by one or all at once", async () => {
      const { workflow_id: id } = await bringWorkflow(file(), { allow: KEYS.slice(1) });
      expect(() => start(id)).toThrow(
        "This workflow can't run yet: \"ask\" would use the tool http_request, which isn't allowed yet in this imported workflow.",
      );
      await here.ask.workflows.allow({ id, allow: ["tool:http_request"] });
      expect((await here.ask.workflows.capabilities({ id })).every(({ allowed }) => allowed)).toBe(true);
      expect(start(id)?.created).toBe(true);
      await here.ask.workflows.allow({ id, withhold: ["code:sum"] });
      expect(() => start(id)).toThrow(
        "This workflow can't run yet: \"sum\" would run its code, which isn't allowed yet in this imported workflow.",
      );
      const notes = here.troupe.audit.list().filter(({ kind }) => kind === "workflow_allowed");
      expect(notes.map(({ detail }) => detail.withheld)).toEqual([["code:sum"], [], ["tool:http_request"]]);
    });

    test("a replaced workflow keeps its allowed capabilities, and changed code needs approval again", async () => {
      const { workflow_id: id } = await bringWorkflow(file(), { allow: KEYS });
      const changed = file({ config: { source: "return { n: 2 }" } });
      const preview = await previewImport(here.ask, changed, { over: id });
      expect(preview.twins).toEqual([{ id, name: "Collector" }]);
      const had = preview.capabilities.flatMap(({ key, had }) => (had ? [key] : []));
      expect(had).toEqual(KEYS.filter((key) => key !== "code:sum"));
      expect(await bringWorkflow(changed, { over: id, allow: had })).toMatchObject({
        workflow_id: id,
        withheld: ["code:sum"],
      });
      expect(here.troupe.workflows.list()).toHaveLength(1);
      expect(() => start(id)).toThrow(
        "This workflow can't run yet: \"sum\" would run its code, which isn't allowed yet in this imported workflow.",
      );
    });
  });
});
