import { and, asc, count, eq, inArray } from "drizzle-orm";
import type { Db } from "@/db/open";
import { variables } from "@/db/schema";
import { parseJson } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";

/** A variable; `workflow_id` is null for one of the installation. */
export interface StoredVariable {
  name: string;
  value: Json;
  workflow_id: string | null;
  updated_at: number;
}

export type VariableStore = ReturnType<typeof newVariableStore>;

/** Variables of the installation (null) and of workflows. */
export function newVariableStore(db: Db, now: () => number = Date.now) {
  const of = (workflow: string | null) => eq(variables.workflowId, workflow ?? "");
  const rows = (workflow: string | null): StoredVariable[] =>
    db
      .select()
      .from(variables)
      .where(of(workflow))
      .orderBy(asc(variables.name))
      .all()
      .map(({ name, value, workflowId, updatedAt }) => ({
        name,
        value: parseJson(value),
        workflow_id: workflowId || null,
        updated_at: updatedAt,
      }));
  /** The variables that runs of a workflow read, by name. Its own override the installation's. */
  const list = (workflow: string | null): StoredVariable[] => {
    if (workflow === null) return rows(null);
    const found = new Map([...rows(null), ...rows(workflow)].map((one) => [one.name, one]));
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  return {
    list,
    valuesFor: (workflow: string): JsonObject =>
      Object.fromEntries(list(workflow).map(({ name, value }) => [name, value])),
    count: (workflow: string | null): number =>
      db.select({ n: count() }).from(variables).where(of(workflow)).get()?.n ?? 0,
    put(workflow: string | null, name: string, json: Json): void {
      const set = { value: JSON.stringify(json), updatedAt: now() };
      db.insert(variables)
        .values({ workflowId: workflow ?? "", name, ...set })
        .onConflictDoUpdate({ target: [variables.workflowId, variables.name], set })
        .run();
    },
    /** False if no variable has that name. */
    remove: (workflow: string | null, name: string): boolean =>
      db
        .delete(variables)
        .where(and(of(workflow), eq(variables.name, name)))
        .run().changes > 0,
  };
}

/** Deletes the variables of purged workflows. */
export function forgetVariablesOf(db: Pick<Db, "delete">, workflowIds: readonly string[]): void {
  db.delete(variables)
    .where(inArray(variables.workflowId, [...workflowIds]))
    .run();
}
