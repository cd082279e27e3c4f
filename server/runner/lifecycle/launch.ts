import { createHash } from "node:crypto";
import { breakpointsError } from "@/server/domain/agent/breakpoint/breakpoint-check";
import { type InstallationRules, RunConfig } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { asJson, canonicalJson, textsIn } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { sizeOf, sizeText } from "@/server/domain/base/sizes";
import type { JsonObject } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { calledWorkflows } from "@/server/domain/graph/called";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findInputErrors } from "@/server/domain/graph/input-check";
import { graphOfNode, singleNodeError } from "@/server/domain/graph/only-node";
import { hasOwnVars, isStartNode, startingState, VARS } from "@/server/domain/graph/run-input";
import { allowedPlaces } from "@/server/domain/library/capabilities";
import { EMPTY_LIBRARY, type Library } from "@/server/domain/library/library";
import { choiceKey, isStandard, modelUses } from "@/server/domain/library/model-uses";
import { roleUses } from "@/server/domain/library/role-use";
import { getNodeKind } from "@/server/domain/nodes";
import { findProblems, type Problem, type ProblemContext } from "@/server/domain/problems/problems";
import { unknownStop } from "@/server/domain/run/commands/command";
import type { Pins } from "@/server/domain/run/commands/pins";
import type { CalledWorkflow } from "@/server/domain/run/events/child-events";
import { textHash } from "@/server/domain/text/text-hash";
import type { Models } from "@/server/llm/model";
import type { ForeignTexts } from "@/server/store/library/foreign-texts";
import type { RunStore } from "@/server/store/runs/runs";
import type { SecretStore } from "@/server/store/secrets";
import type { VariableStore } from "@/server/store/variables";
import type { PublishedContent } from "@/server/store/versions/workflow-versions";
import { trustAtStart } from "../fork/trust";
import type { Host } from "./host";
import type { StartRequest } from "./start-request";
import {
  type ChosenVersion,
  type VersionChoice,
  type VersionSources,
  versionOf,
  versionsAround,
} from "./workflow-version";

/** Why a run didn't start: problems of the workflow, or an invalid input. */
export type StartErrors = { problems: Problem[] } | { errors: { key: string; message: string }[] };

export const notStarted = (message: string, details: StartErrors) =>
  new Rejection("errors" in details ? "invalid_input" : "workflow_has_problems", message, details);

export interface Launch {
  workflow_id: string;
  /** Default: the draft. */
  version?: VersionChoice | undefined;
  input: JsonObject;
  /** Overrides the workflow's own run settings, key by key. */
  config?: Partial<RunConfig> | undefined;
  trigger: StartRequest["trigger"];
  /** Who starts it; absent: all input counts as a person's own words. */
  origin?: StartRequest["origin"] | undefined;
  /** The run that the input comes from: untrusted values stay untrusted. */
  from_run?: string | undefined;
  /** Outputs that replace the execution of nodes. Only a person in the editor may set them. */
  pins?: Pins | undefined;
  /** Carries out this node alone; `input` is the state that it begins with. */
  only_node?: string | undefined;
  idempotency_key?: string | undefined;
}

/** Starts runs of saved workflows: load, check, hand over to the host. */
export function newLauncher(parts: {
  workflows: TextSources["workflows"] & {
    find(
      id: string,
    ): { id: string; name: string; graph: WorkflowGraph; withheld?: readonly string[] } | undefined;
  };
  roles: TextSources["roles"] & { all(): RoleDefinition[] };
  /** A run gets a copy of the crews and agents that its workflow names. */
  library?: Library;
  versions?: VersionSources["versions"];
  secrets?: TextSources["secrets"];
  variables?: TextSources["variables"];
  models: Models;
  runs: Pick<RunStore, "startedWith" | "state">;
  host: Pick<Host, "start">;
  /** What holds in every run, whatever it says itself. */
  installation?: InstallationRules;
}) {
  const { installation } = parts;
  return {
    /**
     * Throws Rejection, also if its key started a different run; returns undefined if the workflow doesn't
     * exist. A known key returns its run, even if the workflow has changed since.
     */
    startRun(launch: Launch): { run_id: string; created: boolean } | undefined {
      const key = launch.idempotency_key;
      const request_hash = hashOf(launch);
      const known = key === undefined ? null : parts.runs.startedWith(key, request_hash);
      if (known !== null) return { run_id: known, created: false };
      const version = versionOf(parts, launch.workflow_id, launch.version);
      if (!version) return undefined;
      const { id: workflow_id, name: workflow_name, graph: whole, withheld } = version;
      const variables = parts.variables?.valuesFor(workflow_id);
      refuseOwnVars(whole, launch);
      const { only_node } = launch;
      const nowhere = unknownStop(whole, { ...whole.config, ...launch.config });
      if (nowhere !== null) throw notStarted(nowhere, { errors: [{ key: "breakpoints", message: nowhere }] });
      const ready = readyToRun(
        only_node === undefined ? whole : nodeAlone(whole, only_node),
        version.roles,
        { ...launch, withheld, variables, ...knownTo(parts, workflow_id) },
        parts.models,
      );
      return parts.host.start({
        ...ready,
        ...trustAtStart(parts.runs, launch, foreignIn(parts, version, ready).foreign),
        ...calledBy(parts, ready.graph, [workflow_id]),
        ...pinsOf(launch, whole),
        ...defined({
          only_node,
          workflow_version: version.published?.number,
          variables,
        }),
        workflow_id,
        workflow_name,
        trigger: launch.trigger,
        ...defined({ installation }),
        ...(key === undefined ? {} : { idempotency_key: key, request_hash }),
      });
    },
  };
}

