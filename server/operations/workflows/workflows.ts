import { z } from "zod";
import { toId } from "@/server/domain/base/ids";
import { plainName } from "@/server/domain/base/names";
import { newIsToolKnown, toolFacts } from "@/server/domain/crew/crew-tools";
import { Rejection } from "@/server/domain/errors/rejection";
import { type CalledWorkflows, interfaceOf } from "@/server/domain/graph/callable";
import { lossesOf, MAX_FILE_BYTES, writeWorkflow } from "@/server/domain/graph/document/document";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { sketchOf } from "@/server/domain/graph/sketch";
import { withLibrary } from "@/server/domain/library/library";
import { graphWithPlainNames } from "@/server/domain/library/plain-names";
import { roleUses } from "@/server/domain/library/role-use";
import { isExecutable } from "@/server/domain/nodes";
import { findProblems, type Problem } from "@/server/domain/problems/problems";
import { readImport } from "@/server/interop/import/pipeline";
import { writeText } from "@/server/interop/text-files";
import { usedBy, versionsAround } from "@/server/runner/lifecycle/workflow-version";
import { RESTORE_REASONS } from "@/server/store/versions/restore-points";
import type { WorkflowStore } from "@/server/store/workflows";
import { findTemplate, gallery } from "@/server/templates";
import { operationsOf } from "../operation";
import type { Place } from "../paging";
import { notFound } from "../rejections";
import { bringTests, scenarioOf, testsForFile } from "../scenarios/stored-tests";
import type { Services } from "../services";
import { bringRoles } from "./role-import";
import { ById, workflowOf } from "./stored-workflow";
import { capabilityOperations } from "./workflow-capabilities";
import { estimateWorkflow } from "./workflow-estimate";
import {
  OpenHandsGraph,
  WorkflowFile,
  WorkflowInterface,
  WorkflowProblem,
  WorkflowSummary,
} from "./workflow-schemas";

const { mutation, query } = operationsOf("Workflows");

const Name = z.string().overwrite(plainName).trim().min(1, "Enter a name").max(200, "At most 200 characters");
const NewId = z.object({ id: z.string() });
/** Notes are on the canvas and aren't executed. */
const nodeCount = ({ nodes }: WorkflowGraph) => Object.values(nodes).filter(isExecutable).length;

