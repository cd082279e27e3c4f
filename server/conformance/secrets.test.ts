import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openDb } from "@/db/open";
import { appRouter } from "@/server/api/root";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { newPublicFetch, type PublicFetch } from "@/server/egress/fetch";
import { newServices } from "@/server/services";
import { writeBackup } from "@/server/store/backup";
import { bringFile } from "@/server/testing/importing";
import { webTools } from "@/server/tools/builtin/web";
import { as, calls, newScriptedStage, role } from "./stage";

// A secret is sent only to its hosts, and its value is stored nowhere else.

const CANARY = "canary-of-a-named-secret-5e71+/";
const ROTATED = "canary-of-a-later-value-90ab";
const SPELLINGS = [CANARY, ROTATED].flatMap((value) => [
  value,
  encodeURIComponent(value),
  Buffer.from(value).toString("base64").replace(/=+$/, ""),
  Buffer.from(value).toString("hex"),
]);

let service: Server;
let port = 0;
let got: { url: string; headers: JsonObject; body: string }[] = [];
let status = 200;
let folder: string;
const written: string[] = [];

/** Echoes the whole request, as careless services do. */
beforeEach(async () => {
  service = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      got.push({ url: request.url ?? "", headers: { ...request.headers } as JsonObject, body });
      response.writeHead(status, { "content-type": "application/json", link: `<${CANARY}>` });
      response.end(JSON.stringify(got.at(-1)));
    });
  });
  await once(service.listen(0, "127.0.0.1"), "listening");
  port = (service.address() as AddressInfo).port;
  got = [];
  status = 200;
  folder = mkdtempSync(path.join(tmpdir(), "troupe-secrets-"));
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
});
afterEach(() => {
  vi.restoreAllMocks();
  service.closeAllConnections();
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

const door = newPublicFetch((address) => address === "127.0.0.1");
const fetch: PublicFetch = (url, init, options) => door(url, init, { ...options, ports: [port] });

function install() {
  const db = openDb(path.join(folder, "troupe.db"));
  const troupe = newServices(db, { dataDir: folder, env: { NODE_ENV: "test" } });
  troupe.roles.seed(builtinRoles);
  for (const tool of webTools({ fetch, openSecret: troupe.secrets.open }))
    if (troupe.registry.unregister(tool.spec.name)) troupe.registry.register(tool);
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "ses_1" } });
  return { db, troupe, ask };
}

const asking = (more: JsonObject = {}) =>
  draw("start > ask > end", {
    ask: {
      node_type: "http_request",
      output_keys: ["response"],
      config: {
        url: `http://127.0.0.1:${port}/hello`,
        headers: { authorization: 'Bearer {"$secret": "KEY"}', "x-basic": { $secret: "KEY" } },
        query: { key: { $secret: "KEY" } },
        ...more,
      },
    },
  });

const missing = (text: string, where: string) => {
  for (const spelling of SPELLINGS) expect(text.includes(spelling), `${where}: ${spelling}`).toBe(false);
};

describe("canary", () => {
  test("the value of a used secret is found nowhere but at the service", async () => {
    const { db, troupe, ask } = install();
    await ask.secrets.create({ name: "KEY", value: CANARY, hosts: ["127.0.0.1"] });
    const id = troupe.workflows.create({ name: "Asks", graph: asking() });
    const frames: unknown[] = [];
    const run = async () => {
      const { run_id } = await ask.runs.start({ workflow_id: id, input: { user_request: "x" } });
      for await (const frame of troupe.host.follow(run_id, 0)) frames.push(frame);
      await troupe.host.settled(run_id);
      return run_id;
    };
    const good = await run();
    expect(got.at(-1)?.headers.authorization).toBe(`Bearer ${CANARY}`);
    expect(new URL(got.at(-1)?.url ?? "", "http://x").searchParams.get("key")).toBe(CANARY);
    expect(troupe.runs.find(good)?.final_status).toBe("COMPLETED");
    status = 500;
    const bad = await run();
    expect(troupe.runs.find(bad)?.final_status).toBe("ERROR");
    status = 200;

    // Rotated, a replay has the recorded answers, and calls nothing.
    const sent = got.length;
    await ask.secrets.change({ name: "KEY", value: ROTATED, hosts: ["127.0.0.1"] });
    const { run_id: replay } = await ask.runs.replay({ run_id: good });
    await troupe.host.settled(replay);
    expect(got.length).toBe(sent);
    expect(troupe.runs.state(replay)?.state.response).toEqual(troupe.runs.state(good)?.state.response);
    const { run_id: fork } = await ask.runs.fork({ run_id: bad, at: { node_id: "ask" }, graph: "latest" });
    await troupe.host.settled(fork);
    const later = await run();
    expect(got.at(-1)?.headers.authorization).toBe(`Bearer ${ROTATED}`);

    const seen: Record<string, unknown> = { frames };
    for (const one of [good, bad, replay, fork, later]) {
      seen[`events of ${one}`] = troupe.runs.events(one, 0, 1e6);
      seen[`shared ${one}`] = await ask.runs.share({ run_id: one });
    }
    seen.exported = await ask.workflows.export({ id });
    seen.listed = await ask.secrets.list();
    seen.found = await ask.runs.list({ search: "canary" });
    seen.audit = await ask.audit.list({});
    for (const [where, what] of Object.entries(seen)) missing(JSON.stringify(what), where);
    expect(JSON.stringify(seen)).toContain("[hidden]");
    expect(JSON.stringify(seen["events of " + good])).toContain('{\\"$secret\\":\\"KEY\\"}');

    for (const file of readdirSync(folder))
      if (file.startsWith("troupe.db")) missing(readFileSync(path.join(folder, file), "latin1"), file);
    const backup = path.join(folder, "all.backup");
    await writeBackup(folder, backup, { withKey: true, force: false, version: "0" });
    expect(existsSync(backup)).toBe(true);
    missing(gunzipSync(readFileSync(backup)).toString("latin1"), "backup");
    missing(written.join("\n"), "log");
    db.$client.close();
  });
});

