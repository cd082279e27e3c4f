import { dueAt, nextTimes, type ScheduleConfig } from "./schedule";

/** Maximum number of fires of a schedule that wait for an earlier run to end. */
export const MAX_BUFFERED = 1_000;
const ROOM = { buffer_one: 1, buffer_all: MAX_BUFFERED } as const;
const FULL = {
  buffer_one: "Another fire was already waiting.",
  buffer_all: "1,000 fires were already waiting.",
};
/** Maximum number of planned times decided, and of runs started, at a time, so that a long backlog blocks nothing else. */
const BATCH = 20;

/** The stored state of a schedule between two decisions. */
export interface ScheduleState {
  /** Of the trigger. */
  id: string;
  /** The first planned time without a fire, in Unix milliseconds; null: none follows. */
  next_at: number | null;
  /** Its runs that have not ended. */
  open: readonly string[];
  /** Whether a recorded fire still waits for its run to start. */
  isStarting: boolean;
  /** The fires that wait, the oldest first. */
  buffered: readonly PlannedFire[];
  /** Whether a fire with this key is recorded, which happens after the clock is set back. */
  has(key: string): boolean;
}

export interface PlannedFire {
  key: string;
  planned_at: number;
}

export interface FireDecision extends PlannedFire {
  status: "pending" | "buffered" | "skipped" | "missed";
  /** Why no run starts, as a sentence. */
  reason?: string;
}

export interface Decision {
  /** New fires, and buffered ones with their new status. */
  fires: FireDecision[];
  /** Runs to cancel before the fires are recorded, so that a crash in between repeats only the decision. */
  cancel: readonly string[];
  next_at: number | null;
  /** When to decide again: `now` or earlier if part of a backlog is left; null: nothing is planned. */
  wake_at: number | null;
}

/** The key of a planned time, unique within its trigger. */
export const fireKey = (planned: number): string => new Date(planned).toISOString();

/** Decides what due planned times and waiting fires do. */
export function decide(config: ScheduleConfig, state: ScheduleState, now: number): Decision {
  const { overlap } = config;
  const fires = new Map<string, FireDecision>();
  const waiting = [...state.buffered];
  let isBusy = state.open.length > 0 || state.isStarting;
  let cancels = false;

  const settle = ({ key, planned_at }: PlannedFire, status: FireDecision["status"], reason?: string) =>
    fires.set(key, { key, planned_at, status, ...(reason === undefined ? {} : { reason }) });
  const start = (fire: PlannedFire) => {
    settle(fire, "pending");
    isBusy = true;
  };
  const buffer = (fire: PlannedFire) => {
    settle(fire, "buffered");
    waiting.push(fire);
  };
  const replaces = overlap === "cancel_other" || overlap === "terminate_other";
  const replace = (others: PlannedFire[]) => {
    const started = [...fires.values()].filter(({ status }) => status === "pending");
    for (const other of [...others, ...started])
      settle(other, "skipped", "A later planned time replaced it.");
  };
  const replaceOthers = (fire: PlannedFire) => {
    replace(waiting.splice(0));
    cancels = state.open.length > 0;
    if (state.isStarting || (cancels && overlap === "cancel_other")) buffer(fire);
    else start(fire);
  };

  const room = overlap === "allow_all" ? BATCH : isBusy ? 0 : 1;
  for (const fire of waiting.splice(0, room)) start(fire);

  let { next_at } = state;
  let wake_at = next_at;
  for (let count = 0; next_at !== null && next_at <= now && count < BATCH; count++) {
    const [next] = nextTimes(config, next_at, 1);
    const due = dueAt(config, state.id, next_at, next);
    if (due > now) {
      wake_at = due;
      break;
    }
    const fire = { key: fireKey(next_at), planned_at: next_at };
    next_at = next ?? null;
    wake_at = next_at;
    if (state.has(fire.key)) continue;
    if (now - due > config.catch_up_s * 1000)
      settle(fire, "missed", "The server was down until after the catch-up window.");
    else if (overlap === "allow_all" || !isBusy) start(fire);
    else if (overlap === "skip") settle(fire, "skipped", "The previous run had not ended.");
    else if (replaces) replaceOthers(fire);
    else if (waiting.length < ROOM[overlap]) buffer(fire);
    else settle(fire, "skipped", FULL[overlap]);
  }
  // The next part of the backlog replaces what this one would start.
  if (replaces && wake_at !== null && wake_at <= now) replace([]);
  if (overlap === "allow_all" && waiting.length > 0) wake_at = now;
  return { fires: [...fires.values()], cancel: cancels ? state.open : [], next_at, wake_at };
}
