import { z } from "zod";
import { keptGrants, manifestOf, noteAllowed, withNamed } from "@/server/access/manifest";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { isSameJson, textsIn } from "@/server/domain/base/json";
import { CrewConfig } from "@/server/domain/crew/crew";
import { Rejection } from "@/server/domain/errors/rejection";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { variablesOf } from "@/server/domain/graph/keys/variables";
import { CAPABILITY_KINDS, capabilitiesAdded, capabilitiesOf } from "@/server/domain/library/capabilities";
import { withLibrary } from "@/server/domain/library/library";
import type { Note } from "@/server/domain/run/audit";
import { IMPORT_LIMITS } from "@/server/interop/import/files";
import { type Imported, nothingImported } from "@/server/interop/import/format";
import { readSent } from "@/server/interop/import/off-thread";
import { LIMITS } from "@/server/limits";
import type { LibraryStore } from "@/server/store/library/library";
import type { StoredWorkflow } from "@/server/store/workflows";
import { Finding } from "../common-schemas";
import { onlyPerson, operationsOf } from "../operation";
import { bringTests } from "../scenarios/stored-tests";
import type { Services } from "../services";
import { namedIn, placesIn } from "./named-places";
import { bringRoles, safeWorkflow, seenRole } from "./role-import";
import { workflowOf } from "./stored-workflow";

const { mutation } = operationsOf("Workflows");

const path = z.string().max(IMPORT_LIMITS.pathLength).default("");
const SentFile = z.union([
  z.object({ path, text: z.string().max(IMPORT_LIMITS.fileBytes) }),
  z.object({
    path,
    base64: z.base64().meta({ description: "The file's bytes, in Base64; ZIP archives are unpacked" }),
  }),
]);
const Name = z.string().trim().min(1, "Enter a name").max(200, "At most 200 characters");
const Keys = z.array(z.string().max(1_000)).max(5_000);
const State = z
  .enum(["new", "same", "differs"])
  .meta({ description: "Whether it is new, the same as an existing one, or different" });

export const ImportRequest = z.object({
  files: z.array(SentFile).min(1, "Send a file").max(IMPORT_LIMITS.files),
  pick: z
    .int()
    .min(0)
    .optional()
    .meta({ description: "Index in `found`, starting at 0; by default, the first that can be read" }),
  answers: z
    .record(z.string().max(200), z.string().max(500))
    .default({})
    .meta({ description: "Answers to `choices`, by ID" }),
  confirm: z.boolean().default(false).meta({ description: "Save the import; otherwise, nothing is changed" }),
  name: Name.optional().meta({ description: "Name of the workflow; by default, taken from the files" }),
  over: z
    .string()
    .optional()
    .meta({ description: "ID of the workflow to replace; if omitted, creates a new one" }),
  roles: z
    .enum(["add_new", "replace", "skip"])
    .default("add_new")
    .meta({ description: "Roles: add only new roles, also replace those that differ, or import none" }),
  existing: z
    .enum(["skip", "replace"])
    .default("skip")
    .meta({ description: "Existing crews and agents: keep or replace them" }),
  allow: Keys.default([]).meta({
    description: "Keys of `capabilities` to allow; only people can allow them",
  }),
});
type Request = z.output<typeof ImportRequest>;

const Asked = z.object({
  key: z.string(),
  kind: z.enum(CAPABILITY_KINDS),
  name: z.string(),
  where: z.array(z.object({ node_id: z.string().optional(), role: z.string().optional() })),
  detail: z.string().optional(),
  had: z.boolean().meta({ description: "Whether the workflow to be replaced can already use it" }),
});
const Done = z.object({
  workflow_id: z.string().nullable(),
  created: z.array(z.string()).meta({ description: "Roles, crews and agents that were created" }),
  replaced: z.array(z.string()),
  skipped: z.array(z.string()),
  left_out: z.array(z.object({ role: z.string(), tools: z.array(z.string()) })),
  withheld: z.array(z.string()).meta({ description: "Keys of `capabilities` that are still blocked" }),
});

