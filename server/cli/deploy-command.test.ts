import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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
const fileOf = (graph: ReturnType<typeof graphOf>, name = "Daily report") => {
  const file = path.join(folder, "report.json");
  writeFileSync(file, writeWorkflow(graph, { flavour: "troupe", name, roles: [] }));
  return file;
};

async function deploy(file: string, options: readonly string[] = ["--yes"], answer?: string) {
  let out = "";
  let err = "";
  const asked: string[] = [];
  const code = await deployCommand(
    [file, "--to", "https://troupe.example", "--token-env", "THEIR_TOKEN", ...options],
    {
      out: (text) => void (out += text),
      err: (text) => void (err += text),
      screen: { write() {}, colours: false },
      isInteractive: answer !== undefined,
      ask: async () => answer ?? "",
    },
    {
      env: { THEIR_TOKEN: "good" },
      send: async (url, { method = "GET", body, headers }) => {
        asked.push(`${method} ${url.pathname}`);
        return there.send(
          method,
          `${url.pathname.replace("/api/v1", "")}${url.search}`,
          body ?? undefined,
          headers as Record<string, string>,
        );
      },
    },
  );
  return { code, out, err, asked };
}

const changes = (asked: readonly string[]) => asked.filter((one) => !one.startsWith("GET"));

test("a new workflow is brought there and published", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  const { code, out, err } = await deploy(fileOf(graphOf("https://a.example/")));
  const [saved] = there.workflows.list();
  expect({ code, name: saved?.name, err }).toEqual({
    code: 0,
    name: "Daily report",
    err: expect.stringContaining("“Daily report” is new there."),
  });
  expect(out).toBe(`Published “Daily report” (${saved?.id}) as version 1.\n`);
});

test("what differs from the draft is shown before it is replaced and published", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  await deploy(fileOf(graphOf("https://a.example/")));
  const file = fileOf(graphOf("https://a.example/new"));
  const declined = await deploy(file, [], "n");
  expect([declined.code, changes(declined.asked)]).toEqual([1, []]);
  expect(declined.err).toContain("“Daily report” differs from the draft there:");
  expect(declined.err).toContain("- https://a.example/");
  expect(declined.err).toContain("+ https://a.example/new");
  const { code, out } = await deploy(file, [], "y");
  expect([code, out]).toEqual([0, expect.stringContaining("as version 2")]);
  expect(there.workflows.list()).toHaveLength(1);
});

test("secrets that are missing there are named before anything changes", async () => {
  const file = fileOf(graphOf("https://a.example/"));
  await expect(deploy(file)).rejects.toThrow(
    "Missing at https://troupe.example: the secret KEY. Add them there first.",
  );
  expect(there.workflows.list()).toEqual([]);
});

test("variables that are missing there are named, and those of the installation or the workflow count", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  const file = fileOf(graphOf("https://a.example/{{vars.region}}"));
  await expect(deploy(file)).rejects.toThrow("the variable region");
  there.variables.put(null, "region", "eu");
  expect((await deploy(file)).code).toBe(0);
});

test("without a person who could confirm, --yes is needed", async () => {
  there.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["a.example"], workflows: null });
  await expect(deploy(fileOf(graphOf("https://a.example/")), [])).rejects.toThrow("Pass --yes");
  expect(there.workflows.list()).toEqual([]);
});

test("several workflows of the name need --id, and an unusable address is refused", async () => {
  const file = fileOf(graphOf("https://a.example/"));
  for (const _ of [1, 2])
    there.workflows.create({ name: "Daily report", graph: graphOf("https://a.example/") });
  await expect(deploy(file)).rejects.toThrow("Choose one with --id");
  await expect(deploy(file, ["--to", "nowhere"])).rejects.toThrow("--to URL");
});
