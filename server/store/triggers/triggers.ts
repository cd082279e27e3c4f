import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, or, type SQL } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import { triggerFires, triggers, workflows } from "@/db/schema";
import { defined } from "@/server/domain/base/defined";
import { newId } from "@/server/domain/base/ids";
import { MAX_FAILURES, type TriggerKind, TriggerSettings } from "@/server/domain/trigger/trigger";
import type { Sealer } from "@/server/secrets/sealer";
import { ownJson } from "../own-json";
import { hashOf } from "../tokens";
import { newFireHistory } from "./fire-history";
import { newFires } from "./fires";
import { newTriggerSecrets } from "./trigger-secrets";

/** A stored trigger. Times in Unix milliseconds. */
export type StoredTrigger = TriggerSettings & {
  id: string;
  workflow_id: string;
  enabled: boolean;
  /** Whether a webhook has signing secrets, or a form has a password. */
  has_secret: boolean;
  /** Of a schedule: the next planned time without a fire. */
  next_at: number | null;
  /** Fires in a row that failed. */
  failures: number;
  /** Why Troupe disabled it; null if it did not. */
  disabled_reason: string | null;
  /** Who wrote its config, as named in the audit. */
  by: string;
  created_at: number;
  updated_at: number;
};
export type StoredTriggerOf<K extends TriggerKind> = Extract<StoredTrigger, { kind: K }>;

/** `secrets` replaces the signing secrets. Without any, a signed webhook refuses every delivery. */
interface TriggerChange {
  enabled?: boolean | undefined;
  next_at?: number | null | undefined;
  secrets?: readonly string[] | undefined;
  by: string;
}

export type TriggerStore = ReturnType<typeof newTriggerStore>;

/** Triggers and their fires. */
export function newTriggerStore(db: Db, sealer: Sealer, now: () => number = Date.now) {
  const { keyColumns, secretColumn, ...secrets } = newTriggerSecrets(db, sealer);
  const found = (condition: SQL): StoredTrigger[] =>
    db
      .select()
      .from(triggers)
      .where(condition)
      .orderBy(asc(triggers.createdAt), asc(triggers.id))
      .all()
      .map(toTrigger);
  const columnsOf = (id: string, { enabled, next_at, secrets: given }: TriggerChange) =>
    defined({ isEnabled: enabled, nextAt: next_at, secret: given && secretColumn(id, given) });

  return {
    ...newFires(db, now),
    ...newFireHistory(db, now),
    ...secrets,

    find: (id: string): StoredTrigger | undefined => found(eq(triggers.id, id))[0],

    /** The trigger whose address has this key. */
    withKey: (key: string): StoredTrigger | undefined => found(eq(triggers.keyHash, hashOf(key)))[0],

    /** The triggers of a workflow, oldest first. */
    ofWorkflow: (workflowId: string): StoredTrigger[] => found(eq(triggers.workflowId, workflowId)),

    enabled: (): StoredTrigger[] => found(eq(triggers.isEnabled, true)),

    ofKind: <K extends TriggerKind>(kind: K): StoredTriggerOf<K>[] =>
      found(eq(triggers.kind, kind)).filter((one): one is StoredTriggerOf<K> => one.kind === kind),

    disabled: () => disabledIn(db),

    create(
      workflowId: string,
      { kind, config }: TriggerSettings,
      about: TriggerChange & { key?: string | undefined },
    ): StoredTrigger {
      const id = newId("trg");
      const at = now();
      const row = db
        .insert(triggers)
        .values({
          ...{ id, workflowId, kind, config: JSON.stringify(config), by: about.by },
          ...{ createdAt: at, updatedAt: at, ...columnsOf(id, about) },
          ...(about.key !== undefined && keyColumns(id, kind, about.key)),
        })
        .returning()
        .get();
      return toTrigger(row);
    },

    /** Saves a trigger and resets its failures. Undefined if it doesn't exist. */
    save(id: string, change: TriggerChange & { config?: object | undefined }): StoredTrigger | undefined {
      const row = db
        .update(triggers)
        .set({
          ...columnsOf(id, change),
          // Who wrote the config decides whether the input of a schedule is trusted.
          ...(change.config && { config: JSON.stringify(change.config), by: change.by }),
          ...{ failures: 0, disabledReason: null, updatedAt: now() },
        })
        .where(eq(triggers.id, id))
        .returning()
        .get();
      return row && toTrigger(row);
    },

    remove: (id: string): boolean =>
      writeTransaction(db, () => {
        db.delete(triggerFires).where(eq(triggerFires.triggerId, id)).run();
        return db.delete(triggers).where(eq(triggers.id, id)).run().changes > 0;
      }),
  };
}

/** Triggers that were disabled automatically or keep failing, with the names of their workflows; without workflows in the bin. */
const disabledIn = (db: Db) =>
  db
    .select({ trigger: triggers, name: workflows.name })
    .from(triggers)
    .innerJoin(workflows, eq(workflows.id, triggers.workflowId))
    .where(
      and(
        or(isNotNull(triggers.disabledReason), gte(triggers.failures, MAX_FAILURES)),
        isNull(workflows.deletedAt),
      ),
    )
    .orderBy(desc(triggers.updatedAt))
    .all()
    .map(({ trigger, name }) => ({ ...toTrigger(trigger), workflow_name: name }));

/** Deletes the triggers of deleted workflows. */
export function forgetTriggersOf(db: Pick<Db, "delete" | "select">, workflowIds: readonly string[]): void {
  const own = inArray(triggers.workflowId, [...workflowIds]);
  const ids = db.select({ id: triggers.id }).from(triggers).where(own);
  db.delete(triggerFires).where(inArray(triggerFires.triggerId, ids)).run();
  db.delete(triggers).where(own).run();
}

function toTrigger(row: typeof triggers.$inferSelect): StoredTrigger {
  return {
    ...TriggerSettings.parse({ kind: row.kind, config: ownJson(row.config) }),
    id: row.id,
    workflow_id: row.workflowId,
    enabled: row.isEnabled,
    has_secret: row.secret !== null,
    next_at: row.nextAt,
    failures: row.failures,
    disabled_reason: row.disabledReason,
    by: row.by,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
