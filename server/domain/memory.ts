/** What the scope "project" is bound to: there is one project in an installation. */
export const PROJECT_PLACE = { scope: "project", scope_id: "default" } as const;