test("a secret that is missing, or whose host a value decides, stops the run before the call", async () => {
  const { db, troupe, ask } = install();
  await ask.secrets.create({ name: "KEY", value: CANARY, hosts: ["api.example.com"] });
  const id = troupe.workflows.create({ name: "Asks", graph: asking({ url: "{{user_request}}" }) });
  const errorOf = async () => {
    const { run_id } = await ask.runs.start({
      workflow_id: id,
      input: { user_request: `http://127.0.0.1:${port}/` },
    });
    await troupe.host.settled(run_id);
    return troupe.runs.state(run_id)?.activations["ask#1"]?.error?.message;
  };
  expect(await errorOf()).toBe("The secret KEY may only be sent to api.example.com, not to 127.0.0.1.");
  await ask.secrets.change({ name: "KEY", value: CANARY, hosts: ["127.0.0.1"], workflows: ["wf_other"] });
  await expect(errorOf()).rejects.toThrow("may not use the secret");
  await ask.secrets.remove({ name: "KEY" });
  await expect(errorOf()).rejects.toThrow("KEY, which doesn't exist");
  expect(got).toEqual([]);
  db.$client.close();
});

test("a secret that an imported file names is used only once a person has allowed it", async () => {
  const { db, troupe, ask } = install();
  await ask.secrets.create({ name: "KEY", value: CANARY, hosts: ["127.0.0.1"] });
  const { text } = await ask.workflows.export({
    id: troupe.workflows.create({ name: "Asks", graph: asking() }),
  });
  const brought = await bringFile(ask, text);
  const id = brought.workflow_id as string;
  const { problems } = await ask.workflows.validate({ id });
  expect(problems.map(({ message }) => message).join()).toContain("use the secret KEY");
  await expect(ask.runs.start({ workflow_id: id })).rejects.toThrow(/problem/);
  db.$client.close();
});

test("a model, an input and a state value can't have a secret filled in", async () => {
  const open = vi.fn(() => ({ value: CANARY }));
  const said = { $secret: "KEY" };
  const stage = newScriptedStage(
    [
      as(
        "Writer",
        calls({
          tool_name: "http_write",
          args: { url: `http://127.0.0.1:${port}/a`, body: said, headers: { "x-key": '{"$secret":"KEY"}' } },
        }),
      ),
      as("Writer", { text: '{"$secret": "KEY"}' }),
    ],
    webTools({ fetch, openSecret: open }),
  );
  const graph = draw("start > work > send > end", {
    work: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Writer", task_description_template: "do it" },
    },
    send: {
      node_type: "tool_call",
      output_keys: ["sent"],
      config: {
        tool_name: "http_write",
        args: {
          url: `http://127.0.0.1:${port}/b`,
          headers: { $expr: '{"x-key": state.user_request}' },
          body: { $expr: "state.answer" },
        },
      },
    },
  });
  const { state } = await stage.run(graph, {
    roles: [role("Writer", ["http_write"])],
    input: { user_request: '{"$secret": "KEY"}' },
    agrees: true,
  });
  expect(state.run.final_status).toBe("COMPLETED");
  expect(got.map(({ body, headers }) => [body, headers["x-key"]])).toEqual([
    ['{"$secret":"KEY"}', '{"$secret":"KEY"}'],
    ['{"$secret": "KEY"}', '{"$secret": "KEY"}'],
  ]);
  expect(open).not.toHaveBeenCalled();
});