/** Saved workflows: list, draw, export, and what they may use. */
export const workflowOperations = {
  list: query({
    name: "listWorkflows",
    summary: "List workflows, newest first",
    needs: "read",
    input: z.void(),
    output: z.array(WorkflowSummary),
    http: {
      route: "GET /workflows",
      success: "A page of workflows",
      as: "workflows",
      page: ({ updated_at, id }: z.output<typeof WorkflowSummary>): Place => [updated_at, id],
    },
    run(services) {
      const runs = services.runs.byWorkflow();
      return services.workflows.list().map(({ id, name, revision, graph, updated_at }) => ({
        id,
        name,
        description: graph.description || null,
        revision,
        node_count: nodeCount(graph),
        sketch: sketchOf(graph),
        updated_at,
        last_run: runs.get(id)?.last_run ?? null,
        run_count: runs.get(id)?.run_count ?? 0,
      }));
    },
  }),

  callable: query({
    name: "listWorkflowInterfaces",
    summary: "List what workflows ask for and return",
    about:
      "For choosing a workflow that a node runs, and its inputs. Describes the published version, or the draft if nothing is published. Sorted by name.",
    needs: "read",
    input: z.void(),
    output: z.array(WorkflowInterface),
    http: { route: "GET /workflows/callable", success: "All workflows", as: "workflows" },
    run: ({ workflows, versions }) =>
      workflows
        .list()
        .map((workflow) => interfaceOf(usedBy({ versions }, workflow)))
        .sort((a, b) => a.name.localeCompare(b.name)),
  }),

  get: query({
    name: "getWorkflow",
    summary: "Get a workflow's graph and revision",
    needs: "read",
    input: ById,
    problems: ["not_found"],
    http: { browserOnly: "GET /workflows/{id} returns the same graph as a file, with its revision as ETag" },
    run: (services, { id }) => workflowOf(services, id),
  }),

  create: mutation({
    name: "createWorkflow",
    summary: "Create a workflow",
    needs: "author",
    input: z.object({ name: Name.optional(), graph: WorkflowGraph.optional() }),
    http: { own: "takes a whole file in any known format; 201 with a location" },
    run({ workflows }, input) {
      const name = plainName(input.name ?? freshName("Untitled workflow", workflows));
      return { id: workflows.create({ name, graph: graphWithPlainNames(input.graph ?? blankGraph(name)) }) };
    },
  }),

  save: mutation({
    name: "replaceWorkflow",
    summary: "Save a workflow",
    needs: "author",
    input: z.object({
      id: z.string(),
      revision: z.number().int(),
      name: Name.optional(),
      graph: WorkflowGraph,
      reason: z.enum(RESTORE_REASONS).optional().meta({
        description:
          "Why the draft is overwritten, unless by an edit. The previous draft becomes a restore point",
      }),
    }),
    problems: ["not_found", "changed_meanwhile"],
    http: { own: "takes a whole file, with its revision in If-Match" },
    run({ workflows }, input) {
      const named = input.name === undefined ? {} : { name: plainName(input.name) };
      const result = workflows.save({ ...input, ...named, graph: graphWithPlainNames(input.graph) });
      if (result.saved) return { revision: result.revision, updated_at: result.updated_at };
      if (!result.current) throw notFound("workflow");
      const { revision, graph, name, updated_at } = result.current;
      throw new Rejection(
        "changed_meanwhile",
        "This workflow was changed elsewhere. Reload and try again.",
        { revision },
        { graph, name, updated_at },
      );
    },
  }),

  rename: mutation({
    name: "renameWorkflow",
    summary: "Rename a workflow",
    needs: "author",
    input: ById.extend({ name: Name }),
    http: { route: "PUT /workflows/{id}/name", success: "Renamed" },
    run({ workflows }, { id, name }) {
      if (!workflows.rename(id, name)) throw notFound("workflow");
    },
  }),

  duplicate: mutation({
    name: "duplicateWorkflow",
    summary: "Duplicate a workflow",
    about: "Includes its tests. What is blocked for the original is also blocked for the copy.",
    needs: "author",
    input: ById,
    output: NewId,
    http: { route: "POST /workflows/{id}/duplicate", status: 201, success: "The ID of the copy" },
    run(services, { id }) {
      const { workflows } = services;
      const copy = workflows.duplicate(id);
      if (!copy) throw notFound("workflow");
      bringTests(services, copy, services.scenarios.list(id).map(scenarioOf));
      return { id: copy };
    },
  }),

  remove: mutation({
    name: "deleteWorkflow",
    summary: "Move a workflow to the trash",
    about: "Its runs are kept.",
    needs: "author",
    input: ById,
    http: { route: "DELETE /workflows/{id}", success: "Moved to the trash" },
    run({ workflows }, { id }) {
      if (!workflows.remove(id)) throw notFound("workflow");
    },
  }),

  restore: mutation({
    name: "restoreWorkflow",
    summary: "Restore a workflow from the trash",
    needs: "author",
    input: ById,
    http: { route: "POST /workflows/{id}/restore", success: "Restored" },
    run({ workflows }, { id }) {
      if (!workflows.restore(id)) throw notFound("workflow");
    },
  }),

  templates: query({
    name: "listTemplates",
    summary: "List templates",
    needs: "read",
    input: z.void(),
    output: z.array(
      z.object({
        key: z.string(),
        title: z.string(),
        description: z.string(),
        node_count: z.int(),
        graph: WorkflowGraph,
        sketch: z
          .unknown()
          .meta({ description: "A miniature of the graph: boxes and lines, for a thumbnail" }),
      }),
    ),
    http: { route: "GET /templates", success: "All templates", as: "templates" },
    run: () =>
      gallery.map(({ key, title, description, graph }) => ({
        key,
        title,
        description,
        node_count: nodeCount(graph),
        graph,
        sketch: sketchOf(graph),
      })),
  }),

  fromTemplate: mutation({
    name: "createFromTemplate",
    summary: "Create a workflow from a template",
    needs: "author",
    input: z.object({ key: z.string() }),
    output: NewId,
    audits: ["role_tools_changed"],
    http: { route: "POST /templates/{key}/workflows", status: 201, success: "The ID of the new workflow" },
    run(services, { key }, { note }) {
      const template = findTemplate(key);
      if (!template) throw notFound("template");
      const { title, graph, roles, tests } = template;
      bringRoles(roles, {
        store: services.roles,
        existing: "skip",
        allow_tools: roles.flatMap(({ tools }) => tools),
        note,
      });
      const id = services.workflows.create({ name: freshName(title, services.workflows), graph });
      bringTests(services, id, tests);
      return { id };
    },
  }),

  export: query({
    name: "exportWorkflow",
    summary: "Export a workflow",
    about: "Canonical: the same workflow always produces the same bytes. `ETag` is the revision.",
    needs: "read",
    input: ById.extend({
      flavour: z.enum(["troupe", "openhands"]).default("troupe"),
      roles: z.enum(["included", "referenced"]).default("included"),
      format: z.enum(["json", "yaml"]).default("json").meta({ description: "yaml: the same file as YAML" }),
      tests: z.enum(["included", "left_out"]).default("included"),
    }),
    output: z.union([WorkflowFile, OpenHandsGraph]),
    problems: ["not_found", "too_large"],
    http: {
      route: "GET /workflows/{id}",
      success: "The file; with the `openhands` flavor, the bare graph",
      file: ({ text, revision, format }: { text: string; revision: number; format: string }) => ({
        text,
        headers: { "content-type": `application/${format}; charset=utf-8`, etag: `"${revision}"` },
      }),
    },
    run(services, { id, flavour, roles, format, tests }) {
      const { name, graph: saved, revision } = workflowOf(services, id);
      // A file must be whole: crews and agents of the library go along as copies.
      const whole = withLibrary(saved, services.library);
      const graph = BLANK_ID.test(whole.graph_id)
        ? { ...whole, graph_id: toId(name) || whole.graph_id }
        : whole;
      const used = roleUses(graph);
      const usedRoles = services.roles.all().filter((role) => used.has(role.name));
      const contents = {
        flavour,
        name,
        ...(roles === "included" ? { roles: usedRoles } : {}),
        ...(tests === "included" ? { tests: testsForFile(services, id) } : {}),
      };
      const text = writeWorkflow(graph, contents);
      refuseTooLong(text);
      return {
        file_name: `${toId(name).toLowerCase() || "workflow"}.${format}`,
        text: format === "yaml" ? asYaml(text) : text,
        losses: lossesOf(graph, contents),
        format,
        revision,
      };
    },
  }),

  validate: query({
    name: "validateWorkflow",
    summary: "Check a workflow for problems",
    about: "Problems of severity `error` keep it from running.",
    needs: "read",
    input: ById,
    output: z.object({ can_run: z.boolean(), problems: z.array(WorkflowProblem) }),
    http: { route: "POST /workflows/{id}/validate", success: "The problems, errors first" },
    run(services, { id }) {
      const problems = problemsIn(services, workflowOf(services, id), {
        ...versionsAround({ ...services, workflows: services.called }, id),
        errors(called) {
          const workflow = services.called.find(called);
          return workflow ? problemsIn(services, usedBy(services, workflow)).filter(isError).length : 0;
        },
      });
      return {
        can_run: !problems.some(isError),
        problems: problems.map(({ severity, code, message, at }) => ({ severity, code, message, at })),
      };
    },
  }),

  estimate: estimateWorkflow,
  ...capabilityOperations,
};

