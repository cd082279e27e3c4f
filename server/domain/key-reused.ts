/** An idempotency key came again with something else than what it started a run with. */
export class KeyReused extends Error {
  override name = "KeyReused";
  /** By name: start-up code and routes are separate bundles, each with its own copy of this class. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "KeyReused";
  }
  constructor(readonly runId: string) {
    super(
      `This idempotency key started the run ${runId} with another workflow, input or settings. Use a new key for a new run.`,
    );
  }
}