export const ImportAnswer = z.object({
  ok: z.boolean().meta({
    description: "Whether there is something to import; if not, an error among the findings says why",
  }),
  found: z.array(
    z.object({
      format: z.string(),
      label: z.string(),
      title: z.string(),
      files: z.array(z.string()),
      is_readable: z.boolean(),
    }),
  ),
  picked: z.int().nullable(),
  name: z.string(),
  graph: WorkflowGraph.nullable(),
  roles: z.array(
    z.object({
      role: RoleDefinition,
      state: State,
      asks: z.array(z.string()),
      confirmation: z.object({ file: z.string(), here: z.string() }).nullable(),
    }),
  ),
  crews: z.array(z.object({ crew: CrewConfig, state: State })),
  agents: z.array(z.object({ agent: AgentConfig, state: State })),
  tools: z.array(z.object({ name: z.string(), ours: z.string().optional(), by: z.array(z.string()) })),
  choices: z.array(
    z.object({
      id: z.string(),
      question: z.string(),
      options: z.array(z.object({ value: z.string(), label: z.string() })),
      value: z.string(),
      is_detail: z.boolean().meta({ description: "Whether another choice usually answers it" }),
    }),
  ),
  capabilities: z.array(Asked),
  twins: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .meta({ description: "Workflows with the same name" }),
  findings: z.array(Finding),
  done: Done.nullable().meta({ description: "What was saved; null without `confirm`" }),
});
type Answer = z.output<typeof ImportAnswer>;

/** Files of any format that is known, looked at and brought in. */
export const importOperations = {
  importFiles: mutation({
    name: "importFiles",
    summary: "Preview or import files from Troupe or another framework",
    about:
      "Takes two steps: without `confirm`, nothing is changed, and the response shows what the import would add, change and leave out; with `confirm`, the import is saved. Formats are recognized by content; nothing in a file is executed, resolved or fetched. With a token, every permission that the workflow requests is blocked and roles are imported without tools, until a person allows them.",
    needs: "author",
    input: ImportRequest,
    output: ImportAnswer,
    problems: ["not_found", "person_only", "not_importable", "changed_meanwhile"],
    audits: ["workflow_allowed", "role_tools_changed"],
    http: {
      route: "POST /imports",
      success: "The preview, and, with `confirm`, what was saved",
      maxBytes: LIMITS.body.import,
    },
    async run(services, request, { principal, note }): Promise<Answer> {
      if (request.allow.length > 0) onlyPerson(principal, "it grants permissions to imported files");
      const { imported, ...answer } = await previewImport(services, request);
      if (!request.confirm) return { ...answer, done: null };
      if (!answer.ok) throw notImportable(answer);
      return {
        ...answer,
        done: services.workflows.atOnce(() => bringIn(services, imported, { answer, request, note })),
      };
    },
  }),
};

function notImportable({ findings }: Pick<Answer, "findings">): Rejection {
  const error = findings.find(({ level }) => level === "error");
  return new Rejection("not_importable", error?.message ?? "Nothing in these files can be imported.", {
    findings,
  });
}

