/** The tools by which agents remember beyond the step they are at. */
export const MEMORY_TOOLS: readonly string[] = ["store_memory", "retrieve_memory", "search_memory"];

/** What the scope "project" is bound to: there is one project in an installation. */
export const PROJECT_PLACE = { scope: "project", scope_id: "default" } as const;
