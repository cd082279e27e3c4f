import type { RoleDefinition } from "@/server/domain/agent/role";
import { Rejection } from "@/server/domain/errors/rejection";
import { type CalledWorkflows, workflowsAround } from "@/server/domain/graph/callable";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { VersionContent } from "@/server/domain/graph/version/version-diff";
import { blockedKeys } from "@/server/domain/library/capabilities";
import { EMPTY_LIBRARY, type Library, withLibrary } from "@/server/domain/library/library";
import type { PublishedContent, WorkflowVersions } from "@/server/store/versions/workflow-versions";

/** The number of a published version, the newest one (the draft if nothing is published), or the draft. */
export type VersionChoice = number | "published" | "draft";

interface Draft {
  id: string;
  name: string;
  graph: WorkflowGraph;
  withheld?: readonly string[];
}

/** Where versions and drafts are found. */
export interface VersionSources {
  workflows: { find(id: string): Draft | undefined };
  roles: { all(): RoleDefinition[] };
  library?: Library;
  versions?: Pick<WorkflowVersions, "find" | "newest"> | undefined;
}

/** The content of a workflow's version, without the permissions that are blocked now. The draft has all roles of the library. */
export interface ChosenVersion extends VersionContent {
  id: string;
  name: string;
  /** The published content; absent for the draft. */
  published?: PublishedContent & { number: number };
}

/** Undefined if the workflow doesn't exist. Throws Rejection if it has no such version. */
export function versionOf(
  { workflows, roles, library = EMPTY_LIBRARY, versions }: VersionSources,
  id: string,
  choice: VersionChoice = "draft",
): ChosenVersion | undefined {
  const draft = workflows.find(id);
  if (!draft) return undefined;
  const { name, graph, withheld = [] } = draft;
  const isByNumber = typeof choice === "number";
  const published =
    choice === "draft" ? undefined : isByNumber ? versions?.find(id, choice) : versions?.newest(id);
  if (published) {
    // What was blocked since is blocked at once. What was allowed since applies from the next version.
    const blocked = blockedKeys(withheld);
    const isAllowed = (place: string) => !blocked.includes(`host:${place}`);
    const { foreign: texts } = published;
    const foreign = texts && { ...texts, allowed: texts.allowed.filter(isAllowed) };
    return {
      ...{ id, name, graph: published.graph, roles: published.roles },
      withheld: [...published.withheld, ...blocked],
      published: { ...published, foreign },
    };
  }
  if (!isByNumber) return { id, name, graph: withLibrary(graph, library), roles: roles.all(), withheld };
  const message = `${name} has no version ${choice}.`;
  throw new Rejection("invalid_input", message, { errors: [{ key: "version", message }] });
}

/** A workflow as other workflows run it: the published version, or the draft if nothing is published. */
export const usedBy = <Of extends Draft>({ versions }: Pick<VersionSources, "versions">, draft: Of): Of => ({
  ...draft,
  graph: versions?.newest(draft.id)?.graph ?? draft.graph,
});

/** The other workflows, for checking one of them. */
export const versionsAround = (
  sources: Pick<VersionSources, "workflows" | "versions">,
  self: string,
): CalledWorkflows =>
  workflowsAround(
    {
      find(id) {
        const draft = sources.workflows.find(id);
        return draft && usedBy(sources, draft);
      },
    },
    self,
  );
