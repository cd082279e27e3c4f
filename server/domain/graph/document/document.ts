import { readRoleList } from "@/server/domain/agent/read-roles";
import { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import {
  cleanCopy,
  type Finding,
  Findings,
  isRaw,
  type Raw,
  unwrapText,
} from "@/server/domain/base/lenient-reader";
import { GRAPH_LIMITS } from "@/server/domain/base/sizes";
import { writeTersely } from "@/server/domain/base/terse-writer";
import type { Json, Result } from "@/server/domain/base/values";
import { calledBy } from "@/server/domain/nodes";
import type { WorkflowGraph } from "../graph";
import { keysIn } from "../secrets";
import { countInnerNodes, firstText, readGraph } from "./graph-reader";
import { writeGraph } from "./graph-writer";
import { toOriginal } from "./original-format";
import { readPlanAsWorkflow } from "./plan-reader";

export type { Finding } from "@/server/domain/base/lenient-reader";

/**
 * Workflow files. Reading is tolerant: the reference documents' graphs, older and hand-made files come in, and
 * findings name whatever was changed or left out. Writing is canonical: equal workflows give equal text.
 */

export const MAX_FILE_BYTES = 5 * 1024 * 1024;
/** The version of the file around a workflow: `{"troupe": 1, "name", "workflow", "roles"}`. */
const FILE_VERSION = 1;

export interface ReadWorkflow {
  /** Null if the file has no readable workflow; an error among the findings says why. */
  graph: WorkflowGraph | null;
  name: string;
  roles: RoleDefinition[];
  /** The tests as they are in the file; absent if it has none. */
  tests?: unknown;
  findings: Finding[];
}

/** Reads a workflow from the text of a file or from parsed JSON. */
export function readWorkflow(source: unknown): ReadWorkflow {
  const { tests, rest } = withoutTests(typeof source === "string" ? parseText(source) : { value: source });
  const read = readDrawing(rest);
  return tests === undefined || !read.graph ? read : { ...read, tests };
}

/** Tests have their own reader: model replies in them may be nested deeper than a workflow may be. */
function withoutTests(parsed: Result<unknown>): { tests?: unknown; rest: Result<unknown> } {
  if ("error" in parsed || !isRaw(parsed.value)) return { rest: parsed };
  const { tests, ...value } = parsed.value;
  return { tests, rest: { value } };
}

function readDrawing(parsed: Result<unknown>): ReadWorkflow {
  const findings = new Findings();
  const file = readObject(parsed, findings);
  const read = file && isKnownVersion(file, findings) ? readParts(file, findings) : null;
  return { ...(read ?? { graph: null, name: "", roles: [] }), findings: findings.all() };
}

function fail(findings: Findings, at: string, message: string): null {
  findings.error(at, message);
  return null;
}

function readObject(parsed: Result<unknown>, findings: Findings): Raw | null {
  if ("error" in parsed) return fail(findings, "", parsed.error);
  const tooMany = tooManyParts(parsed.value);
  if (tooMany) return fail(findings, "", tooMany);
  const copy = cleanCopy(parsed.value, findings);
  if (!copy) return fail(findings, "", "The file is nested too deeply to be a workflow.");
  if (Array.isArray(copy.value))
    return fail(findings, "", "This is a list, not a workflow. Import lists of roles on the Roles page.");
  if (!isRaw(copy.value))
    return fail(findings, "", "This isn't a workflow. Expected a JSON object with nodes and edges.");
  return copy.value;
}

/** Whether the file's format is known. Its unknown fields are left out. */
function isKnownVersion(value: Raw, findings: Findings): boolean {
  const version = value.troupe;
  if (version === undefined) return true;
  if (typeof version !== "number" || version > FILE_VERSION) {
    findings.error(
      "troupe",
      `This file was created by a newer version of Troupe (format ${JSON.stringify(version)}). Update Troupe, then import it again.`,
    );
    return false;
  }
  for (const key of Object.keys(value))
    if (!["troupe", "name", "workflow", "roles"].includes(key))
      findings.dropped(key, `Unknown field "${key}" was left out.`);
  return true;
}

/** The workflow of a file, or of a plan that it holds instead. */
function readParts(value: Raw, findings: Findings): Omit<ReadWorkflow, "findings"> | null {
  const { inner, at } = findGraph(value);
  if (!inner) {
    const plan = value.troupe === undefined ? value : value.workflow;
    if (!isRaw(plan) || !Array.isArray(plan.tasks)) return fail(findings, "", describeForeign(value));
    const roles = readRoleList(value.roles, "roles", findings);
    const planned = readPlanAsWorkflow(plan, findings, roles);
    const name = firstText(value.name) || "Imported plan";
    return planned && { graph: planned.graph, name, roles: [...roles, ...planned.roles] };
  }
  const roles = readRoleList(value.roles, "roles", findings);
  const graph = readGraph(inner, at, findings);
  if (graph && Object.keys(graph.nodes).length === 0 && countOf(inner.nodes) > 0)
    return fail(findings, at, "This workflow has only unknown node types, so it can't be imported.");
  const name = firstText(value.name, inner.name, inner.title) || (graph ? humanName(graph.graph_id) : "");
  return { graph, name, roles };
}

/** The error for a file with more nodes or edges than a workflow may have, or null. Counted before they are read. */
export function tooManyParts(source: unknown): string | null {
  const { inner } = isRaw(source) ? findGraph(source) : { inner: null };
  if (!inner) return null;
  const outer = countOf(inner.nodes);
  const nodes =
    outer > GRAPH_LIMITS.nodes ? outer : outer + countInnerNodes(Object.values(inner.nodes ?? {}));
  const edges = countOf(inner.edges);
  return nodes > GRAPH_LIMITS.nodes || edges > GRAPH_LIMITS.edges
    ? `A workflow can have at most ${GRAPH_LIMITS.nodes} nodes and ${GRAPH_LIMITS.edges} connections; this one has ${nodes} and ${edges}. Move parts of it into sub-workflows.`
    : null;
}

const countOf = (list: unknown): number =>
  Array.isArray(list) ? list.length : isRaw(list) ? Object.keys(list).length : 0;

function parseText(text: string): Result<unknown> {
  // A character takes at most three bytes in UTF-8 (four for two UTF-16 units).
  if (
    text.length > MAX_FILE_BYTES ||
    (text.length * 3 > MAX_FILE_BYTES && new TextEncoder().encode(text).length > MAX_FILE_BYTES)
  )
    return { error: "The file is larger than 5 MiB." };
  const plain = unwrapText(text);
  if (!plain.trim()) return { error: "The file is empty." };
  const tooDeep = jsonTextProblem(plain);
  if (tooDeep) return { error: tooDeep };
  try {
    const value: unknown = JSON.parse(plain);
    return { value };
  } catch (error) {
    return { error: `Invalid JSON: ${whereJsonBreaks(plain, error)}` };
  }
}

function whereJsonBreaks(text: string, error: unknown): string {
  const message = errorMessage(error);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position === undefined)
    return text.length > 0 && /end of JSON|Unterminated/i.test(message)
      ? "unexpected end of file."
      : `${message}.`;
  if (Number(position) >= text.length) return "unexpected end of file.";
  const before = text.slice(0, Number(position));
  const line = before.split("\n").length;
  return `syntax error at line ${line}, column ${before.length - before.lastIndexOf("\n")}.`;
}

