/** How long before its time a waiting run is back in memory, so that it wakes on time. */
const WAKE_EARLY_MS = 5_000;
/** So many runs are taken up at a time, with a breath for others between. */
const WAKE_SLICE = 25;

interface Waiting {
  id: string;
  workflow_id: string | null;
}

/** Takes up waiting runs whose time has nearly come, a few at a time. */
export class WakeDue {
  private waking: Waiting[] = [];

  constructor(
    private readonly parts: {
      /** Waiting runs whose first sleep is over at an instant. */
      due(at: number): Waiting[];
      /** Whether a run is in memory, or somebody else takes it up. */
      isTaken(runId: string): boolean;
      startRun(runId: string, workflowId: string | null): void;
      isDraining(): boolean;
    },
  ) {}

  wake(now: number): void {
    const isWaking = this.waking.length > 0;
    this.waking = this.parts.due(now + WAKE_EARLY_MS).filter(({ id }) => !this.parts.isTaken(id));
    if (!isWaking && this.waking.length > 0) this.wakeSome();
  }

  private wakeSome(): void {
    if (this.parts.isDraining()) return;
    for (const { id, workflow_id } of this.waking.splice(0, WAKE_SLICE)) this.parts.startRun(id, workflow_id);
    if (this.waking.length > 0) setImmediate(() => this.wakeSome());
  }
}
