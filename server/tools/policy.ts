import { evaluateCondition } from "@/server/domain/expression";
import type { ConfirmationPolicy } from "@/server/domain/role";
import { isGranted, type RiskLevel, type ToolSpec } from "@/server/domain/tool";
import type { JsonObject } from "@/server/domain/values";

export interface Grants {
  /** What the agent may call, by name. */
  granted: ToolSpec[];
  /** What its role or its task names and it does not get, with the reason. */
  withheld: { tool_name: string; reason: string }[];
}

/**
 * The one place that says which tools an agent gets: what its role names and this installation has, without what
 * was denied, and never more than the agent that delegated to it has.
 */
export function grantTools(about: {
  /** `RoleDefinition.tools`. */
  role_tools: readonly string[];
  /** Everything there is. */
  known: readonly ToolSpec[];
  /** What the task allows of that; absent: all of it. */
  only?: readonly string[];
  /** Wins over every grant. */
  denied: readonly string[];
  /** What the crew does without, and why. */
  without?: { tools: readonly string[]; reason: string };
  /** What the delegating agent may call; absent for an agent that nobody delegated to. */
  parent?: readonly string[];
}): Grants {
  const granted: ToolSpec[] = [];
  const withheld: Grants["withheld"] = [];
  const matched = new Set<string>();
  for (const spec of about.known) {
    const grant = about.role_tools.find((name) => isGranted([name], spec.name));
    if (grant === undefined) continue;
    matched.add(grant);
    const reason = isGranted(about.denied, spec.name)
      ? "It is denied for this run."
      : about.only && !isGranted(about.only, spec.name)
        ? "The task does without it."
        : about.without?.tools.includes(spec.name)
          ? about.without.reason
          : about.parent && !about.parent.includes(spec.name)
            ? "The agent that delegated this task may not use it."
            : (spec.unavailable ?? null);
    if (reason === null) granted.push(spec);
    else withheld.push({ tool_name: spec.name, reason });
  }
  for (const name of about.only ?? [])
    if (!about.role_tools.includes(name) && !isGranted(about.role_tools, name))
      withheld.push({ tool_name: name, reason: "The task names it, but its role may not use it." });
  for (const name of about.role_tools)
    if (!matched.has(name)) withheld.push({ tool_name: name, reason: "There is no such tool here." });
  return { granted, withheld };
}

const LEVELS: readonly RiskLevel[] = ["LOW", "MEDIUM", "HIGH"];

/**
 * Why a person must agree to this call first, or null. What carries data out of here while the agent has read
 * content that nobody vouches for always needs a person, whatever the policy.
 */
export function confirmationReason(about: {
  spec: ToolSpec;
  args: JsonObject;
  repaired: boolean;
  /** What the installation, the run and the role say: the call waits where any of them asks, so the stricter wins. */
  policies: readonly ConfirmationPolicy[];
  /** Tools whose results the agent has read that nobody vouches for. */
  taint_sources: readonly string[];
  /** A person has approved this tool for the rest of the run. */
  approved_always: boolean;
}): string | null {
  const { spec } = about;
  if (spec.sink && about.taint_sources.length > 0)
    return `It sends data out, after the agent read content from ${about.taint_sources.join(", ")} that nobody here vouches for.`;
  if (spec.destructive && about.repaired)
    return "It cannot be undone, and the model's call had to be mended before it could be read.";
  if (about.approved_always) return null;
  for (const policy of about.policies) {
    const reason = reasonOf(policy, about);
    if (reason !== null) return reason;
  }
  return null;
}

/** Why this one policy asks a person about a call, or null. */
function reasonOf(
  policy: ConfirmationPolicy,
  { spec, args }: { spec: ToolSpec; args: JsonObject },
): string | null {
  switch (policy.kind) {
    case "never":
      return null;
    case "always":
      return "Every call of a tool needs a person's agreement.";
    case "tools":
      return policy.tools.includes(spec.name) ? `${spec.name} needs a person's agreement.` : null;
    case "when":
      return evaluateCondition(policy.when, {
        state: {},
        input: { tool: spec.name, args, risk: spec.risk },
      }).value
        ? "The condition for asking a person holds."
        : null;
    case "risky":
      if (spec.risk === "UNKNOWN")
        return policy.confirm_unknown ? "Nobody has said how risky this tool is." : null;
      return LEVELS.indexOf(spec.risk) >= LEVELS.indexOf(policy.threshold)
        ? `Its risk is ${spec.risk.toLowerCase()}.`
        : null;
  }
}