/** What the files would bring. */
async function previewImport(
  services: Services,
  request: Request,
): Promise<Omit<Answer, "done"> & { imported: Imported }> {
  const { files, pick, answers } = request;
  const read = await readSent(files, { pick, answers });
  const before = request.over === undefined ? undefined : workflowOf(services, request.over);
  const { graph, findings } = safeWorkflow({ graph: read.imported?.graph ?? null, findings: read.findings });
  const imported = { ...(read.imported ?? nothingImported()), graph };
  const name = imported.name.trim().slice(0, 200);
  return {
    imported,
    ok: read.imported !== null,
    found: read.found.map(({ isReadable, ...one }) => ({ ...one, is_readable: isReadable })),
    picked: read.picked,
    name,
    graph,
    roles: imported.roles.map((role) => seenRole(role, services.roles)),
    crews: imported.crews.map((crew) => ({
      crew,
      state: stateOf(crew, services.library.crew(crew.crew_id)),
    })),
    agents: imported.agents.map((agent) => ({
      agent,
      state: stateOf(agent, services.library.agent(agent.agent_id)),
    })),
    tools: imported.tools,
    choices: imported.choices.map(({ isDetail = false, ...choice }) => ({ ...choice, is_detail: isDetail })),
    capabilities: askedBy(graph, comingOf(imported.roles, request, services), {
      ...{ services, before },
      named: placesIn(foreignIn(imported, services)),
    }),
    twins: graph
      ? services.workflows
          .list()
          .flatMap((other) => (other.name === name ? [{ id: other.id, name: other.name }] : []))
      : [],
    findings: [...findings, ...missingVariables(graph, services, request.over)],
  };
}

/** The variables that an imported workflow reads and that don't exist here. Files contain no variables. */
function missingVariables(
  graph: WorkflowGraph | null,
  { variables }: Pick<Services, "variables">,
  over: string | undefined,
): Answer["findings"] {
  const known = new Set(variables.list(over ?? null).map(({ name }) => name));
  return (graph ? variablesOf(graph) : []).flatMap((name) =>
    known.has(name)
      ? []
      : {
          level: "placeholder",
          at: "",
          message: `It uses the variable ${name}, which doesn't exist here. Add it in Settings.`,
        },
  );
}

const stateOf = (theirs: unknown, ours: unknown): "new" | "same" | "differs" =>
  ours === undefined ? "new" : isSameJson(ours, theirs) ? "same" : "differs";

/** The roles of a file that would come in. */
function comingOf(roles: readonly RoleDefinition[], request: Request, { roles: store }: Services) {
  if (request.roles === "skip") return [];
  return roles.filter((role) => {
    const { state } = seenRole(role, store);
    return state === "new" || (state === "differs" && request.roles === "replace");
  });
}

/** The capabilities that a file's workflow and its roles would use here. */
function askedBy(
  graph: WorkflowGraph | null,
  coming: readonly RoleDefinition[],
  {
    services,
    before,
    named,
  }: { services: Services; before: StoredWorkflow | undefined; named: readonly string[] },
): Answer["capabilities"] {
  // A role that is here already keeps its tools, and may gain those that the file names.
  const tools = new Map(services.roles.all().map((role) => [role.name, new Set(role.tools)]));
  for (const role of coming) tools.set(role.name, new Set([...(tools.get(role.name) ?? []), ...role.tools]));
  const agents = [...tools].map(([name, own]) => ({ name, tools: [...own] }));
  const asked = graph ? capabilitiesOf(withLibrary(graph, services.library), agents) : [];
  for (const role of coming)
    for (const tool of seenRole(role, services.roles).asks) {
      const known = asked.find(({ key }) => key === `tool:${tool}`);
      if (!known) asked.push({ key: `tool:${tool}`, kind: "tool", name: tool, where: [{ role: role.name }] });
      else if (!known.where.some((at) => at.role === role.name)) known.where.push({ role: role.name });
    }
  const old =
    before &&
    manifestOf(before.graph, {
      ...{ ...services, withheld: before.withheld },
      named: namedIn(services, before.graph),
    });
  const all = graph ? withNamed(asked, named) : asked;
  const added = new Set(capabilitiesAdded(old ?? [], all).map(({ key }) => key));
  return all.map((one) => ({
    ...one,
    had: !added.has(one.key) && (old?.find(({ key }) => key === one.key)?.allowed ?? false),
  }));
}

