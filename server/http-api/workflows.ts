import { z } from "zod";
import { LIMITS } from "@/server/access/limits";
import { changeGrants, manifestOf } from "@/server/access/manifest";
import { type Note, noteGrants } from "@/server/domain/audit";
import { newIsToolKnown } from "@/server/domain/crew-tools";
import { readWorkflow, tooManyParts, writeWorkflow } from "@/server/domain/document";
import { type WorkflowGraph } from "@/server/domain/graph";
import { withLibrary } from "@/server/domain/library";
import { findProblems } from "@/server/domain/problems";
import type { RoleDefinition } from "@/server/domain/role";
import { roleUses } from "@/server/domain/role-use";
import { isSameJson } from "@/server/domain/values";
import { notFound, Problem } from "@/server/operations/problem";
import type { StoredWorkflow } from "@/server/store/workflows";
import { type Call, endpoint } from "./endpoint";
import { expectedRevision, IF_MATCH, newestFirst, pageOf } from "./paging";
import {
  CapabilityGrant,
  Finding,
  OpenHandsGraph,
  Page,
  WorkflowFile,
  WorkflowProblem,
  WorkflowSummary,
} from "./schemas";

type FindingOf = z.infer<typeof Finding>;

/** Read with all tolerance; its problems become findings, not refusals of a schema. */
const AnyWorkflow = z.unknown().meta({
  description:
    "A workflow file as the export gives it, or a bare graph, also in OpenHands' spelling. Ids of edges and other things that can be made up may be missing; what is not understood comes back as findings.",
  anyOf: [
    { $ref: "#/components/schemas/WorkflowFile" },
    { $ref: "#/components/schemas/WorkflowGraph" },
    { $ref: "#/components/schemas/OpenHandsGraph" },
    { type: "object" },
  ],
});
/** A token may give a role any tool by itself, so that asking here again would protect nothing. */
const ROLES_COME =
  "Roles that come with the file are added where none of that name exists, with the tools that they name: a file that is sent with a token is the operator's own. An import in the browser leaves out the tools that nobody ticked.";
const Saved = z.object({ id: z.string(), revision: z.int(), findings: z.array(Finding) });

const found = (services: Call["services"], id: string): StoredWorkflow => {
  const workflow = services.workflows.find(id);
  if (!workflow) throw notFound("workflow");
  return workflow;
};

/** Reads a file with all its findings; refuses one that holds no workflow. */
function readFile(file: unknown): {
  name: string;
  graph: WorkflowGraph;
  roles: RoleDefinition[];
  findings: FindingOf[];
} {
  const tooMany = tooManyParts(file);
  if (tooMany) throw new Problem("too_large", tooMany);
  const { graph, name, roles, findings } = readWorkflow(file);
  if (!graph) throw new Problem("not_a_workflow", "This is not a workflow file.", { findings });
  return { graph, name, roles, findings };
}

/** Adds the roles of a file that do not exist here, with their tools; those that do stay as they are. */
function addRoles(
  { roles: store }: Call["services"],
  roles: readonly RoleDefinition[],
  note: Note,
): FindingOf[] {
  return roles.flatMap((role): FindingOf[] => {
    const known = store.find(role.name);
    if (!known) {
      store.create(role);
      noteGrants(note, undefined, role, { from: "file" });
      return [{ level: "info", at: `roles.${role.name}`, message: `The role "${role.name}" was added.` }];
    }
    if (isSameJson(known.role, role)) return [];
    const message = `A different role "${role.name}" exists here and was kept.`;
    return [{ level: "info", at: `roles.${role.name}`, message }];
  });
}