/** What was asked for, as a hash; the same whatever the order of the keys. */
const hashOf = ({ workflow_id, version = "draft", input, config, pins, only_node }: Launch) =>
  createHash("sha256")
    .update(
      canonicalJson({
        workflow_id,
        input,
        config: asJson(config ?? {}),
        ...defined({ pins: pins ? asJson(pins) : undefined, only_node }),
        ...(version === "draft" ? {} : { version }),
      }),
    )
    .digest("hex");

/** Variables can't be passed as input. A node that runs alone gets the current ones. Throws Rejection. */
function refuseOwnVars(graph: WorkflowGraph, { input, only_node }: Launch): void {
  if (only_node !== undefined || !Object.hasOwn(input, VARS) || hasOwnVars(graph)) return;
  const message =
    'The input can\'t have the key "vars", which is reserved for variables. Set them in Settings.';
  throw notStarted(message, { errors: [{ key: VARS, message }] });
}

/** Throws Rejection. */
function nodeAlone(graph: WorkflowGraph, nodeId: string): WorkflowGraph {
  const alone = graphOfNode(graph, nodeId);
  if (alone) return alone;
  const message = singleNodeError(graph, nodeId) ?? "This node can't run alone.";
  throw notStarted(message, { errors: [{ key: "only_node", message }] });
}

/**
 * The pins that hold in a run. Whatever starts it, only what a person starts in the editor has any: a run that counts does
 * what its workflow says. Throws Rejection.
 */
function pinsOf({ pins, trigger, only_node }: Launch, graph: WorkflowGraph): { pins?: Pins } {
  if (!pins || Object.keys(pins).length === 0) return {};
  const refuse = (key: string, message: string): never => {
    throw notStarted(message, { errors: [{ key, message }] });
  };
  if (trigger !== "editor") refuse("pins", "Pinned outputs only work in runs from the editor.");
  if (only_node !== undefined)
    refuse("pins", "A node that runs alone is always executed, so its output can't be pinned.");
  for (const id of Object.keys(pins)) {
    const node = graph.nodes[id];
    if (!node) refuse(id, `Can't pin an output: there is no node ${id}.`);
    else if (getNodeKind(node.node_type).ends || isStartNode(node))
      refuse(id, `${node.name || id} has no output to pin.`);
  }
  return { pins };
}

/** Where it is known which texts came with files. */
export interface TextSources {
  workflows: { foreign?: Pick<ForeignTexts, "among"> };
  roles: { list?(): { role: RoleDefinition; origin?: unknown }[] };
  /** Absent if secrets aren't checked before a run. */
  secrets?: Pick<SecretStore, "knownTo"> | undefined;
  variables?: Pick<VariableStore, "valuesFor"> | undefined;
}

/** The texts of a workflow and of these roles that came with files. */
export function foreignOf(
  parts: TextSources,
  graph: Pick<WorkflowGraph, "nodes">,
  roles: readonly RoleDefinition[],
): string[] {
  const files = new Set(parts.roles.list?.().flatMap(({ role, origin }) => (origin ? [role.name] : [])));
  return [
    ...(parts.workflows.foreign?.among([graph.nodes, roles]) ?? []),
    ...textsIn(roles.filter(({ name }) => files.has(name))),
  ];
}

