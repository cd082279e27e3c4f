import { z } from "zod";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { isSameJson } from "@/server/domain/base/json";
import { Findings } from "@/server/domain/base/lenient-reader";
import { Rejection } from "@/server/domain/errors/rejection";
import { readWorkflow, tooManyParts } from "@/server/domain/graph/document/document";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { withPlainNames } from "@/server/domain/library/plain-names";
import { type Note, noteGrants } from "@/server/domain/run/audit";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { readTests } from "@/server/domain/scenario/test-file";
import { readSent } from "@/server/interop/import/off-thread";
import { LIMITS } from "@/server/limits";
import { Finding } from "@/server/operations/common-schemas";
import { onlyUnlimited } from "@/server/operations/limited/limited";
import { bringTests } from "@/server/operations/scenarios/stored-tests";
import { workflowOf } from "@/server/operations/workflows/stored-workflow";
import { workflowOperations } from "@/server/operations/workflows/workflows";
import { type EndpointCall, endpoint } from "./endpoint";
import { endpointsOf, expectedRevision, IF_MATCH, performFor } from "./expose";

type FindingOf = z.infer<typeof Finding>;

/** Read with all tolerance; its problems become findings, not refusals of a schema. */
const AnyWorkflow = z.unknown().meta({
  description:
    "An exported workflow file, or a bare graph, also in OpenHands format. IDs that can be generated, such as edge IDs, can be omitted; anything not understood is returned as findings.",
  anyOf: [
    { $ref: "#/components/schemas/WorkflowFile" },
    { $ref: "#/components/schemas/WorkflowGraph" },
    { $ref: "#/components/schemas/OpenHandsGraph" },
    { type: "object" },
  ],
});
/** A token may give a role any tool anyway, so that asking here again would protect nothing. */
const ROLES_COME =
  "A file sent with a token is trusted like the operator's own. Each of its roles is added with its tools, unless a role with that name exists; its `confirmation` applies in addition to the installation's rule. Imports in the browser leave out tools that no one selected, and keep the default confirmation.";
const Saved = z.object({ id: z.string(), revision: z.int(), findings: z.array(Finding) });

/** Reads a file with all its findings; refuses one that holds no workflow. */
async function readFile(file: unknown): Promise<{
  name: string;
  graph: WorkflowGraph;
  roles: RoleDefinition[];
  tests: ScenarioTest[];
  findings: FindingOf[];
}> {
  const tooMany = tooManyParts(file);
  if (tooMany) throw new Rejection("too_large", tooMany);
  const ofNames = new Findings();
  const { graph, name, roles, findings, tests: given } = withPlainNames(readWorkflow(file), ofNames);
  if (!graph) throw new Rejection("not_a_workflow", await whatItIs(file), { findings });
  const { tests, findings: ofTests } = readTests(given);
  return { graph, name, roles, tests, findings: [...findings, ...ofNames.all(), ...ofTests] };
}

/** Says what a file is that is no workflow of ours. */
async function whatItIs(file: unknown): Promise<string> {
  const { found: all } = await readSent([{ path: "", text: JSON.stringify(file) ?? "" }]);
  const [found] = all;
  if (!found || found.format === "troupe-workflow") return "This is not a workflow file.";
  const instead = found.isReadable ? " Send it to POST /imports." : "";
  return `This is ${found.label}, not a workflow file.${instead}`;
}

/** Adds the roles of a file that do not exist here, with their tools; those that do stay as they are. */
function addRoles(
  { roles: store }: EndpointCall["services"],
  roles: readonly RoleDefinition[],
  note: Note,
): FindingOf[] {
  return roles.flatMap((role): FindingOf[] => {
    const known = store.find(role.name);
    if (!known) {
      store.create(role);
      noteGrants(note, undefined, role, { from: "file" });
      const message = `Added the role "${role.name}".`;
      return [{ level: "info", at: `roles.${role.name}`, message }];
    }
    if (isSameJson(known.role, role)) return [];
    const message = `Kept the existing role "${role.name}", which differs.`;
    return [{ level: "info", at: `roles.${role.name}`, message }];
  });
}

export const workflowEndpoints = [
  endpoint({
    method: "POST",
    path: "/workflows",
    name: "createWorkflow",
    summary: "Import a workflow",
    needs: workflowOperations.create.needs,
    about: ROLES_COME,
    tag: "Workflows",
    body: AnyWorkflow,
    maxBytes: LIMITS.body.import,
    success: { status: 201, about: "The workflow's ID, and the import findings", schema: Saved },
    refusals: [422],
    async answer(call) {
      const { name, graph, roles, tests, findings } = await readFile(call.body);
      const { id } = performFor(
        workflowOperations.create,
        { name: name || "Imported workflow", graph },
        call,
      );
      const added = addRoles(call.services, roles, call.note);
      bringTests(call.services, id, tests);
      return {
        status: 201,
        body: { id, revision: 1, findings: [...findings, ...added] },
        headers: { location: `/api/v1/workflows/${id}` },
      };
    },
  }),

  endpoint({
    method: "PUT",
    path: "/workflows/{id}",
    name: "replaceWorkflow",
    summary: "Replace a workflow",
    needs: workflowOperations.save.needs,
    about: ROLES_COME,
    tag: "Workflows",
    body: AnyWorkflow,
    maxBytes: LIMITS.body.import,
    reads: { "If-Match": IF_MATCH },
    success: { status: 200, about: "The new revision, and the import findings", schema: Saved },
    refusals: [404, 412, 422],
    async answer(call) {
      const { id } = workflowOf(call.services, call.params.id);
      const { name, graph, roles, tests, findings } = await readFile(call.body);
      if (call.principal && roles.some((role) => !call.services.roles.find(role.name)))
        onlyUnlimited(call.principal);
      const input = {
        id,
        revision: expectedRevision(call.headers) ?? workflowOf(call.services, id).revision,
        graph,
        reason: "replace" as const,
        ...(name ? { name } : {}),
      };
      const saved = performFor(workflowOperations.save, input, call).revision;
      const added = addRoles(call.services, roles, call.note);
      bringTests(call.services, id, tests);
      return { body: { id, revision: saved, findings: [...findings, ...added] } };
    },
  }),

  ...endpointsOf(workflowOperations),
];
