import type { RunStore } from "@/server/store/runs/runs";
import type { LiveRuns } from "./live-runs";
import type { RunExecutor } from "./run-executor";

/** How long before its time a waiting run is back in memory, so that it wakes on time. */
const WAKE_EARLY_MS = 5_000;
/** So many runs are taken up at a time, with a breath for others between. */
const WAKE_SLICE = 25;

/** Takes up waiting runs whose time has nearly come, a few at a time. */
export class WakeDue {
  private waking: ReturnType<RunStore["due"]> = [];

  constructor(
    private readonly parts: {
      store: Pick<RunStore, "due">;
      live: LiveRuns;
      runs: Pick<RunExecutor, "start" | "isDraining">;
    },
  ) {}

  wake(now: number): void {
    const { store, live } = this.parts;
    const isWaking = this.waking.length > 0;
    this.waking = store.due(now + WAKE_EARLY_MS).filter(({ id }) => !live.has(id) && !live.isUnrecovered(id));
    if (!isWaking && this.waking.length > 0) this.wakeSome();
  }

  private wakeSome(): void {
    const { runs } = this.parts;
    if (runs.isDraining) return;
    for (const { id, workflow_id } of this.waking.splice(0, WAKE_SLICE)) runs.start(id, workflow_id);
    if (this.waking.length > 0) setImmediate(() => this.wakeSome());
  }
}