/** The run's untrusted texts; `withheld` has marks for what a person allowed. */
export function foreignText(
  parts: TextSources,
  { graph, roles }: Pick<StartRequest, "graph" | "roles">,
  withheld: readonly string[] = [],
): Pick<StartRequest, "foreign"> {
  const texts = foreignOf(parts, graph, roles);
  if (texts.length === 0) return {};
  return { foreign: { texts: texts.map(textHash), allowed: allowedPlaces(withheld) } };
}

/** The untrusted texts of a version. A published version keeps those from its publishing. */
export const foreignIn = (
  parts: TextSources,
  { published, withheld }: Pick<ChosenVersion, "published" | "withheld">,
  needs: Pick<StartRequest, "graph" | "roles">,
): Pick<StartRequest, "foreign"> =>
  published ? defined({ foreign: published.foreign }) : foreignText(parts, needs, withheld);

/** The content of a draft for publishing. Undefined if the workflow doesn't exist. Throws Rejection if it can't run. */
export function publishable(
  parts: CalledSources,
  id: string,
): (PublishedContent & { name: string }) | undefined {
  const draft = versionOf(parts, id);
  if (!draft) return undefined;
  const { name, graph, withheld } = draft;
  refuseProblems(graph, draft.roles, { withheld, ...knownTo(parts, id) });
  refusePriceless(graph, RunConfig.parse(graph.config ?? {}), parts.models);
  calledBy(parts, graph, [id]);
  const { roles } = whatItNeeds(graph, draft.roles, parts.models);
  return { name, graph, roles, withheld, ...foreignIn(parts, draft, { graph, roles }) };
}

/**
 * Checks a graph and its input and takes what a run needs of them. Crews and agents that it names must have been copied
 * into it.
 * Throws Rejection.
 */
export function readyToRun(
  graph: WorkflowGraph,
  roles: readonly RoleDefinition[],
  given: Pick<Launch, "input" | "config"> &
    Pick<ProblemContext, "withheld" | "workflows" | "secrets"> & { variables?: JsonObject | undefined },
  models: Models,
): Pick<StartRequest, "graph" | "roles" | "input" | "config" | "provider_summary" | "context_windows"> {
  refuseProblems(graph, roles, given);
  const errors = findInputErrors(graph, given.input);
  if (errors.length > 0) throw notStarted("The input is invalid.", { errors });
  const config = RunConfig.parse({ ...graph.config, ...given.config });
  const unread = breakpointsError(config.breakpoints ?? []);
  if (unread !== null) throw notStarted(unread, { errors: [{ key: "breakpoints", message: unread }] });
  const { state } = startingState(graph, given.input, given.variables);
  if (sizeOf(state) > config.max_state_chars)
    throw notStarted("The input is too large.", {
      errors: Object.keys(given.input)
        .toSorted((x, y) => sizeOf(given.input[y]) - sizeOf(given.input[x]))
        .slice(0, 1)
        .map((key) => ({
          key,
          message: `The initial state is too large: ${sizeText(sizeOf(state))}; the maximum is ${sizeText(config.max_state_chars)}. Provide less data, or raise the limit in the workflow's settings.`,
        })),
    });
  refusePriceless(graph, config, models);
  return { ...whatItNeeds(graph, roles, models), input: given.input, config };
}

/** Throws Rejection. */
function refuseProblems(...of: Parameters<typeof errorsOf>): void {
  const problems = errorsOf(...of);
  if (problems.length > 0)
    throw notStarted(
      problems.length === 1
        ? `This workflow can't run yet: ${must(problems, 0).message}`
        : `This workflow can't run yet: it has ${problems.length} problems.`,
      { problems },
    );
}

/** The workflows and secrets that a workflow can use. */
const knownTo = (parts: VersionSources & Pick<TextSources, "secrets">, id: string) => ({
  workflows: versionsAround(parts, id),
  secrets: parts.secrets?.knownTo(id),
});

/** What keeps a graph from running. Crews and agents that it names must have been copied into it. */
const errorsOf = (
  graph: WorkflowGraph,
  roles: readonly RoleDefinition[],
  { withheld, workflows, secrets }: Pick<ProblemContext, "withheld" | "workflows" | "secrets">,
): Problem[] =>
  findProblems(graph, [...roles], undefined, { library: EMPTY_LIBRARY, withheld, workflows, secrets }).filter(
    ({ severity }) => severity === "error",
  );

