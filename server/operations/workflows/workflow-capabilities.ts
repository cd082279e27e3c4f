import { z } from "zod";
import { changeGrants, manifestOf } from "@/server/access/manifest";
import type { Principal } from "@/server/access/principal";
import { Rejection } from "@/server/domain/errors/rejection";
import type { StoredWorkflow } from "@/server/store/workflows";
import { onlyTrusted, operationsOf } from "../operation";
import type { Services } from "../services";
import { namedIn } from "./named-places";
import { ById, workflowOf } from "./stored-workflow";
import { CapabilityGrant } from "./workflow-schemas";

const { mutation, query } = operationsOf("Workflows");

/** Keys of capabilities. */
const Keys = z
  .array(z.string().max(1_000))
  .max(5_000)
  .meta({ description: "Keys, such as tool:http_request" });

/** Where the permissions of a workflow come from. */
const sourcesOf = (services: Services, { id, graph }: StoredWorkflow) => ({
  ...services,
  published: services.versions.newest(id),
  named: namedIn(services, graph),
});

const manifest = (services: Services, id: string) => {
  const workflow = workflowOf(services, id);
  return manifestOf(workflow.graph, { ...sourcesOf(services, workflow), withheld: workflow.withheld });
};

/** Throws person_only if something blocked is to be allowed. */
function refuseGrants(services: Services, id: string, allow: readonly string[], principal: Principal): void {
  if (manifest(services, id).some(({ key, allowed }) => !allowed && allow.includes(key)))
    onlyTrusted(principal, "Permissions decide what imported files may use");
}

/** What runs of a workflow may use of all that it asks for. */
export const capabilityOperations = {
  capabilities: query({
    name: "getWorkflowCapabilities",
    summary: "Get a workflow's permissions",
    about:
      "Every tool, host, specified model, program and long-term memory that nodes of its draft and published version and their roles request. Anything not `allowed` came with an imported file and hasn't been allowed yet: runs are rejected until someone allows it or the workflow no longer requests it.",
    needs: "read",
    input: ById,
    output: z.array(CapabilityGrant),
    http: {
      route: "GET /workflows/{id}/capabilities",
      success: "The permissions, by kind and name",
      as: "capabilities",
    },
    run: (services, { id }) => manifest(services, id),
  }),

  setCapabilities: mutation({
    name: "setWorkflowCapabilities",
    summary: "Set a workflow's permissions",
    about:
      "`allow` replaces the list of permissions that are allowed; everything else that the workflow requests is blocked, also in published versions.",
    needs: "author",
    input: ById.extend({ allow: Keys }),
    output: z.array(CapabilityGrant),
    problems: ["not_found", "not_asked_for", "person_only"],
    audits: ["workflow_allowed"],
    http: {
      route: "PUT /workflows/{id}/capabilities",
      success: "The updated permissions, by kind and name",
      as: "capabilities",
    },
    run(services, { id, allow }, { note, principal }) {
      const workflow = workflowOf(services, id);
      refuseGrants(services, id, allow, principal);
      const sources = sourcesOf(services, workflow);
      const asked = new Set(manifestOf(workflow.graph, { ...sources, withheld: [] }).map(({ key }) => key));
      const unknown = allow.filter((key) => !asked.has(key));
      if (unknown.length > 0)
        throw new Rejection("not_asked_for", `This workflow doesn't request ${unknown[0]}.`, { unknown });
      const withhold = [...asked].filter((key) => !allow.includes(key));
      changeGrants(sources, workflow, { allow, withhold }, note);
      return manifest(services, id);
    },
  }),

  allow: mutation({
    name: "changeWorkflowCapabilities",
    summary: "Allow or block some of a workflow's permissions",
    about:
      "Others are unchanged; those that the workflow no longer requests are removed. What is blocked is blocked in published versions, too; what is allowed applies to them from the next version.",
    needs: "author",
    input: ById.extend({ allow: Keys.default([]), withhold: Keys.default([]) }),
    audits: ["workflow_allowed"],
    http: { route: "POST /workflows/{id}/capabilities", success: "Applies from the next run" },
    run(services, { id, ...change }, { note, principal }) {
      const workflow = workflowOf(services, id);
      refuseGrants(services, id, change.allow, principal);
      changeGrants(sourcesOf(services, workflow), workflow, change, note);
    },
  }),
};
