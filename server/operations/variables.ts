import { z } from "zod";
import { sizeOf, sizeText } from "@/server/domain/base/sizes";
import { Json, StateKey } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { Time } from "./common-schemas";
import { type Caller, onlyTrusted, operationsOf } from "./operation";
import { notFound } from "./rejections";
import type { Services } from "./services";
import { workflowOf } from "./workflows/stored-workflow";

const { mutation, query } = operationsOf("Workflows");

const LIMITS = { chars: 16 * 1024, each: 200 } as const;

const ListedVariable = z.object({
  name: StateKey,
  value: Json,
  workflow_id: z.string().nullable().meta({ description: "Null: a variable of the installation" }),
  updated_at: Time,
});
const ByName = z.object({ name: StateKey });
const OfWorkflow = z.object({ workflow_id: z.string() });
const Value = Json.meta({ description: `Any JSON; at most ${sizeText(LIMITS.chars)}` });

/** Throws Rejection. */
function put(
  { variables }: Services,
  { workflow_id, name, value }: { workflow_id: string | null; name: string; value: Json },
  { principal, note }: Caller,
): void {
  onlyTrusted(principal, "Variables count as a person's own words");
  if (sizeOf(value) > LIMITS.chars)
    throw new Rejection(
      "too_large",
      `The value is too large: ${sizeText(sizeOf(value))}; the maximum is ${sizeText(LIMITS.chars)}.`,
    );
  const isKnown = variables
    .list(workflow_id)
    .some((one) => one.name === name && one.workflow_id === workflow_id);
  if (!isKnown && variables.count(workflow_id) >= LIMITS.each)
    throw new Rejection("too_large", `There can be at most ${LIMITS.each} variables. Delete some first.`);
  variables.put(workflow_id, name, value);
  note("variable_set", { variable: name, workflow_id });
}

/** Throws not_found. */
function remove({ variables }: Services, workflow_id: string | null, name: string, { note }: Caller): void {
  if (!variables.remove(workflow_id, name)) throw notFound("variable");
  note("variable_removed", { variable: name, workflow_id });
}

/** Values that runs read as `vars.NAME`. Those of the workflow override those of the installation. */
export const variableOperations = {
  list: query({
    name: "listVariables",
    summary: "List variables",
    about:
      "Without `workflow_id`, those of the installation; with it, those that the workflow's runs read. Its own override the installation's.",
    needs: "read",
    input: OfWorkflow.partial(),
    output: z.array(ListedVariable),
    http: { route: "GET /variables", success: "The variables by name", as: "variables" },
    run(services, { workflow_id }) {
      if (workflow_id !== undefined) workflowOf(services, workflow_id);
      return services.variables.list(workflow_id ?? null);
    },
  }),

  set: mutation({
    name: "setVariable",
    summary: "Set a variable of the installation",
    about:
      "Runs read it as `vars.NAME` in expressions and `{{vars.NAME}}` in templates. Runs in progress keep their value.",
    needs: "admin",
    input: ByName.extend({ value: Value }),
    problems: ["person_only", "too_large"],
    audits: ["variable_set"],
    http: { route: "PUT /variables/{name}", success: "Set" },
    run: (services, input, caller) => put(services, { ...input, workflow_id: null }, caller),
  }),

  remove: mutation({
    name: "deleteVariable",
    summary: "Delete a variable of the installation",
    needs: "admin",
    input: ByName,
    audits: ["variable_removed"],
    http: { route: "DELETE /variables/{name}", success: "Deleted" },
    run: (services, { name }, caller) => remove(services, null, name, caller),
  }),

  listOfWorkflow: query({
    name: "listWorkflowVariables",
    summary: "List the variables of a workflow",
    needs: "read",
    input: OfWorkflow,
    output: z.array(ListedVariable),
    http: { route: "GET /workflows/{id}/variables", success: "Its own variables by name", as: "variables" },
    run(services, { workflow_id }) {
      workflowOf(services, workflow_id);
      return services.variables.list(workflow_id).filter((one) => one.workflow_id !== null);
    },
  }),

  setOfWorkflow: mutation({
    name: "setWorkflowVariable",
    summary: "Set a variable of a workflow",
    about: "In its runs, it overrides a variable of the installation with the same name.",
    needs: "author",
    input: ByName.extend({ ...OfWorkflow.shape, value: Value }),
    problems: ["not_found", "person_only", "too_large"],
    audits: ["variable_set"],
    http: { route: "PUT /workflows/{id}/variables/{name}", success: "Set" },
    run(services, input, caller) {
      workflowOf(services, input.workflow_id);
      put(services, input, caller);
    },
  }),

  removeOfWorkflow: mutation({
    name: "deleteWorkflowVariable",
    summary: "Delete a variable of a workflow",
    needs: "author",
    input: ByName.extend(OfWorkflow.shape),
    audits: ["variable_removed"],
    http: { route: "DELETE /workflows/{id}/variables/{name}", success: "Deleted" },
    run(services, { workflow_id, name }, caller) {
      workflowOf(services, workflow_id);
      remove(services, workflow_id, name, caller);
    },
  }),
};
