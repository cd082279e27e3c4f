import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { listOf, recordOf } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import { FINDING_LEVELS } from "@/server/domain/base/lenient-reader";
import { Json } from "@/server/domain/base/values";
import { readWorkflow, writeWorkflow } from "@/server/domain/graph/document/document";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { variablesOf } from "@/server/domain/graph/keys/variables";
import { differences } from "@/server/domain/graph/version/differences";
import { secretsOfGraph } from "@/server/domain/library/capabilities";
import { writtenTests } from "@/server/domain/scenario/test-file";
import { nothingImported } from "@/server/interop/import/format";
import { LIMITS } from "@/server/limits";
import { parseOptions, UsageError } from "../arguments";
import { callOf } from "../called";
import { findingLine } from "../import-command";
import { printableLine } from "../output/printable";
import type { Stdio } from "../output/stdio";
import { readWorkflowAt, UnusableError } from "../read-path";
import { type ServerTerminal, sendRequest, tokenFor } from "../server-ask";

const DEPLOY_USAGE = `Publishes a workflow file on another Troupe server.

  ${callOf("run")} deploy FILE --to URL [options]

  --to URL          Address of the server
  --token-env NAME  Environment variable with its API token; default for this computer and TROUPE_URL:
                    TROUPE_API_TOKEN
  --id ID           Workflow to update; default: the one with the same name, or a new one
  --note TEXT       Note for the version
  --yes             Deploy without confirmation

Shows the differences from that server's draft, and roles that would be added with their tools. Replaces the draft and publishes it. If the server lacks secrets or
variables that the workflow uses, lists them and changes nothing.
Exit code: 0 published, 1 not confirmed, 2 rejected or invalid arguments.
`;

const OPTIONS = {
  to: { type: "string" },
  "token-env": { type: "string" },
  id: { type: "string" },
  note: { type: "string" },
  yes: { type: "boolean", short: "y" },
} as const;

const DONE = 0;
const NOT_CONFIRMED = 1;

/** Publishes a workflow file on another Troupe server; returns the exit code. Throws UsageError, UnusableError. */
export async function deployCommand(
  argv: readonly string[],
  stdio: Stdio,
  terminal: Pick<ServerTerminal, "send" | "env">,
): Promise<number> {
  const options = readOptions(argv);
  if (options === null) {
    stdio.out(DEPLOY_USAGE);
    return DONE;
  }
  const { file, to, note = "" } = options;
  const say = (line: string) => stdio.err(`${printableLine(line)}\n`);
  const ask = newTarget(to, tokenFor(to, options["token-env"], terminal.env), terminal.send);

  const local = await readLocal(file);
  const id = options.id ?? (await idByName(ask, local.name));
  const there = id === undefined ? null : await readThere(ask, id);
  for (const line of differenceLines(there, local)) say(line);
  for (const line of await roleLines(ask, local.roles)) say(line);
  const missing = await missingThere(ask, local.graph, id);
  if (missing.length > 0)
    throw new UnusableError([`Missing at ${to}: ${missing.join(", ")}. Add them there first.`]);
  const shown = printableLine(`“${local.name}”`);
  if (!options.yes && !(await isConfirmed(stdio, `Publish ${shown} at ${to}? [y/N] `))) return NOT_CONFIRMED;

  const saved = there
    ? await ask("PUT", `/workflows/${encodeURIComponent(there.id)}`, local.file, { "if-match": there.etag })
    : await ask("POST", "/workflows", local.file);
  const { id: saved_id, revision, findings } = Saved.parse(saved.value);
  for (const finding of findings) say(findingLine(finding));
  const published = await ask("POST", `/workflows/${encodeURIComponent(saved_id)}/versions`, {
    note,
    revision,
  });
  const { number, created } = Published.parse(published.value);
  stdio.out(`${created ? "Published" : "Already published:"} ${shown} (${saved_id}) as version ${number}.\n`);
  return DONE;
}

/** Null for the help. Throws UsageError. */
function readOptions(argv: readonly string[]) {
  const { values, positionals } = parseOptions(argv, OPTIONS);
  if (values.help) return null;
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError("Pass one workflow file to deploy.");
  const { to, ...options } = values;
  if (to === undefined || !URL.canParse(to)) throw new UsageError("Pass the server's address as --to URL.");
  return { ...options, file, to };
}

/** Throws UsageError without a terminal. */
async function isConfirmed(stdio: Stdio, question: string): Promise<boolean> {
  if (!stdio.isInteractive) throw new UsageError("Pass --yes to deploy without asking.");
  return /^y(es)?$/i.test((await stdio.ask(question)).trim());
}

const Workflows = z.array(z.object({ id: z.string(), name: z.string() }));
const Roles = z.array(z.object({ role: RoleDefinition }));
const Saved = z.object({
  id: z.string(),
  revision: z.int(),
  findings: z.array(z.object({ level: z.enum(FINDING_LEVELS), at: z.string(), message: z.string() })),
});
const Published = z.object({ number: z.int(), created: z.boolean() });
const Named = z.array(z.object({ name: z.string() }));