/** The graph itself, also if another object wraps it. */
export function findGraph(value: Raw): { inner: Raw | null; at: string } {
  const isGraph = (candidate: unknown): candidate is Raw =>
    isRaw(candidate) && (isRaw(candidate.nodes) || Array.isArray(candidate.nodes));
  if (isGraph(value)) return { inner: value, at: "" };
  for (const key of ["workflow", "graph", "workflow_graph"]) {
    const inner = value[key];
    if (isGraph(inner)) return { inner, at: key };
  }
  return { inner: null, at: "" };
}

function describeForeign(value: Raw): string {
  if (value.roles !== undefined || (value.name !== undefined && value.goals !== undefined))
    return "This file contains roles, not a workflow. Import it on the Roles page.";
  return 'This isn\'t a workflow: it has neither "nodes" nor "tasks".';
}

/** `simple_approval_workflow` -> `Simple approval workflow`. */
function humanName(id: string): string {
  const name = id.replace(/[_.-]+/g, " ").trim();
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export interface WriteOptions {
  flavour: "troupe" | "openhands";
  /** Included in the file; without them the file only names its roles. */
  roles?: readonly RoleDefinition[];
  name?: string;
  /** The workflow's tests, as written to the file. */
  tests?: readonly Json[];
}

/** The text of a workflow file. Equal workflows give equal text, whatever the order of their keys in memory. */
export function writeWorkflow(
  graph: WorkflowGraph,
  { flavour, roles, name, tests = [] }: WriteOptions,
): string {
  if (flavour === "openhands") return `${JSON.stringify(toOriginal(graph).graph, null, 2)}\n`;
  const file = {
    troupe: FILE_VERSION,
    ...defined({ name: name || undefined }),
    workflow: writeGraph(graph),
    ...defined({
      roles: roles ? [...roles].sort(byName).map((role) => writeTersely(RoleDefinition, role)) : undefined,
      tests: tests.length > 0 ? tests : undefined,
    }),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** The parts of a workflow that a file of this flavour leaves out. */
export function lossesOf(graph: WorkflowGraph, { flavour, roles = [], tests = [] }: WriteOptions): Finding[] {
  if (flavour === "openhands") {
    const findings = new Findings();
    if (roles.length > 0)
      findings.dropped("roles", "Roles aren't part of this format. Export them on the Roles page.");
    if (tests.length > 0) findings.dropped("tests", "Tests aren't part of this format.");
    return [...toOriginal(graph).losses, ...findings.all()];
  }
  return Object.values(graph.nodes).flatMap((node) => {
    const dropped = (place: string, message: string): Finding => ({
      level: "dropped",
      at: `nodes.${node.id}.config.${place}`,
      message,
    });
    const called = calledBy(node);
    return [
      ...[...new Set(keysIn(node.config).map(({ place }) => place))].map((place) =>
        dropped(
          place,
          "This looks like a secret. Exported files never contain secrets; enter it again after importing.",
        ),
      ),
      ...(called === undefined
        ? []
        : [
            dropped(
              "workflow_id",
              `The workflow that "${node.name || node.id}" runs isn't part of this file, only its ID. Export it as well, and choose it again after importing.`,
            ),
          ]),
    ];
  });
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
