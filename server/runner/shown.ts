import { DamagedLog } from "@/server/domain/run/held";
import { redactJson, registerKeysIn } from "@/server/secrets/redact";
import type { RunStore } from "@/server/store/runs";

/** Hides in events what nobody is to see of a run: secrets, and keys that are typed into the nodes of its own workflow. */
export function shownOf(store: Pick<RunStore, "creation">, runId: string): <T>(value: T) => T {
  try {
    registerKeysIn(store.creation(runId).created.payload.graph);
  } catch (error) {
    if (!(error instanceof DamagedLog)) throw error;
  }
  return redactJson;
}