export const workflowEndpoints = [
  endpoint({
    method: "GET",
    path: "/workflows",
    name: "listWorkflows",
    summary: "Lists workflows, newest first",
    tag: "Workflows",
    query: Page,
    success: {
      status: 200,
      about: "A page of workflows",
      schema: z.object({ workflows: z.array(WorkflowSummary), next_cursor: z.string().nullable() }),
    },
    answer({ services, query }) {
      const all = services.workflows.list().map((workflow) => ({
        id: workflow.id,
        name: workflow.name,
        description: workflow.graph.description ?? null,
        revision: workflow.revision,
        node_count: Object.keys(workflow.graph.nodes).length,
        updated_at: workflow.updated_at,
      }));
      const { items, next_cursor } = pageOf(
        all,
        query,
        (workflow) => [workflow.updated_at, workflow.id],
        newestFirst,
      );
      return { body: { workflows: items, next_cursor } };
    },
  }),

  endpoint({
    method: "POST",
    path: "/workflows",
    name: "createWorkflow",
    summary: "Saves a workflow file as a new workflow",
    about: ROLES_COME,
    tag: "Workflows",
    body: AnyWorkflow,
    maxBytes: LIMITS.body.import,
    success: { status: 201, about: "Its id, and what the import noticed", schema: Saved },
    refusals: [422],
    answer({ services, body, note }) {
      const { name, graph, roles, findings } = readFile(body);
      const added = addRoles(services, roles, note);
      const id = services.workflows.create({ name: name || "Imported workflow", graph });
      return {
        status: 201,
        body: { id, revision: 1, findings: [...findings, ...added] },
        headers: { location: `/api/v1/workflows/${id}` },
      };
    },
  }),

  endpoint({
    method: "GET",
    path: "/workflows/{id}",
    name: "exportWorkflow",
    summary: "The workflow as a file",
    about: "Canonical: the same workflow gives the same bytes. `ETag` is the revision.",
    tag: "Workflows",
    query: z.object({
      flavour: z.enum(["troupe", "openhands"]).default("troupe"),
      roles: z.enum(["included", "referenced"]).default("included"),
    }),
    success: {
      status: 200,
      about: "The file; in OpenHands' flavour its bare graph",
      schema: z.union([WorkflowFile, OpenHandsGraph]),
    },
    refusals: [404],
    answer({ services, params, query }) {
      const { graph: saved, name, revision } = found(services, params.id);
      // A file must be whole: crews and agents of the library go along as copies.
      const graph = withLibrary(saved, services.library);
      const used = new Set(roleUses(graph).keys());
      const roles = services.roles.all().filter((role) => used.has(role.name));
      const text = writeWorkflow(graph, {
        flavour: query.flavour,
        name,
        ...(query.roles === "included" ? { roles } : {}),
      });
      return new Response(text, {
        headers: { "content-type": "application/json; charset=utf-8", etag: `"${revision}"` },
      });
    },
  }),

  endpoint({
    method: "PUT",
    path: "/workflows/{id}",
    name: "replaceWorkflow",
    summary: "Replaces a workflow with a file",
    about: ROLES_COME,
    tag: "Workflows",
    body: AnyWorkflow,
    maxBytes: LIMITS.body.import,
    reads: { "If-Match": IF_MATCH },
    success: { status: 200, about: "The new revision, and what the import noticed", schema: Saved },
    refusals: [404, 412, 422],
    answer({ services, params, body, headers, note }) {
      const before = found(services, params.id);
      const { name, graph, roles, findings } = readFile(body);
      const revision = expectedRevision(headers) ?? before.revision;
      const result = services.workflows.save({ id: before.id, revision, graph, ...(name ? { name } : {}) });
      if (!result.saved && !result.current) throw notFound("workflow");
      if (!result.saved)
        throw new Problem("changed_meanwhile", "The workflow was changed in between.", {
          revision: result.current?.revision,
        });
      const added = addRoles(services, roles, note);
      return { body: { id: before.id, revision: result.revision, findings: [...findings, ...added] } };
    },
  }),

  endpoint({
    method: "DELETE",
    path: "/workflows/{id}",
    name: "deleteWorkflow",
    summary: "Puts a workflow into the bin",
    about: "Its runs stay.",
    tag: "Workflows",
    success: { status: 204, about: "It is gone" },
    refusals: [404],
    answer({ services, params }) {
      if (!services.workflows.remove(params.id)) throw notFound("workflow");
      return { status: 204 };
    },
  }),

  endpoint({
    method: "POST",
    path: "/workflows/{id}/validate",
    name: "validateWorkflow",
    summary: "Says what is wrong with a workflow",
    about: "Problems of severity `error` keep it from running.",
    tag: "Workflows",
    success: {
      status: 200,
      about: "Its problems, errors first",
      schema: z.object({ can_run: z.boolean(), problems: z.array(WorkflowProblem) }),
    },
    refusals: [404],
    answer({ services, params }) {
      const { library } = services;
      const problems = findProblems(
        withLibrary(found(services, params.id).graph, library),
        services.roles.all(),
        undefined,
        {
          withheld: found(services, params.id).withheld,
          isPriceKnown: (choice) => services.models.describe(choice)?.price_known !== false,
          library,
          isToolKnown: newIsToolKnown(
            services.registry.list().map(({ name }) => name),
            services.toolSources.mcp.list().map(({ name }) => name),
          ),
        },
      );
      return {
        body: {
          can_run: !problems.some(({ severity }) => severity === "error"),
          problems: problems.map(({ severity, code, message, at }) => ({ severity, code, message, at })),
        },
      };
    },
  }),

  endpoint({
    method: "GET",
    path: "/workflows/{id}/capabilities",
    name: "getWorkflowCapabilities",
    summary: "What runs of a workflow may use",
    about:
      "Every tool, host, named model, program and lasting memory that its nodes and the roles at them ask for. What is not `allowed` came with an imported file and nobody has allowed it: a run is refused until then, or until the drawing asks for it no more.",
    tag: "Workflows",
    success: {
      status: 200,
      about: "By kind and name",
      schema: z.object({ capabilities: z.array(CapabilityGrant) }),
    },
    refusals: [404],
    answer({ services, params }) {
      const { graph, withheld } = found(services, params.id);
      return { body: { capabilities: manifestOf(graph, { ...services, withheld }) } };
    },
  }),

  endpoint({
    method: "PUT",
    path: "/workflows/{id}/capabilities",
    name: "setWorkflowCapabilities",
    summary: "Says what a workflow may use",
    about: "`allow` becomes everything that it may use, of what it asks for; the rest is withheld.",
    tag: "Workflows",
    body: z.object({
      allow: z
        .array(z.string().max(1_000))
        .max(5_000)
        .meta({ description: "Keys, such as tool:http_request" }),
    }),
    success: {
      status: 200,
      about: "By kind and name, as it is now",
      schema: z.object({ capabilities: z.array(CapabilityGrant) }),
    },
    refusals: [404, 422],
    answer({ services, params, body: { allow }, note }) {
      const workflow = found(services, params.id);
      const asked = new Set(manifestOf(workflow.graph, { ...services, withheld: [] }).map(({ key }) => key));
      const unknown = allow.filter((key) => !asked.has(key));
      if (unknown.length > 0)
        throw new Problem("not_asked_for", `This workflow does not ask for ${unknown[0]}.`, {
          unknown,
        });
      const withhold = [...asked].filter((key) => !allow.includes(key));
      changeGrants(services, workflow, { allow, withhold }, note);
      const { graph, withheld } = found(services, params.id);
      return { body: { capabilities: manifestOf(graph, { ...services, withheld }) } };
    },
  }),
];
