import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { writeWorkflow } from "@/server/domain/graph/document/document";
import { draw } from "@/server/domain/testing/drawing";
import { newApi } from "@/server/http-api/testing";
import { deployCommand } from "./deploy-command";

let folder: string;
let there: ReturnType<typeof newApi>;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "troupe-deploy-"));
  there = newApi();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const graphOf = (template: string) =>
  draw("start > ask > end", {
    ask: {
      node_type: "http_request",
      output_keys: ["answer"],
      config: { url: template, headers: { authorization: 'Bearer {"$secret": "KEY"}' } },
    },
  });
const fileOf = (graph: ReturnType<typeof graphOf>, roles: RoleDefinition[] = [], name = "Daily report") => {
  const file = path.join(folder, "report.json");
  writeFileSync(file, writeWorkflow(graph, { flavour: "troupe", name, roles }));
  return file;
};

async function deploy(
  file: string,
  options: readonly string[] = ["--yes"],
  answer?: string,
  { to = "https://troupe.example", from = ["--token-env", "THEIR_TOKEN"], env = {} } = {},
) {
  const tokens = new Set<string>();
  let out = "";
  let err = "";
  const asked: string[] = [];
  const code = await deployCommand(
    [file, "--to", to, ...from, ...options],
    {
      out: (text) => void (out += text),
      err: (text) => void (err += text),
      screen: { write() {}, colours: false },
      isInteractive: answer !== undefined,
      ask: async () => answer ?? "",
    },
    {
      env: { THEIR_TOKEN: "good", TROUPE_API_TOKEN: "own", ...env },
      send: async (url, { method = "GET", body, headers }) => {
        asked.push(`${method} ${url.pathname}`);
        const sent = headers as Record<string, string>;
        tokens.add(sent.authorization ?? "");
        return there.send(method, `${url.pathname.replace("/api/v1", "")}${url.search}`, body ?? undefined, {
          ...sent,
          authorization: "Bearer good",
        });
      },
    },
  );
  return { code, out, err, asked, tokens: [...tokens] };
}

const changes = (asked: readonly string[]) => asked.filter((one) => !one.startsWith("GET"));

test("creates and publishes a new workflow", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  const { code, out, err } = await deploy(fileOf(graphOf("https://a.example/")));
  const [saved] = there.workflows.list();
  expect({ code, name: saved?.name, err }).toEqual({
    code: 0,
    name: "Daily report",
    err: expect.stringContaining("“Daily report” will be created."),
  });
  expect(out).toBe(`Published “Daily report” (${saved?.id}) as version 1.\n`);
});

test("shows the differences before it replaces and publishes the draft", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  await deploy(fileOf(graphOf("https://a.example/")));
  const file = fileOf(graphOf("https://a.example/new"));
  const declined = await deploy(file, [], "n");
  expect([declined.code, changes(declined.asked)]).toEqual([1, []]);
  expect(declined.err).toContain("Changes to the draft of “Daily report”:");
  expect(declined.err).toContain("- https://a.example/");
  expect(declined.err).toContain("+ https://a.example/new");
  const { code, out } = await deploy(file, [], "y");
  expect([code, out]).toEqual([0, expect.stringContaining("as version 2")]);
  expect(there.workflows.list()).toHaveLength(1);
});

test("names missing secrets before anything changes", async () => {
  const file = fileOf(graphOf("https://a.example/"));
  await expect(deploy(file)).rejects.toThrow(
    "Missing at https://troupe.example: the secret KEY. Add them there first.",
  );
  expect(there.workflows.list()).toEqual([]);
});

test("names variables that neither the installation nor the workflow has", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  const file = fileOf(graphOf("https://a.example/{{vars.region}}"));
  await expect(deploy(file)).rejects.toThrow("the variable region");
  there.variables.put(null, "region", "eu");
  expect((await deploy(file)).code).toBe(0);
});

test("finds the workflow of that name among as many as a server has", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  const graph = graphOf("https://a.example/");
  const id = there.workflows.create({ name: "Daily report", graph });
  for (let k = 0; k < 501; k++) there.workflows.create({ name: `${k}`, graph });
  expect(await deploy(fileOf(graph))).toMatchObject({ code: 0 });
  expect(there.versions.list(id)).toHaveLength(1);
});

test("shows the roles that the server would add, with their tools, and those that it keeps", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  const named = (name: string, tools: string[]) => RoleDefinition.parse({ name, description: name, tools });
  there.roles.create(named("Zoe", ["calculator"]));
  there.roles.create(named("Same", []));
  for (let k = 0; k < 201; k++) there.roles.create(named(`A${k}`, []));
  const roles = [
    named("New", ["http_request", "store_memory"]),
    named("Zoe", ["web_search"]),
    named("Same", []),
  ];
  const { err } = await deploy(fileOf(graphOf("https://a.example/"), roles));
  expect(err.match(/^ .*Role.*$/gm)).toEqual([
    "  + Role “New”, with http_request, store_memory",
    "  · Role “Zoe” differs: the server keeps its own, with calculator",
  ]);
});

test("sends TROUPE_API_TOKEN only to this computer and to TROUPE_URL", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  const file = fileOf(graphOf("https://a.example/"));
  const to = (address: string, from: string[] = []) =>
    deploy(file, ["--yes"], undefined, { to: address, from, env: { TROUPE_URL: "https://own.example/" } });
  const own = ["Bearer own"];
  for (const address of ["http://localhost:3000", "http://127.0.0.1:4000", "http://[::1]:3000"])
    expect((await to(address)).tokens).toEqual(own);
  expect((await to("https://own.example")).tokens).toEqual(own);
  expect((await to("https://troupe.example", ["--token-env", "TROUPE_API_TOKEN"])).tokens).toEqual(own);
  for (const address of ["https://troupe.example", "http://own.example", "https://own.example:8443"])
    await expect(to(address)).rejects.toThrow("--token-env NAME");
});

test("requires --yes if no one can confirm", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  await expect(deploy(fileOf(graphOf("https://a.example/")), [])).rejects.toThrow("Pass --yes");
  expect(there.workflows.list()).toEqual([]);
});

test("requires --id if several workflows have the name, and refuses an invalid address", async () => {
  const file = fileOf(graphOf("https://a.example/"));
  for (const _ of [1, 2])
    there.workflows.create({ name: "Daily report", graph: graphOf("https://a.example/") });
  await expect(deploy(file)).rejects.toThrow("Choose one with --id");
  await expect(deploy(file, ["--to", "nowhere"])).rejects.toThrow("--to URL");
});