/** The roles that a graph names, and facts about the models that it uses. */
function whatItNeeds(
  graph: WorkflowGraph,
  roles: readonly RoleDefinition[],
  models: Pick<Models, "describe">,
) {
  const windows = [{}, ...modelUses(graph).map(({ choice }) => choice)].flatMap((choice) => {
    const tokens = models.describe(choice)?.context_window;
    return tokens === undefined ? [] : [[choiceKey(choice), tokens] as const];
  });
  const used = roleUses(graph);
  return {
    graph,
    roles: roles.filter(({ name }) => used.has(name)),
    provider_summary: whoAnswers(graph, models),
    context_windows: Object.fromEntries(windows),
  };
}

/** The sources for copies of the workflows that a graph runs. */
export interface CalledSources extends TextSources, VersionSources {
  workflows: TextSources["workflows"] & VersionSources["workflows"];
  roles: TextSources["roles"] & VersionSources["roles"];
  models: Pick<Models, "describe">;
}

/**
 * Copies of the workflows that a graph runs, and of those that these run: of the published versions, or of drafts that were
 * never published. `path`: the ids of the
 * workflow and of those that run it. Throws Rejection if one is missing, has errors, or runs itself.
 */
export function calledBy(
  parts: CalledSources,
  graph: WorkflowGraph,
  path: readonly string[],
  found: Record<string, CalledWorkflow> = {},
): { workflows?: Record<string, CalledWorkflow> } {
  for (const id of calledWorkflows(graph)) {
    const workflow = versionOf(parts, id, "published");
    if (!workflow) throw notCalled(`It runs the workflow "${id}", which doesn't exist.`);
    if (path.includes(id)) throw notCalled(`It runs ${workflow.name}, which runs itself.`);
    let called = found[id];
    if (!called) {
      const { graph: drawn, roles, published } = workflow;
      // Its problems have their places in that workflow, not in this one.
      const [problem] = errorsOf(drawn, roles, {
        withheld: workflow.withheld,
        secrets: parts.secrets?.knownTo(id),
      });
      if (problem) {
        const node = problem.at.id === undefined ? undefined : drawn.nodes[problem.at.id];
        const where = node ? ` at ${node.name || node.id}` : "";
        throw notCalled(`It runs ${workflow.name}, which has a problem${where}: ${problem.message}`);
      }
      const needs = whatItNeeds(drawn, roles, parts.models);
      const version = defined({
        version: published?.number,
        variables: parts.variables?.valuesFor(id),
      });
      called = { name: workflow.name, ...version, ...needs, ...foreignIn(parts, workflow, needs) };
      found[id] = called;
    }
    calledBy(parts, called.graph, [...path, id], found);
  }
  return Object.keys(found).length > 0 ? { workflows: found } : {};
}

const notCalled = (message: string) =>
  notStarted(`This workflow can't run yet: ${message}`, { errors: [{ key: "workflow_id", message }] });

/** Refuses a budget in dollars that could not be kept. Throws Rejection. */
export function refusePriceless(
  graph: WorkflowGraph,
  config: Pick<RunConfig, "budget">,
  models: Pick<Models, "describe">,
): void {
  const priceless = modelUses(graph).find(({ choice }) => models.describe(choice)?.price_known === false);
  if (config.budget.max_cost_usd != null && priceless) {
    const { choice } = priceless;
    throw notStarted("A dollar budget can't be enforced: the price of this model is unknown.", {
      errors: [
        {
          key: "max_cost_usd",
          message: `${isStandard(choice) ? "The model's price" : `The price of ${choice.model ?? "a model"}`} is unknown. Set its price in Settings, limit tokens instead, or run without this budget.`,
        },
      ],
    });
  }
}

/** Who will be asked in a run, as the settings are now; null where no model is. What answered stands with each call. */
function whoAnswers(
  graph: WorkflowGraph,
  models: Pick<Models, "describe">,
): StartRequest["provider_summary"] {
  const asked = modelUses(graph).flatMap(({ choice }) => models.describe(choice) ?? []);
  if (asked.length === 0) return null;
  const together = (names: string[]) => [...new Set(names)].join(" and ");
  return {
    name: together(asked.map(({ name }) => name)),
    model: together(asked.map(({ model }) => model)),
    simulated: asked.every(({ simulated }) => simulated),
  };
}
