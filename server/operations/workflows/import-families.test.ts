import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { expectSchema, newApi } from "@/server/http-api/testing";
import { FIXTURES, fixtureFiles } from "@/server/interop/import/testing";

/*
 * Files of other frameworks over HTTP: looked at, then confirmed. Real ones lie in TROUPE_FIXTURES, with facts about them
 * that were counted without this program; without them only the examples of the Agents SDK are walked through.
 */

interface Facts {
  importable?: boolean;
  agent_files_missing?: string[];
  tasks_in_file_order?: string[];
  tasks?: { name: string }[];
  methods?: Record<string, unknown>;
  participants?: { name: string; type: string }[];
  agents?: string[];
  nodes?: string[];
  input_variables?: string[];
}
const FAMILIES = ["crewai-yaml", "crewai-jsonc", "crewai-flow", "langgraph", "langchain", "autogen"];
const isThere = existsSync(path.join(FIXTURES, "facts.json"));
const facts = isThere
  ? (JSON.parse(readFileSync(path.join(FIXTURES, "facts.json"), "utf8")) as Record<string, Facts>)
  : {};
const known = Object.entries(facts).filter(([name]) => FAMILIES.includes(name.split("/")[0] ?? ""));

/** What a file is known to name: tasks, methods, agents of teams, nodes, or what it asks for. */
function expectedNames(name: string, about: Facts): string[] {
  const people = (about.participants ?? []).filter(({ type }) => type !== "UserProxyAgent");
  return [
    ...(about.tasks_in_file_order ?? []),
    ...(about.tasks ?? []).map((task) => task.name),
    ...Object.keys(about.methods ?? {}),
    ...people.map((person) => person.name),
    ...(name.startsWith("autogen/") ? (about.agents ?? []).filter((agent) => agent !== "user_proxy") : []),
    ...(about.nodes ?? []).filter((node) => !/^__(start|end)__$/.test(node)),
    ...(about.input_variables ?? []),
  ];
}

interface Shown {
  graph: {
    nodes: Record<string, { id: string; name: string; node_type: string; output_keys: string[] }>;
  } | null;
  roles: { role: { name: string } }[];
}
/** What an answer names. */
const namesIn = ({ graph, roles }: Shown) => [
  ...Object.values(graph?.nodes ?? {}).flatMap(({ id, name, node_type, output_keys }) => [
    id,
    name,
    ...(node_type === "start" ? output_keys : []),
  ]),
  ...roles.map(({ role }) => role.name),
];

const zipOf = (files: readonly { path: string; text: string }[]) =>
  Buffer.from(
    zipSync(Object.fromEntries(files.map((file) => [`upload/${file.path}`, strToU8(file.text)]))),
  ).toString("base64");

/** Looks at files, loose and as an archive, and brings them in; answers what they were seen to be. */
async function broughtIn(files: readonly { path: string; text: string }[]): Promise<Shown> {
  const api = newApi();
  const here = api.roles.all().length;
  const looked = await api.ask("POST", "/imports", { files });
  expect(looked.status).toBe(200);
  expectSchema("importFiles", looked.body);
  expect(looked.body).toMatchObject({ ok: true, done: null });
  expect([api.workflows.list(), api.roles.all().length]).toEqual([[], here]);
  const zipped = await api.ask("POST", "/imports", { files: [{ path: "upload.zip", base64: zipOf(files) }] });
  expect(zipped.body.graph).toEqual(looked.body.graph);
  expect(zipped.body.roles).toEqual(looked.body.roles);

  const { body } = await api.ask("POST", "/imports", { files, confirm: true });
  expectSchema("importFiles", body);
  const { graph } = body as Shown;
  const saved = body.done.workflow_id === null ? undefined : api.workflows.find(body.done.workflow_id);
  expect(JSON.parse(JSON.stringify(saved?.graph ?? null))).toEqual(graph);
  // Whatever it would use is withheld until a person allows it.
  if (saved)
    expect([...saved.withheld].sort()).toEqual(
      (body.capabilities as { key: string }[]).map(({ key }) => key).sort(),
    );
  for (const { role } of (body as Shown).roles) expect(api.roles.find(role.name)).toBeDefined();
  return looked.body as Shown;
}

describe.runIf(isThere)("fixture files over HTTP", () => {
  const isRejected = ({ importable, agent_files_missing }: Facts) =>
    importable === false || (agent_files_missing ?? []).length > 0;

  test.each(known.filter(([, about]) => !isRejected(about)))(
    "%s can be imported as files and as an archive",
    async (name, about) => {
      const seen = await broughtIn(fixtureFiles(name));
      expect(namesIn(seen)).toEqual(expect.arrayContaining(expectedNames(name, about)));
    },
  );

  test.each(known.filter(([, about]) => isRejected(about)))("%s is rejected with a message", async (name) => {
    const api = newApi();
    const files = fixtureFiles(name);
    const { status, body } = await api.ask("POST", "/imports", { files });
    expect([status, body.ok, body.graph]).toEqual([200, false, null]);
    const findings = body.findings as { level: string; message: string }[];
    const message = findings.find(({ level }) => level === "error")?.message;
    expect(message).toMatch(/^.+\.$/s);
    expect(await api.ask("POST", "/imports", { files, confirm: true })).toMatchObject({
      status: 422,
      body: { error: { code: "not_importable", message } },
    });
    expect(api.workflows.list()).toEqual([]);
  });
});

const EXAMPLES = path.resolve(import.meta.dirname, "../../interop/import/formats/agents-sdk/testing");

test.each(readdirSync(EXAMPLES).filter((name) => name.endsWith(".txt")))(
  "Agents SDK code can be imported over HTTP: %s",
  async (name) => {
    const text = readFileSync(path.join(EXAMPLES, name), "utf8");
    const seen = await broughtIn([{ path: name.replace(/\.txt$/, ""), text }]);
    expect(Object.values(seen.graph?.nodes ?? {}).map(({ node_type }) => node_type)).toEqual(
      expect.arrayContaining(["start", "end"]),
    );
  },
);
