import { readStoredGraph } from "@/server/store/stored-graph";
import type { Services } from "../services";
import type { Rights } from "./rights";
import { checked, only, refuse, whole } from "./views";

/** Workflows and what belongs to them. */
export function workflowServices(
  services: Services,
  { ids, hasWorkflow, needWorkflow, needCalls, needTrigger }: Rights,
) {
  const { workflows, scenarios } = services;
  return {
    workflows: only(workflows, {
      ...checked(needWorkflow, workflows, "rename", "withhold", "remove", "restore"),
      ...whole(workflows, "atOnce"),
      foreign: only(workflows.foreign, whole(workflows.foreign, "among")),
      points: only(workflows.points, checked(needWorkflow, workflows.points, "find", "list")),
      find: (id) => (hasWorkflow(id) ? workflows.find(id) : undefined),
      list: () => workflows.list().filter(({ id }) => hasWorkflow(id)),
      duplicate: (id) => (hasWorkflow(id) ? refuse() : undefined),
      save(change) {
        needWorkflow(change.id);
        needCalls(change.id, change.graph);
        return workflows.save(change);
      },
      putBack(id, earlier) {
        needWorkflow(id);
        needCalls(id, readStoredGraph(earlier.graph));
        return workflows.putBack(id, earlier);
      },
    }),
    versions: only(services.versions, {
      ...checked(needWorkflow, services.versions, "find", "list", "setTests"),
      publish(id, content) {
        needWorkflow(id);
        needCalls(id, content.graph);
        return services.versions.publish(id, content);
      },
      // For the workflows that it runs.
      ...whole(services.versions, "newest"),
    }),
    scenarios: only(scenarios, {
      ...checked(
        needWorkflow,
        scenarios,
        ...(["create", "find", "keep", "list", "remove", "result", "results", "save"] as const),
      ),
      judges: only(scenarios.judges, {
        ...checked(
          needWorkflow,
          scenarios.judges,
          ...(["judgeCounts", "judged", "keepVerdict", "label", "verdict"] as const),
        ),
      }),
    }),
    ...triggerServices(services, { needTrigger, needWorkflow, hasWorkflow }),
    secrets: only(services.secrets, {
      ...whole(services.secrets, "find", "knownTo"),
      // Named, since every object inherits a method of this name.
      valueOf: refuse,
      list: () =>
        services.secrets.list().flatMap((secret) => {
          const own = secret.workflows?.filter((id) => ids.has(id)) ?? null;
          return own?.length === 0 ? [] : [{ ...secret, workflows: own }];
        }),
    }),
    variables: only(services.variables, {
      ...checked((id) => id === null || needWorkflow(id), services.variables, "count", "list", "valuesFor"),
      ...checked((id) => (id === null ? refuse() : needWorkflow(id)), services.variables, "put", "remove"),
    }),
  } satisfies Partial<Services>;
}

function triggerServices(
  services: Services,
  { needTrigger, needWorkflow, hasWorkflow }: Pick<Rights, "needTrigger" | "needWorkflow" | "hasWorkflow">,
) {
  return {
    triggerStore: only(services.triggerStore, {
      ...checked(
        needTrigger,
        services.triggerStore,
        ...(["find", "fires", "keyOf", "remove", "save", "setKey"] as const),
      ),
      ...checked(needWorkflow, services.triggerStore, "create", "ofWorkflow"),
      ...whole(services.triggerStore, "ofKind"),
      disabled: () => services.triggerStore.disabled().filter((one) => hasWorkflow(one.workflow_id)),
    }),
    triggers: only(services.triggers, {
      ...checked(
        ({ id }: { id: string }) => needTrigger(id),
        services.triggers,
        "fire",
        "retry",
        "upcoming",
        "backfill",
      ),
      ...checked(needWorkflow, services.triggers, "graphOf"),
      ...whole(services.triggers, "changed"),
    }),
  } satisfies Partial<Services>;
}