/** Saves what the files bring: roles, agents, crews, and the workflow with what it may use. */
function bringIn(
  services: Services,
  imported: Imported,
  { answer, request, note }: { answer: Omit<Answer, "done" | "imported">; request: Request; note: Note },
): z.output<typeof Done> {
  const { graph, roles, agents, crews, tests } = imported;
  const coming = request.roles === "skip" ? [] : roles;
  const foreign = foreignIn({ ...imported, roles: coming }, services);
  const before = request.over === undefined ? undefined : workflowOf(services, request.over);
  const { left_out, ...broughtRoles } = bringRoles(coming, {
    store: services.roles,
    existing: request.roles === "replace" ? "replace" : "skip",
    allow_tools: request.allow.flatMap((key) => (key.startsWith("tool:") ? [key.slice(5)] : [])),
    note,
  });
  const done = { ...broughtRoles, left_out };
  for (const agent of agents)
    bring(agent.agent_id, agent, { ours: services.agents, word: "agent" as const, request, done });
  for (const crew of crews)
    bring(crew.crew_id, crew, { ours: services.crews, word: "crew" as const, request, done });
  services.called.foreign.add(foreign);
  if (!graph) return { ...done, workflow_id: null, withheld: [] };
  const name = request.name ?? (answer.name || "Imported workflow");
  const id = before ? replace(services, before, { name, graph }) : services.workflows.create({ name, graph });
  const withheld = answer.capabilities.flatMap(({ key }) => (request.allow.includes(key) ? [] : [key]));
  // What the file doesn't request and the published version does stays blocked.
  const inUse = before && services.versions.newest(id);
  const others = inUse ? capabilitiesOf(inUse.graph, inUse.roles).map(({ key }) => key) : [];
  const kept = others.filter((key) => before?.withheld.includes(key) && !request.allow.includes(key));
  services.workflows.withhold(id, [...keptGrants(withheld, placesIn(foreign)), ...kept]);
  bringTests(services, id, tests);
  const allowed = answer.capabilities.flatMap(({ key }) => (withheld.includes(key) ? [] : [key]));
  // Where nothing was allowed, nothing happened to anybody's rights.
  if (allowed.length > 0) noteAllowed(note, { id, name }, allowed, withheld);
  return { ...done, workflow_id: id, withheld };
}

/** The texts of files, without those that a person here wrote already. */
function foreignIn({ graph, roles, agents, crews }: Imported, { called, ...services }: Services): string[] {
  const here = textsIn([
    // Of all workflows, also those the caller may not see: their text must not count as the file's.
    called.list().map((one) => one.graph.nodes),
    services.roles.list().map(({ role, origin }) => (origin ? null : role)),
    services.agents.list(),
    services.crews.list(),
  ]);
  const own = new Set(here);
  for (const text of called.foreign.among(here)) own.delete(text);
  return [...new Set(textsIn([graph?.nodes, roles, agents, crews]))].filter((text) => !own.has(text));
}

/** Puts a thing of a file into the library, where ours is not to stay. */
function bring<Word extends string, Thing>(
  id: string,
  thing: Thing,
  how: {
    ours: LibraryStore<Word, Thing>;
    word: Word;
    request: Request;
    done: Record<"created" | "replaced" | "skipped", string[]>;
  },
): void {
  const { ours, word, request, done } = how;
  const before = ours.find(id);
  if (!before) {
    ours.create(nameFrom(id), thing);
    done.created.push(id);
  } else if (request.existing === "replace" && stateOf(thing, before[word]) === "differs") {
    ours.put(before.name, thing);
    done.replaced.push(id);
  } else done.skipped.push(id);
}

/** research_team -> Research team */
function nameFrom(id: string): string {
  const name = id.replace(/[_-]+/g, " ").trim() || id;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function replace(
  { workflows }: Services,
  { id, revision }: StoredWorkflow,
  change: { name: string; graph: WorkflowGraph },
): string {
  if (!workflows.save({ id, revision, ...change, reason: "import" }).saved)
    throw new Rejection("changed_meanwhile", "This workflow was changed elsewhere. Review the file again.");
  return id;
}
