import { DamagedLog } from "@/server/domain/run/quarantine";
import { redactJson, registerKeysIn } from "@/server/secrets/redact";
import type { RunStore } from "@/server/store/runs/runs";

/** Hides secrets in events, and keys that are typed into the nodes of the run's workflow. */
export function shownOf(store: Pick<RunStore, "creation">, runId: string): <T>(value: T) => T {
  try {
    registerKeysIn(store.creation(runId).created.payload.graph);
  } catch (error) {
    if (!(error instanceof DamagedLog)) throw error;
  }
  return redactJson;
}
