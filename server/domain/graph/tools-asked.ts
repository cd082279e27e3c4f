import { USUAL_CONFIRMATION } from "@/server/domain/agent/outcome";
import type { ConfirmationPolicy, RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "./graph";

/** The tools that a role of a file would gain here. `ours`: the role of the same name that is there already. */
export function toolsAsked(theirs: RoleDefinition, ours: RoleDefinition | undefined): string[] {
  const had = new Set(ours?.tools);
  return [...new Set(theirs.tools)].filter((tool) => !had.has(tool));
}

/** A role of a file with only those of its tools that ours has already or that a person allowed; and what it lost. */
export function withAllowedTools(
  theirs: RoleDefinition,
  ours: RoleDefinition | undefined,
  allowed: readonly string[],
): { role: RoleDefinition; left_out: string[] } {
  const left_out = toolsAsked(theirs, ours).filter((tool) => !allowed.includes(tool));
  if (left_out.length === 0) return { role: theirs, left_out };
  return { role: { ...theirs, tools: theirs.tools.filter((tool) => !left_out.includes(tool)) }, left_out };
}

/**
 * The role of a file with the safe choice of when it asks people: a file cannot switch that off, nor take away what
 * ours asks for.
 */
export function withSafeConfirmation(
  theirs: RoleDefinition,
  ours: RoleDefinition | undefined,
): RoleDefinition {
  const { confirmation, ...rest } = theirs;
  const safe =
    confirmation?.kind === "always" ? confirmation : (ours?.confirmation ?? asksAtAll(confirmation));
  return safe ? { ...rest, confirmation: safe } : rest;
}

const asksAtAll = (policy: ConfirmationPolicy | undefined) => (policy?.kind === "never" ? undefined : policy);

/**
 * The settings of a workflow of a file with the safe choice of when its runs ask people: at least before what is of
 * high or unknown risk. Answers what the file had said where that was less.
 */
export function withSafeRuns(graph: WorkflowGraph): {
  graph: WorkflowGraph;
  had: ConfirmationPolicy | null;
} {
  const had = graph.config?.confirmation;
  if (!graph.config || !had || had.kind === "always" || (had.kind === "risky" && had.confirm_unknown))
    return { graph, had: null };
  return { graph: { ...graph, config: { ...graph.config, confirmation: USUAL_CONFIRMATION } }, had };
}

/** When people are asked, as the end of a sentence: "asks people before …". */
export function describeConfirmation(policy: ConfirmationPolicy | undefined): string {
  switch (policy?.kind) {
    case undefined:
      return "according to the run's policy";
    case "never":
      return "never";
    case "always":
      return "before every tool call";
    case "risky":
      return policy.threshold === "LOW"
        ? "before every tool call of known risk"
        : `before tool calls of ${policy.threshold === "HIGH" ? "high" : "medium or high"} risk`;
    case "tools":
      return policy.tools.length === 0 ? "never" : `before ${policy.tools.join(", ")}`;
    case "when":
      return `when ${policy.when}`;
  }
}
