import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { FINDING_LEVELS } from "@/server/domain/base/lenient-reader";
import { Json } from "@/server/domain/base/values";
import { readWorkflow, writeWorkflow } from "@/server/domain/graph/document/document";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { variablesOf } from "@/server/domain/graph/keys/variables";
import { differences } from "@/server/domain/graph/version/differences";
import { secretsOf } from "@/server/domain/library/capabilities";
import { writtenTests } from "@/server/domain/scenario/test-file";
import { nothingImported } from "@/server/interop/import/format";
import { parseOptions, UsageError } from "./arguments";
import { callOf } from "./called";
import { findingLine } from "./import-command";
import { printableLine } from "./output/printable";
import type { Stdio } from "./output/stdio";
import { readWorkflowAt, UnusableError } from "./read-path";
import type { ServerTerminal } from "./server-ask";

const DEPLOY_USAGE = `Publishes a workflow file on another Troupe server.

  ${callOf("run")} deploy FILE --to URL [options]

  --to URL          Address of the server
  --token-env NAME  Environment variable with its API token; default: TROUPE_API_TOKEN
  --id ID           Workflow to update; default: the one with the same name, or a new one
  --note TEXT       Note for the version
  --yes             Deploy without confirmation

Shows the differences from that server's draft, replaces the draft and publishes it. If the server lacks secrets or
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
  const { values, positionals } = parseOptions(argv, OPTIONS);
  if (values.help) {
    stdio.out(DEPLOY_USAGE);
    return DONE;
  }
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError("Pass one workflow file to deploy.");
  const { to, note = "" } = values;
  if (to === undefined || !URL.canParse(to)) throw new UsageError("Pass the server's address as --to URL.");
  const say = (line: string) => stdio.err(`${printableLine(line)}\n`);
  const ask = newTarget(to, terminal.env[values["token-env"] ?? "TROUPE_API_TOKEN"] ?? "", terminal.send);

  const local = await readLocal(file);
  const id = values.id ?? (await idByName(ask, local.name));
  const there = id === undefined ? null : await readThere(ask, id);
  for (const line of differenceLines(there, local)) say(line);
  const missing = await missingThere(ask, local.graph, id);
  if (missing.length > 0)
    throw new UnusableError([`Missing at ${to}: ${missing.join(", ")}. Add them there first.`]);
  if (!values.yes) {
    if (!stdio.isInteractive) throw new UsageError("Pass --yes to deploy without asking.");
    const answer = await stdio.ask(`Publish “${local.name}” at ${to}? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) return NOT_CONFIRMED;
  }

  const saved = there
    ? await ask("PUT", `/workflows/${encodeURIComponent(there.id)}`, local.file, { "if-match": there.etag })
    : await ask("POST", "/workflows", local.file);
  const { id: saved_id, findings } = Saved.parse(saved.value);
  for (const finding of findings) say(findingLine(finding));
  const published = await ask("POST", `/workflows/${encodeURIComponent(saved_id)}/versions`, { note });
  const { number, created } = Published.parse(published.value);
  stdio.out(
    `${created ? "Published" : "Already published:"} “${local.name}” (${saved_id}) as version ${number}.\n`,
  );
  return DONE;
}

const Listed = z.object({ workflows: z.array(z.object({ id: z.string(), name: z.string() })) });
const Saved = z.object({
  id: z.string(),
  findings: z.array(z.object({ level: z.enum(FINDING_LEVELS), at: z.string(), message: z.string() })),
});
const Published = z.object({ number: z.int(), created: z.boolean() });
const Secrets = z.object({ secrets: z.array(z.object({ name: z.string() })) });
const Variables = z.object({ variables: z.array(z.object({ name: z.string() })) });
const Refusal = z.object({ error: z.object({ message: z.string() }) });

interface Local {
  name: string;
  graph: WorkflowGraph;
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
  return { name, graph, file: Json.parse(JSON.parse(text)) };
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
    let response: Response;
    try {
      response = await send(new URL(`/api/v1${path}`, to), {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
      });
    } catch {
      throw new UnusableError([`Can't reach Troupe at ${to}.`]);
    }
    const value: unknown = await response.json().catch(() => null);
    if (response.ok) return { value, etag: response.headers.get("etag") ?? "" };
    const why = Refusal.safeParse(value).data?.error.message ?? `The server returned ${response.status}.`;
    throw new UnusableError([
      response.status === 401 ? "Invalid token. Name its variable with --token-env." : why,
    ]);
  };
}

/** The workflow with this name; undefined if there is none. Throws UnusableError if there are several. */
async function idByName(ask: Ask, name: string): Promise<string | undefined> {
  const { workflows } = Listed.parse((await ask("GET", "/workflows")).value);
  const [found, ...more] = workflows.filter((one) => one.name === name);
  if (more.length > 0)
    throw new UnusableError([`Several workflows are named “${name}”. Choose one with --id.`]);
  return found?.id;
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

const MARKS = { added: "+", removed: "-", changed: "~", moved: "·" } as const;

/** The secrets and variables that the workflow uses and the other server lacks. */
async function missingThere(ask: Ask, graph: WorkflowGraph, id: string | undefined): Promise<string[]> {
  const secrets = new Set(Object.values(graph.nodes).flatMap(secretsOf));
  const variables = new Set(variablesOf(graph));
  const known = async (uses: number, path: string, read: (value: unknown) => { name: string }[]) =>
    new Set(uses === 0 ? [] : read((await ask("GET", path)).value).map(({ name }) => name));
  const ofWorkflow = id === undefined ? "" : `?workflow_id=${encodeURIComponent(id)}`;
  const hasSecret = await known(secrets.size, "/secrets", (value) => Secrets.parse(value).secrets);
  const hasVariable = await known(
    variables.size,
    `/variables${ofWorkflow}`,
    (value) => Variables.parse(value).variables,
  );
  return [
    ...[...secrets].filter((name) => !hasSecret.has(name)).map((name) => `the secret ${name}`),
    ...[...variables].filter((name) => !hasVariable.has(name)).map((name) => `the variable ${name}`),
  ];
}
