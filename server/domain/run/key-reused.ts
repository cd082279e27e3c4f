import { namedError } from "@/server/domain/base/named-error";

/** An idempotency key came again with something else than what it started a run with. */
export class KeyReused extends namedError("KeyReused") {
  constructor(readonly runId: string) {
    super(
      `This idempotency key started the run ${runId} with another workflow, input or settings. Use a new key for a new run.`,
    );
  }
}