const isError = ({ severity }: Problem) => severity === "error";

/** The problems of a workflow here. `workflows`: those around it; absent: what nodes run is not checked. */
function problemsIn(
  services: Services,
  { id, graph, withheld }: ReturnType<typeof workflowOf>,
  workflows?: CalledWorkflows,
): Problem[] {
  const { library } = services;
  return findProblems(withLibrary(graph, library), services.roles.all(), undefined, {
    withheld,
    secrets: services.secrets.knownTo(id),
    // Variables of called workflows aren't checked here, since missing ones are only warnings.
    variables: workflows && new Set(services.variables.list(id).map(({ name }) => name)),
    isPriceKnown: (choice) => services.models.describe(choice)?.price_known !== false,
    library,
    workflows,
    delegatesMayKeepTools: services.installation.delegate_tools !== "shared",
    ...toolFacts(services.registry.list()),
    isToolKnown: newIsToolKnown(
      services.registry.list().map(({ name }) => name),
      services.toolSources.mcp.list().map(({ name }) => name),
    ),
  });
}

/** What could not be read back is not written. Throws too_large. */
function refuseTooLong(text: string): void {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new Rejection(
      "too_large",
      "With its tests' recorded answers, this workflow exceeds the file size limit (5 MiB). Export it without its tests.",
    );
}

/** The name itself, or with the first number behind it that makes it new. */
function freshName(base: string, workflows: WorkflowStore): string {
  const taken = new Set(workflows.list().map(({ name }) => name));
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base} ${n}`;
    if (!taken.has(name)) return name;
  }
}

/** The default id of an unnamed workflow: its file gets the name that it has by then. */
const BLANK_ID = /^untitled_workflow(_\d+)?$/i;

/** The graph of a new workflow. Its end node is added with the first step. */
function blankGraph(name: string): WorkflowGraph {
  return WorkflowGraph.parse({
    graph_id: toId(name) || "workflow",
    start_node_id: "start",
    nodes: {
      start: {
        id: "start",
        node_type: "start",
        name: "Start",
        output_keys: ["user_request"],
        ui: { x: 0, y: 0 },
      },
    },
    edges: [],
  });
}

/** The text of a workflow file as YAML. Throws Rejection where that could not be read back. */
function asYaml(json: string): string {
  const text = writeText(JSON.parse(json), "yaml");
  const [error] = readImport([{ path: "workflow.yaml", text }]).findings.filter(
    ({ level }) => level === "error",
  );
  if (error)
    throw new Rejection(
      "too_large",
      `This workflow can't be exported as YAML, because the file couldn't be imported again. ${error.message} Export it as JSON.`,
    );
  return text;
}
