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
  const plan = new Plan(config.overlap, state);
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
      plan.settle(fire, "missed", "The server was down until after the catch-up window.");
    else plan.meet(fire);
  }
  const { fires, cancel, hasRoom } = plan.end(wake_at !== null && wake_at <= now);
  return { fires, cancel, next_at, wake_at: hasRoom ? now : wake_at };
}

/** The decisions of one batch, by the overlap policy. */
class Plan {
  private readonly fires = new Map<string, FireDecision>();
  private readonly waiting: PlannedFire[];
  private readonly isParallel: boolean;
  private isBusy: boolean;
  private cancels = false;

  constructor(
    private readonly overlap: ScheduleConfig["overlap"],
    private readonly state: ScheduleState,
  ) {
    this.waiting = [...state.buffered];
    this.isParallel = overlap === "allow_all";
    this.isBusy = state.open.length > 0 || state.isStarting;
    const room = this.isParallel ? BATCH : this.isBusy ? 0 : 1;
    for (const fire of this.waiting.splice(0, room)) this.start(fire);
  }

  settle({ key, planned_at }: PlannedFire, status: FireDecision["status"], reason?: string): void {
    this.fires.set(key, { key, planned_at, status, ...(reason === undefined ? {} : { reason }) });
  }

  /** A planned time has come. */
  meet(fire: PlannedFire): void {
    const { overlap } = this;
    if (this.isParallel || !this.isBusy) this.start(fire);
    else if (overlap === "buffer_one" || overlap === "buffer_all") {
      if (this.waiting.length < ROOM[overlap]) this.buffer(fire);
      else this.settle(fire, "skipped", FULL[overlap]);
    } else if (overlap === "skip") this.settle(fire, "skipped", "The previous run had not ended.");
    else this.replaceOthers(fire);
  }

  /** `isPart`: more planned times are due. `hasRoom`: fires wait that could start at once. */
  end(isPart: boolean): Pick<Decision, "fires" | "cancel"> & { hasRoom: boolean } {
    // The next part of the backlog replaces what this one would start.
    if (isPart && (this.overlap === "cancel_other" || this.overlap === "terminate_other")) this.replace([]);
    const hasRoom = this.isParallel && this.waiting.length > 0;
    return { fires: [...this.fires.values()], cancel: this.cancels ? this.state.open : [], hasRoom };
  }

  private start(fire: PlannedFire): void {
    this.settle(fire, "pending");
    this.isBusy = true;
  }

  private buffer(fire: PlannedFire): void {
    this.settle(fire, "buffered");
    this.waiting.push(fire);
  }

  private replace(others: readonly PlannedFire[]): void {
    const started = [...this.fires.values()].filter(({ status }) => status === "pending");
    for (const other of [...others, ...started])
      this.settle(other, "skipped", "A later planned time replaced it.");
  }

  private replaceOthers(fire: PlannedFire): void {
    this.replace(this.waiting.splice(0));
    this.cancels = this.state.open.length > 0;
    if (this.state.isStarting || (this.cancels && this.overlap === "cancel_other")) this.buffer(fire);
    else this.start(fire);
  }
}
