import { randomBytes } from "node:crypto";
import { and, asc, count, desc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import { z } from "zod";
import { type Db, writeTransaction } from "@/db/open";
import { triggerFires, triggers, workflows } from "@/db/schema";
import type { FinalStatus } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { newId } from "@/server/domain/base/ids";
import type { JsonObject } from "@/server/domain/base/values";
import { type TriggerKind, TriggerSettings } from "@/server/domain/trigger/trigger";
import type { Sealer } from "@/server/secrets/sealer";
import { newFormPages, type Visitor } from "./form-pages";
import { ownJson } from "./own-json";
import { hashOf } from "./tokens";

/** A trigger as it is stored. Times in Unix milliseconds. */
export type StoredTrigger = TriggerSettings & {
  id: string;
  workflow_id: string;
  enabled: boolean;
  /** Whether deliveries can be verified; of a form, whether it has a password. */
  has_secret: boolean;
  /** Of a schedule: the next planned time without a fire. */
  next_at: number | null;
  /** Fires in a row that failed. */
  failures: number;
  /** Why it was disabled by itself; null if it was not. */
  disabled_reason: string | null;
  /** Who wrote its config, as the audit names them. */
  by: string;
  created_at: number;
  updated_at: number;
};

export type FireStatus = (typeof triggerFires.$inferSelect)["status"];

/** What a trigger did for one planned time or delivery. */
export interface TriggerFire {
  key: string;
  planned_at: number;
  at: number;
  status: FireStatus;
  run_id: string | null;
  /** Why no run started. */
  reason: string | null;
  is_test: boolean;
}

/** A fire with what its run starts with. */
export interface OpenFire extends TriggerFire {
  trigger_id: string;
  input: JsonObject;
  depth: number;
  body_hash: string | null;
}

export interface NewFire extends Partial<Visitor> {
  key: string;
  planned_at: number;
  input: JsonObject;
  status?: FireStatus | undefined;
  reason?: string | undefined;
  /** SHA-256 of the body of a delivery, hex. */
  body_hash?: string | undefined;
  depth?: number | undefined;
  is_test?: boolean | undefined;
}

export type TriggerStore = ReturnType<typeof newTriggerStore>;

const DAY_MS = 86_400_000;
/** How many fires of a trigger are kept, and for how long. */
const KEPT = { fires: 1_000, ms: 30 * DAY_MS } as const;
/** No fire goes before this: a delivery that is repeated meanwhile starts no second run. */
export const REPLAY_MS = DAY_MS;

const Secrets = z.array(z.string());
const secretBinding = (id: string) => `trigger:${id}:secret`;
const keyBinding = (id: string) => `trigger:${id}:key`;

/** A key for an address, with 192 random bits. */
export const newTriggerKey = (): string => randomBytes(24).toString("base64url");

/** Triggers and their fires. */
export function newTriggerStore(db: Db, sealer: Sealer, now: () => number = Date.now) {
  const found = (condition: ReturnType<typeof eq> | undefined) =>
    db.select().from(triggers).where(condition).orderBy(asc(triggers.createdAt), asc(triggers.id)).all();
  const fireAt = (id: string, key: string) => and(eq(triggerFires.triggerId, id), eq(triggerFires.key, key));
  const openRuns = db.$client
    .prepare<[string], string>(
      "select id from runs where trigger_id = ? and status <> 'finished' order by created_at, id",
    )
    .pluck();
  const outcomes = db.$client.prepare<
    [string, number],
    { status: FireStatus; final_status: FinalStatus | null }
  >(
    `select f.status, r.final_status from trigger_fires f left join runs r on r.id = f.run_id
     where f.trigger_id = ? and f.at >= ? and not f.is_test
       and (f.status = 'failed' or (f.status = 'started' and r.final_status in ('COMPLETED', 'ERROR')))
     order by f.at desc, f.planned_at desc limit 20`,
  );
  const missedEnds = db.$client
    .prepare<[{ workflow: string; trigger: string; since: number; overlap: number }], string>(
      `select id from runs r where workflow_id = @workflow and status = 'finished' and parent_run is null
         and finished_at >= max(@since, coalesce((select max(planned_at) from trigger_fires
           where trigger_id = @trigger and not is_test), @since) - @overlap)
         and not exists (select 1 from trigger_fires f where f.trigger_id = @trigger and f.key = r.id)
       order by finished_at, id limit 1000`,
    )
    .pluck();
  const forgetFires = db.$client.prepare(
    `delete from trigger_fires where rowid in (select place from
       (select rowid as place, status, at, row_number() over (partition by trigger_id order by at desc) as nth from trigger_fires)
       where status not in ('pending', 'buffered') and at < @replay and (at < @old or nth > @kept))`,
  );

  const insertFire = (id: string, fire: NewFire) =>
    db
      .insert(triggerFires)
      .values({
        triggerId: id,
        key: fire.key,
        plannedAt: fire.planned_at,
        at: now(),
        status: fire.status ?? "pending",
        input: JSON.stringify(fire.input),
        ...defined({
          reason: fire.reason,
          bodyHash: fire.body_hash,
          visitor: fire.visitor,
          address: fire.address,
          depth: fire.depth,
          isTest: fire.is_test,
        }),
      })
      .onConflictDoNothing()
      .run().changes > 0;

  return {
    startedBy: newFormPages(db).startedBy,

    find(id: string): StoredTrigger | undefined {
      const [row] = found(eq(triggers.id, id));
      return row && toTrigger(row);
    },

    /** The trigger whose address has this key. */
    withKey(key: string): StoredTrigger | undefined {
      const [row] = found(eq(triggers.keyHash, hashOf(key)));
      return row && toTrigger(row);
    },

    /** Of a workflow, oldest first. */
    ofWorkflow: (workflowId: string): StoredTrigger[] =>
      found(eq(triggers.workflowId, workflowId)).map(toTrigger),

    enabled: (): StoredTrigger[] => found(eq(triggers.isEnabled, true)).map(toTrigger),

    ofKind: <K extends TriggerKind>(kind: K): Extract<StoredTrigger, { kind: K }>[] =>
      found(eq(triggers.kind, kind))
        .map(toTrigger)
        .filter((one): one is Extract<StoredTrigger, { kind: K }> => one.kind === kind),

    /** Those that disabled themselves, with the names of their workflows; not those in the bin. */
    disabled: () =>
      db
        .select({ trigger: triggers, name: workflows.name })
        .from(triggers)
        .innerJoin(workflows, eq(workflows.id, triggers.workflowId))
        .where(and(isNotNull(triggers.disabledReason), sql`${workflows.deletedAt} is null`))
        .orderBy(desc(triggers.updatedAt))
        .all()
        .map(({ trigger, name }) => ({ ...toTrigger(trigger), workflow_name: name })),

    create(
      workflowId: string,
      { kind, config }: TriggerSettings,
      about: { by: string; enabled: boolean; next_at?: number | null; key?: string | undefined },
    ): StoredTrigger {
      const id = newId("trg");
      const at = now();
      const row = db
        .insert(triggers)
        .values({
          ...{ id, workflowId, kind, config: JSON.stringify(config), by: about.by },
          ...{ isEnabled: about.enabled, nextAt: about.next_at ?? null, createdAt: at, updatedAt: at },
          ...(about.key === undefined ? {} : keyColumns(id, kind, about.key)),
        })
        .returning()
        .get();
      return toTrigger(row);
    },

    /** Saving it forgets earlier failures. */
    save(
      id: string,
      change: {
        config?: object | undefined;
        enabled?: boolean | undefined;
        next_at?: number | null | undefined;
        by: string;
      },
    ): StoredTrigger | undefined {
      const row = db
        .update(triggers)
        .set({
          ...defined({
            config: change.config && JSON.stringify(change.config),
            isEnabled: change.enabled,
            nextAt: change.next_at,
          }),
          // Whose words the input is follows from who wrote the config.
          ...(change.config && { by: change.by }),
          ...{ failures: 0, disabledReason: null, updatedAt: now() },
        })
        .where(eq(triggers.id, id))
        .returning()
        .get();
      return row && toTrigger(row);
    },

    setNext: (id: string, nextAt: number | null): void =>
      void db.update(triggers).set({ nextAt }).where(eq(triggers.id, id)).run(),

    /** Gives its address another key. */
    setKey(id: string, kind: TriggerKind, key: string): void {
      db.update(triggers)
        .set(keyColumns(id, kind, key))
        .where(eq(triggers.id, id))
        .run();
    },

    /** The key of its address, if that can be shown again. */
    keyOf(id: string): string | null {
      const row = db.select({ key: triggers.key }).from(triggers).where(eq(triggers.id, id)).get();
      return row?.key ? sealer.open(row.key, keyBinding(id)) : null;
    },

    /** Replaces what deliveries are verified with; none: every delivery of a signed webhook is refused. */
    setSecrets(id: string, secrets: readonly string[]): void {
      const secret = secrets.length > 0 ? sealer.seal(JSON.stringify(secrets), secretBinding(id)) : null;
      db.update(triggers).set({ secret }).where(eq(triggers.id, id)).run();
    },

    /** Throws if they can't be decrypted. */
    secretsOf(id: string): string[] {
      const row = db.select({ secret: triggers.secret }).from(triggers).where(eq(triggers.id, id)).get();
      return row?.secret ? Secrets.parse(ownJson(sealer.open(row.secret, secretBinding(id)))) : [];
    },

    remove: (id: string): boolean =>
      writeTransaction(db, () => {
        db.delete(triggerFires).where(eq(triggerFires.triggerId, id)).run();
        return db.delete(triggers).where(eq(triggers.id, id)).run().changes > 0;
      }),

    /** Records a fire before its run starts. False if one with this key is recorded. */
    addFire: insertFire,

    /** Records planned fires, or the new status of buffered ones, and the next planned time, all or nothing. */
    addFires: (id: string, fires: readonly NewFire[], nextAt: number | null): void =>
      writeTransaction(db, () => {
        for (const fire of fires) {
          const { status, reason } = fire;
          if (!insertFire(id, fire))
            db.update(triggerFires)
              .set(defined({ status, reason }))
              .where(and(fireAt(id, fire.key), eq(triggerFires.status, "buffered")))
              .run();
        }
        db.update(triggers).set({ nextAt }).where(eq(triggers.id, id)).run();
      }),

    fire(id: string, key: string): OpenFire | undefined {
      const row = db.select().from(triggerFires).where(fireAt(id, key)).get();
      return row && toOpenFire(row);
    },

    /** The fire of a delivery with the same body. */
    fireOfBody(id: string, bodyHash: string): OpenFire | undefined {
      const row = db
        .select()
        .from(triggerFires)
        .where(and(eq(triggerFires.triggerId, id), eq(triggerFires.bodyHash, bodyHash)))
        .get();
      return row && toOpenFire(row);
    },

    /** The newest first. */
    fires: (id: string): TriggerFire[] =>
      db
        .select()
        .from(triggerFires)
        .where(eq(triggerFires.triggerId, id))
        .orderBy(desc(triggerFires.plannedAt), desc(triggerFires.key))
        .limit(KEPT.fires)
        .all()
        .map(toFire),

    /** Fires of all triggers, or of one, that wait for their run; oldest first. */
    openFires: (status: "pending" | "buffered", id?: string): OpenFire[] =>
      db
        .select()
        .from(triggerFires)
        .where(
          and(eq(triggerFires.status, status), id === undefined ? undefined : eq(triggerFires.triggerId, id)),
        )
        .orderBy(asc(triggerFires.at), asc(triggerFires.plannedAt))
        .limit(1_000)
        .all()
        .map(toOpenFire),

    countPending: (id: string): number =>
      db
        .select({ count: count() })
        .from(triggerFires)
        .where(and(eq(triggerFires.triggerId, id), eq(triggerFires.status, "pending")))
        .get()?.count ?? 0,

    /** The runs of a trigger that haven't ended, oldest first. */
    openRuns: (id: string): string[] => openRuns.all(id),

    /** What became of a fire. A started one needs its input no longer; a failed one can be retried. */
    setFire(
      id: string,
      key: string,
      change: { status: FireStatus; run_id?: string; reason?: string | null },
    ): void {
      const { status, run_id: runId, reason = null } = change;
      db.update(triggerFires)
        .set({ status, reason, ...defined({ runId }), ...(status === "started" && { input: null }) })
        .where(fireAt(id, key))
        .run();
    },

    /** Counts fires in a row that failed since the trigger was saved; disables it at `most` of them. */
    countFailures(id: string, most: number, reason: string): StoredTrigger | undefined {
      const trigger = db.select().from(triggers).where(eq(triggers.id, id)).get();
      if (!trigger) return undefined;
      const ends = outcomes.all(id, trigger.updatedAt);
      const good = ends.findIndex(({ final_status }) => final_status === "COMPLETED");
      const failures = good < 0 ? ends.length : good;
      const isOver = trigger.isEnabled && failures >= most;
      const row = db
        .update(triggers)
        .set({ failures, ...(isOver && { isEnabled: false, disabledReason: reason }) })
        .where(eq(triggers.id, id))
        .returning()
        .get();
      return row && toTrigger(row);
    },

    /**
     * Runs of a workflow, oldest first, that ended since the last one for which the trigger fired, or since it was saved, and
     * have no fire. Those that ended up to `overlap` milliseconds before that one count too.
     */
    missedEnds: ({ id, updated_at }: StoredTrigger, workflow: string, overlap: number): string[] =>
      missedEnds.all({ workflow, trigger: id, since: updated_at, overlap }),

    /** Forgets old fires. */
    tidy: (): void =>
      void forgetFires.run({ replay: now() - REPLAY_MS, old: now() - KEPT.ms, kept: KEPT.fires }),
  };

  function keyColumns(id: string, kind: TriggerKind, key: string) {
    // The address of a page is shown again; that of a webhook is its password.
    return { keyHash: hashOf(key), key: kind === "form" ? sealer.seal(key, keyBinding(id)) : null };
  }
}

/** Deletes what belongs to workflows that are deleted. */
export function forgetTriggersOf(db: Pick<Db, "delete" | "select">, workflowIds: readonly string[]): void {
  const own = inArray(triggers.workflowId, [...workflowIds]);
  const ids = db.select({ id: triggers.id }).from(triggers).where(own);
  db.delete(triggerFires).where(inArray(triggerFires.triggerId, ids)).run();
  db.delete(triggers).where(own).run();
}

function toTrigger(row: typeof triggers.$inferSelect): StoredTrigger {
  return {
    ...TriggerSettings.parse({ kind: row.kind, config: ownJson<JsonObject>(row.config) }),
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

const toFire = (row: typeof triggerFires.$inferSelect): TriggerFire => ({
  key: row.key,
  planned_at: row.plannedAt,
  at: row.at,
  status: row.status,
  run_id: row.runId,
  reason: row.reason,
  is_test: row.isTest,
});

const toOpenFire = (row: typeof triggerFires.$inferSelect): OpenFire => ({
  ...toFire(row),
  trigger_id: row.triggerId,
  input: row.input === null ? {} : ownJson<JsonObject>(row.input),
  depth: row.depth,
  body_hash: row.bodyHash,
});
