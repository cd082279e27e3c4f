import type { ModelFacts, Provider } from "./provider";

/** The providers as workers need them: with their keys and headers, sealed. */
export interface ProviderSnapshot {
  version: string;
  providers: Provider[];
  sealed: Record<string, { key: string | null; headers: string | null }>;
  said: Record<string, { base_url: string; models: Record<string, ModelFacts> }>;
  /** Sealed with the same key, so that a worker with another one sees it at once. */
  proof: string;
}

/** What the sealed texts of a snapshot belong to. */
export const PROOF = { text: "troupe workers", binding: "cluster:proof" } as const;
