import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import type { LeasedGates } from "@/server/llm/limits/leased-gates";
import type { Heartbeat } from "../worker-protocol";
import { type ControlClient, ControlRejected } from "./control-client";

const EVERY_MS = 2_000;
/** Where somebody waits for a share of a provider's limits. */
const EAGER_MS = 500;
/** Signs of life that something brings about are so far apart at least. */
const APART_MS = 100;

interface HeartbeatOptions {
  control: Pick<ControlClient, "beat">;
  gates: Pick<LeasedGates, "uses" | "apply" | "isStarving">;
  /** The rest of it, as it is now. */
  about: () => Omit<Heartbeat, "beat" | "uses">;
  /** Told which version of the providers the server has. */
  onProviders: (version: string) => void;
  log: (level: "info" | "warn" | "error", message: string, about?: Record<string, unknown>) => void;
  clock?: () => number;
  everyMs?: number;
}

/** A worker's signs of life, one after another, and the shares that come with the answers. */
export class Heartbeats {
  private beats = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private dueAt = Number.POSITIVE_INFINITY;
  private lastAt = Number.NEGATIVE_INFINITY;
  private inProgress: Promise<void> | null = null;
  private isAway = false;
  private isStopped = false;

  constructor(private readonly options: HeartbeatOptions) {}

  start(): void {
    this.schedule(0);
  }

  /** Something has changed that the server had better know. */
  soon(): void {
    this.schedule(Math.max(0, this.lastAt + APART_MS - this.clock()));
  }

  /** Tells it right now, and waits for that. */
  async now(): Promise<void> {
    await this.inProgress;
    await this.beat();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private schedule(inMs: number): void {
    const dueAt = this.clock() + inMs;
    if (this.isStopped || dueAt >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => void this.tick(), inMs);
  }

  private async tick(): Promise<void> {
    this.dueAt = Number.POSITIVE_INFINITY;
    if (this.inProgress) {
      await this.inProgress;
      return this.soon();
    }
    await this.beat();
    const { everyMs = EVERY_MS, gates } = this.options;
    this.schedule(gates.isStarving ? Math.min(EAGER_MS, everyMs) : everyMs);
  }

  private beat(): Promise<void> {
    this.inProgress = this.send().finally(() => {
      this.inProgress = null;
    });
    return this.inProgress;
  }

  private async send(): Promise<void> {
    const { control, gates, about, onProviders, log } = this.options;
    const since = this.clock();
    this.lastAt = since;
    try {
      const answer = await control.beat({ ...about(), beat: ++this.beats, uses: gates.uses() });
      if (this.isAway) log("info", "The server is responding again.");
      this.isAway = false;
      gates.apply(answer.shares, answer.lease_ms, since);
      onProviders(answer.providers);
    } catch (error) {
      if (!this.isAway)
        log("warn", "The server isn't responding; runs continue until they need it.", {
          error: errorMessage(error),
          ...defined({ code: error instanceof ControlRejected ? error.code : undefined }),
        });
      this.isAway = true;
    }
  }

  private clock(): number {
    return (this.options.clock ?? (() => performance.now()))();
  }
}
