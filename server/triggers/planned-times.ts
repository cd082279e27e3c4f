import { Rejection } from "@/server/domain/errors/rejection";
import { fireKey, MAX_BUFFERED } from "@/server/domain/trigger/overlap";
import { describe, nextTimes, timesBetween } from "@/server/domain/trigger/schedule";
import type { StoredTrigger, StoredTriggerOf, TriggerStore } from "@/server/store/triggers/triggers";

const MAX_BACKFILL = 1_000;

interface Parts {
  store: Pick<TriggerStore, "takenKeys" | "fires" | "countFires" | "addFires">;
  /** Called after waiting fires were recorded. */
  changed(): void;
  now?: () => number;
}

/** Upcoming and missed planned times of schedules, and backfill. */
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
        buffered: store.countFires(id, "buffered"),
      };
    },

    /**
     * Buffers fires for the planned times in a range that have no run. Without `confirm`, only counts them. Throws bad_request, not_now.
     */
    backfill(trigger: StoredTrigger, range: { from: number; to: number; confirm: boolean }) {
      const { id, config, enabled, next_at } = scheduleOf(trigger);
      if (!enabled) throw new Rejection("not_now", "A disabled schedule starts no runs. Enable it first.");
      // Later planned times fire anyway.
      const end = Math.min(range.to, now(), next_at ?? Number.POSITIVE_INFINITY);
      const times = timesBetween(config, range.from, end, MAX_BACKFILL + 1);
      if (times.length > MAX_BACKFILL)
        throw new Rejection(
          "bad_request",
          "The range has more than 1,000 planned times. Choose a shorter one.",
        );
      const taken = new Set(store.takenKeys(id, range.from, end));
      const fires = times
        .map((planned_at) => ({ key: fireKey(planned_at), planned_at }))
        .filter(({ key }) => !taken.has(key));
      const waiting = store.countFires(id, "buffered");
      if (waiting + fires.length > MAX_BUFFERED)
        throw new Rejection(
          "not_now",
          `${waiting} fires already wait, and at most 1,000 can. Choose a shorter range, or try again later.`,
        );
      if (range.confirm) {
        store.addFires(
          id,
          fires.map((fire) => ({ ...fire, status: "buffered" })),
          next_at,
        );
        changed();
      }
      return { count: fires.length, already_run: times.length - fires.length, confirmed: range.confirm };
    },
  };
}

/** Throws not_now. */
function scheduleOf(trigger: StoredTrigger): StoredTriggerOf<"schedule"> {
  if (trigger.kind === "schedule") return trigger;
  throw new Rejection("not_now", "Only a schedule has planned times.", { kind: trigger.kind });
}
