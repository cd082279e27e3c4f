/**
 * What a caller may do: look, start and steer runs, answer people's questions, change workflows and the library, change
 * settings.
 */
export const SCOPES = ["read", "run", "answer", "author", "admin"] as const;
export type Scope = (typeof SCOPES)[number];