interface Local {
  name: string;
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
  /** The whole file to send. */
  file: unknown;
}

async function readLocal(path: string): Promise<Local> {
  const read = await readWorkflowAt(path);
  const { graph, name: named, roles, tests } = read.imported ?? nothingImported();
  if (!graph)
    throw new UnusableError([
      `${path} is not a workflow file that Troupe can read:`,
      ...read.findings.map(findingLine),
    ]);
  const name = named || graph.graph_id;
  const text = writeWorkflow(graph, { flavour: "troupe", name, roles, tests: writtenTests(tests) });
  return { name, graph, roles, file: Json.parse(JSON.parse(text)) };
}

type Ask = (
  method: "GET" | "POST" | "PUT",
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ value: unknown; etag: string }>;

/** Sends requests to the other server. They throw UnusableError with its error message. */
function newTarget(to: string, token: string, send: ServerTerminal["send"]): Ask {
  return async (method, path, body, headers = {}) => {
    const reply = await sendRequest(send, { base: to, token, method, path, body, headers });
    if (!reply) throw new UnusableError([`Can't reach Troupe at ${to}.`]);
    if (reply.ok) return reply;
    throw new UnusableError([
      reply.status === 401 ? "Invalid token. Name its variable with --token-env." : reply.error,
    ]);
  };
}

/** All items of a list, page by page. */
async function allOf(ask: Ask, name: "workflows" | "roles"): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let cursor: unknown = ""; cursor !== null; ) {
    const query = cursor ? `&cursor=${encodeURIComponent(z.string().parse(cursor))}` : "";
    const page = recordOf((await ask("GET", `/${name}?limit=${LIMITS.page.largest}${query}`)).value);
    found.push(...listOf(page[name]));
    cursor = page.next_cursor ?? null;
  }
  return found;
}

/** The workflow with this name; undefined if there is none. Throws UsageError if there are several. */
async function idByName(ask: Ask, name: string): Promise<string | undefined> {
  const listed = Workflows.parse(await allOf(ask, "workflows"));
  const ids = listed.flatMap((one) => (one.name === name ? one.id : []));
  if (ids.length > 1)
    throw new UnusableError([`Several workflows are named “${name}”. Choose one with --id.`]);
  return ids[0];
}

async function readThere(ask: Ask, id: string) {
  const { value, etag } = await ask("GET", `/workflows/${encodeURIComponent(id)}?tests=left_out`);
  const { graph, name } = readWorkflow(value);
  if (!graph) throw new UnusableError([`The server's workflow ${id} can't be read.`]);
  return { id, graph, name, etag };
}

function differenceLines(there: { name: string; graph: WorkflowGraph } | null, local: Local): string[] {
  if (!there) return [`“${local.name}” will be created.`];
  const found = differences(there, local);
  if (found.length === 0) return [`The draft of “${local.name}” is already up to date.`];
  return [
    `Changes to the draft of “${local.name}”:`,
    ...found.flatMap(({ kind, text, details, texts = [] }) => [
      `  ${MARKS[kind]} ${text}${details ? `: ${details}` : ""}`,
      ...texts.flatMap(({ before, after }) => [`      - ${before}`, `      + ${after}`]),
    ]),
  ];
}

/** The roles of the file that the server would add, and those that it would keep. */
async function roleLines(ask: Ask, roles: readonly RoleDefinition[]): Promise<string[]> {
  if (roles.length === 0) return [];
  const there = new Map(Roles.parse(await allOf(ask, "roles")).map(({ role }) => [role.name, role]));
  return roles.flatMap((role) => {
    const known = there.get(role.name);
    if (!known) return `  + Role “${role.name}”, ${toolsText(role)}`;
    if (isSameJson(known, role)) return [];
    return `  · Role “${role.name}” differs: the server keeps its own, ${toolsText(known)}`;
  });
}

const toolsText = ({ tools }: RoleDefinition) =>
  tools.length === 0 ? "without tools" : `with ${tools.join(", ")}`;

const MARKS = { added: "+", removed: "-", changed: "~", moved: "·" } as const;

/** The secrets and variables that the workflow uses and the other server lacks. */
async function missingThere(ask: Ask, graph: WorkflowGraph, id: string | undefined): Promise<string[]> {
  const missing = async (kind: "secret" | "variable", used: readonly string[], query = "") => {
    if (used.length === 0) return [];
    const { value } = await ask("GET", `/${kind}s${query}`);
    const known = new Set(Named.parse(recordOf(value)[`${kind}s`]).map(({ name }) => name));
    return used.filter((name) => !known.has(name)).map((name) => `the ${kind} ${name}`);
  };
  const ofWorkflow = id === undefined ? "" : `?workflow_id=${encodeURIComponent(id)}`;
  return [
    ...(await missing("secret", secretsOfGraph(graph))),
    ...(await missing("variable", variablesOf(graph), ofWorkflow)),
  ];
}
