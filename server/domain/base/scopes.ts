/**
 * What a caller may do: read; start and steer runs; answer questions of runs; change workflows and the library; change
 * settings.
 */
export const SCOPES = ["read", "run", "answer", "author", "admin"] as const;
export type Scope = (typeof SCOPES)[number];
