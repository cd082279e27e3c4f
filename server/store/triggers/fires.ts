import { and, asc, count, desc, eq } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import { triggerFires, triggers } from "@/db/schema";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import { ownJson } from "../own-json";

export type FireStatus = (typeof triggerFires.$inferSelect)["status"];

/** What a trigger did for one planned time, delivery or ended run. */
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

/** A fire with the input of its run. */
export interface WholeFire extends TriggerFire {
  input: JsonObject;
  depth: number;
  body_hash: string | null;
}

/** A visitor of a form page, as keyed hashes. */
export interface Visitor {
  visitor: string;
  address: string;
}

export interface NewFire extends Partial<Visitor> {
  key: string;
  planned_at: number;
  /** Absent for a planned time: its run gets the input that the schedule has when it starts. */
  input?: JsonObject | undefined;
  status?: FireStatus | undefined;
  reason?: string | undefined;
  /** SHA-256 of the body of a delivery, hex. */
  body_hash?: string | undefined;
  depth?: number | undefined;
  is_test?: boolean | undefined;
}

/** Maximum number of fires kept and listed per trigger. */
export const KEPT_FIRES = 1_000;

const shown = {
  key: triggerFires.key,
  planned_at: triggerFires.plannedAt,
  at: triggerFires.at,
  status: triggerFires.status,
  run_id: triggerFires.runId,
  reason: triggerFires.reason,
  is_test: triggerFires.isTest,
};
const ofTrigger = (id: string) => eq(triggerFires.triggerId, id);
const withKey = (id: string, key: string) => and(ofTrigger(id), eq(triggerFires.key, key));

/** The fires of triggers. */
export function newFires(db: Db, now: () => number) {
  const find = (which: ReturnType<typeof and>): WholeFire | undefined => {
    const { input, depth, bodyHash: body_hash } = triggerFires;
    const row = db
      .select({ ...shown, input, depth, body_hash })
      .from(triggerFires)
      .where(which)
      .get();
    return row && { ...row, input: row.input === null ? {} : ownJson<JsonObject>(row.input) };
  };

  // Prepared once, since a backlog has many.
  const insert = db.$client.prepare(
    `insert into trigger_fires (trigger_id, key, planned_at, at, status, input, reason, body_hash, visitor, address, depth, is_test)
     values (@id, @key, @planned_at, @at, @status, @input, @reason, @body_hash, @visitor, @address, @depth, @is_test)
     on conflict do nothing`,
  );
  const settle = db.$client.prepare(
    `update trigger_fires set status = @status, reason = @reason
     where trigger_id = @id and key = @key and status in ('buffered', 'skipped', 'missed', 'failed')`,
  );
  const taken = db.$client
    .prepare<[string, number, number], string>(
      `select key from trigger_fires where trigger_id = ? and planned_at >= ? and planned_at < ?
         and status in ('pending', 'buffered', 'started')`,
    )
    .pluck();
  const rowOf = (id: string, { status = "pending", input, is_test = false, ...fire }: NewFire) => ({
    ...{ reason: null, body_hash: null, visitor: null, address: null, depth: 0 },
    ...defined(fire),
    ...{ id, at: now(), status, is_test: Number(is_test), input: input ? JSON.stringify(input) : null },
  });
  const addFire = (id: string, fire: NewFire) => insert.run(rowOf(id, fire)).changes > 0;

  return {
    /** Records a fire before its run starts. False if one with this key is recorded. */
    addFire,

    /** Records planned fires, new statuses of those without a run, and the next planned time in one transaction. */
    addFires: (id: string, fires: readonly NewFire[], nextAt: number | null): void =>
      writeTransaction(db, () => {
        for (const fire of fires) if (!addFire(id, fire)) settle.run(rowOf(id, fire));
        db.update(triggers).set({ nextAt }).where(eq(triggers.id, id)).run();
      }),

    fire: (id: string, key: string): WholeFire | undefined => find(withKey(id, key)),

    /** The keys of fires planned in a range that have a run, or will have one. */
    takenKeys: (id: string, from: number, to: number): string[] => taken.all(id, from, to),

    /** The fire of a delivery with the same body. */
    fireOfBody: (id: string, bodyHash: string): WholeFire | undefined =>
      find(and(ofTrigger(id), eq(triggerFires.bodyHash, bodyHash))),

    /** Newest first. */
    fires: (id: string): TriggerFire[] =>
      db
        .select(shown)
        .from(triggerFires)
        .where(ofTrigger(id))
        .orderBy(desc(triggerFires.plannedAt), desc(triggerFires.key))
        .limit(KEPT_FIRES)
        .all(),

    /** Fires of all triggers, or of one, that wait for their run; oldest first. */
    openFires: (status: "pending" | "buffered", id?: string, most = 1_000) =>
      db
        .select({ ...shown, trigger_id: triggerFires.triggerId })
        .from(triggerFires)
        .where(and(eq(triggerFires.status, status), id === undefined ? undefined : ofTrigger(id)))
        .orderBy(asc(triggerFires.at), asc(triggerFires.plannedAt))
        .limit(most)
        .all(),

    countFires: (id: string, status: FireStatus): number =>
      db
        .select({ n: count() })
        .from(triggerFires)
        .where(and(ofTrigger(id), eq(triggerFires.status, status)))
        .get()?.n ?? 0,

    /** Records the result of a fire. Started fires drop their input; failed ones keep it for retries. */
    setFire(
      id: string,
      key: string,
      change: { status: FireStatus; run_id?: string; reason?: string | null },
    ): void {
      const { status, run_id: runId, reason = null } = change;
      db.update(triggerFires)
        .set({ status, reason, ...defined({ runId }), ...(status === "started" && { input: null }) })
        .where(withKey(id, key))
        .run();
    },
  };
}
