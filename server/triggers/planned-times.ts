import { Rejection } from "@/server/domain/errors/rejection";
import { fireKey } from "@/server/domain/trigger/overlap";
import { describe, nextTimes, timesBetween } from "@/server/domain/trigger/schedule";
import type { StoredTrigger, TriggerFire, TriggerStore } from "@/server/store/triggers/triggers";

const MAX_BACKFILL = 1_000;
/** What a backfill makes up for. */
const RAN_NOT: readonly (TriggerFire["status"] | undefined)[] = [undefined, "skipped", "missed", "failed"];

interface Parts {
  store: Pick<TriggerStore, "fire" | "fires" | "openFires" | "setFire" | "addFires">;
  /** Fires that wait were recorded. */
  changed(): void;
  now?: () => number;
}

/** The planned times of schedules: those that come, and those that a person makes up for. */
export function newPlannedTimes({ store, changed, now = Date.now }: Parts) {
  return {
    /** Throws not_now. */
    upcoming(trigger: StoredTrigger, count: number) {
      const { id, config, enabled, next_at } = scheduleOf(trigger);
      const missed = store.fires(id).filter(({ status }) => status === "missed");
      return {
        description: describe(config),
        next: enabled && next_at !== null ? [next_at, ...nextTimes(config, next_at, count - 1)] : [],
        missed: missed.slice(0, count),
        buffered: store.openFires("buffered", id).length,
      };
    },

    /**
     * Lets the planned times of a range fire that have no run: they wait like others that are buffered. Without `confirm`, only
     * counts them. Throws bad_request, not_now.
     */
    backfill(trigger: StoredTrigger, range: { from: number; to: number; confirm: boolean }) {
      const { id, config, enabled, next_at } = scheduleOf(trigger);
      if (!enabled) throw new Rejection("not_now", "A disabled schedule starts no runs. Enable it first.");
      // What is still to come fires by itself.
      const end = Math.min(range.to, now(), next_at ?? Number.POSITIVE_INFINITY);
      const times = timesBetween(config, range.from, end, MAX_BACKFILL + 1);
      if (times.length > MAX_BACKFILL)
        throw new Rejection(
          "bad_request",
          "The range has more than 1,000 planned times. Choose a shorter one.",
        );
      const fires = times
        .map((planned_at) => ({ key: fireKey(planned_at), planned_at }))
        .map((fire) => ({ ...fire, before: store.fire(id, fire.key)?.status }))
        .filter(({ before }) => RAN_NOT.includes(before));
      if (range.confirm) {
        const { input } = config;
        for (const { key, before } of fires) if (before) store.setFire(id, key, { status: "buffered" });
        const added = fires.filter(({ before }) => before === undefined);
        store.addFires(
          id,
          added.map((fire) => ({ ...fire, input, status: "buffered" })),
          next_at,
        );
        changed();
      }
      return { count: fires.length, already_run: times.length - fires.length, confirmed: range.confirm };
    },
  };
}

/** Throws not_now. */
function scheduleOf(trigger: StoredTrigger): Extract<StoredTrigger, { kind: "schedule" }> {
  if (trigger.kind === "schedule") return trigger;
  throw new Rejection("not_now", "Only a schedule has planned times.", { kind: trigger.kind });
}
