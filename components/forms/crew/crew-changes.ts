import { AgentConfig, type LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { isList } from "@/server/domain/base/guards";
import { freshId, toId } from "@/server/domain/base/ids";
import { isSameJson } from "@/server/domain/base/json";
import { Json, type JsonObject } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { CollaborationPattern } from "@/server/domain/crew/pattern";

/** A group being edited: everything is optional. */
export interface GroupDraft {
  name: string;
  agents: string[];
  coordination_agent?: string | undefined;
  sync_points: string[];
}

/** A step being edited. */
export interface StepDraft {
  step: string;
  agent: string;
  description: string;
  outcomes: { outcome: string; target: string }[];
}

/** A new agent with this role and an unused id. */
export function newAgent(role_name: string, agents: readonly AgentConfig[]): AgentConfig {
  const taken = new Set(agents.map(({ agent_id }) => agent_id));
  return AgentConfig.parse({ agent_id: freshId(toId(role_name).toLowerCase() || "agent", taken), role_name });
}

/** A library agent as a new member with an unused id. */
export function newMember(agent: AgentConfig, agents: readonly AgentConfig[]): AgentConfig {
  const taken = new Set(agents.map(({ agent_id }) => agent_id));
  return { ...agent, agent_ref: agent.agent_id, agent_id: freshId(agent.agent_id, taken) };
}

/** Renames an agent everywhere in the crew. */
export function renameAgent(crew: CrewConfig, from: string, to: string): CrewConfig {
  const named = (id: string) => (id === from ? to : id);
  return rewritten(crew, {
    agents: crew.agents.map((agent) =>
      defined({ ...agent, agent_id: named(agent.agent_id), handoffs: agent.handoffs?.map(named) }),
    ),
    named,
  });
}

/** Removes an agent; null if it is the last one. */
export function removeAgent(crew: CrewConfig, id: string): CrewConfig | null {
  const agents = crew.agents
    .filter(({ agent_id }) => agent_id !== id)
    .map((agent) =>
      agent.handoffs ? { ...agent, handoffs: agent.handoffs.filter((other) => other !== id) } : agent,
    );
  return agents.length === 0
    ? null
    : rewritten(crew, { agents, named: (other) => (other === id ? undefined : other) });
}

function rewritten(
  crew: CrewConfig,
  { agents, named }: { agents: AgentConfig[]; named: (id: string) => string | undefined },
): CrewConfig {
  const { entry_agent, manager, ...rest } = crew;
  const entry = entry_agent === undefined ? undefined : named(entry_agent);
  const lead = manager?.agent_id === undefined ? undefined : named(manager.agent_id);
  const weights = Object.entries(crew.consensus.weights).flatMap(([id, weight]) => {
    const next = named(id);
    return next === undefined ? [] : [[next, weight] as const];
  });
  const next: CrewConfig = {
    ...rest,
    agents,
    consensus: { ...crew.consensus, weights: Object.fromEntries(weights) },
    ...defined({ entry_agent: entry, manager: managerOf(lead, manager?.llm_config) }),
  };
  const groups = groupsOf(crew).map((group) => ({
    ...group,
    agents: group.agents.flatMap((id) => named(id) ?? []),
    coordination_agent: group.coordination_agent && named(group.coordination_agent),
  }));
  const isStep = new Set(stepsOf(crew).map(({ step }) => step));
  const steps = stepsOf(crew).map((step) => ({
    ...step,
    agent: named(step.agent) ?? "",
    // Keep targets that are steps, even if an agent has the same name.
    outcomes: step.outcomes.map(({ outcome, target }) => ({
      outcome,
      target: isStep.has(target) ? target : (named(target) ?? ""),
    })),
  }));
  const grouped = groups.length > 0 ? withGroups(next, groups) : next;
  return steps.length > 0 ? withSteps(grouped, steps) : grouped;
}

/** The lead and its model; undefined if neither is set. */
export const managerOf = (
  agent_id: string | undefined,
  llm_config: LlmConfig | undefined,
): CrewConfig["manager"] =>
  agent_id || llm_config ? defined({ agent_id: agent_id || undefined, llm_config }) : undefined;

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const hasGroups = (pattern: unknown) => isObject(pattern) && Array.isArray(pattern.parallel_groups);
const hasSteps = (pattern: unknown) =>
  isObject(pattern) && pattern.type === "custom" && Array.isArray(pattern.workflow);
const text = (value: unknown) => (typeof value === "string" ? value : "");
const texts = (value: unknown) =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];

/** The parallel groups of a crew, including incomplete ones. */
export function groupsOf({
  collaboration_patterns,
}: Pick<CrewConfig, "collaboration_patterns">): GroupDraft[] {
  return collaboration_patterns.flatMap((pattern) => {
    const groups: unknown = isObject(pattern) ? pattern.parallel_groups : undefined;
    if (!isList(groups)) return [];
    return groups.filter(isObject).map((group) => ({
      name: text(group.name),
      agents: texts(group.agents),
      coordination_agent: text(group.coordination_agent) || undefined,
      sync_points: texts(group.sync_points),
    }));
  });
}

export function withGroups(crew: CrewConfig, groups: readonly GroupDraft[]): CrewConfig {
  const list = groups.map((group) =>
    defined({ ...group, coordination_agent: group.coordination_agent || undefined }),
  );
  return withPattern(crew, hasGroups, list.length > 0 ? { parallel_groups: list } : null);
}

/** The steps of a crew's custom pattern, including incomplete ones. */
export function stepsOf({ collaboration_patterns }: Pick<CrewConfig, "collaboration_patterns">): StepDraft[] {
  const pattern = collaboration_patterns.find(hasSteps);
  const steps = isObject(pattern) && Array.isArray(pattern.workflow) ? pattern.workflow : [];
  return steps.filter(isObject).map((step) => ({
    step: text(step.step),
    agent: text(step.agent),
    description: text(step.description),
    outcomes: Object.entries(step).flatMap(([key, target]) =>
      key.startsWith("next_on_") && typeof target === "string"
        ? [{ outcome: key.slice("next_on_".length), target }]
        : [],
    ),
  }));
}

export function withSteps(crew: CrewConfig, steps: readonly StepDraft[]): CrewConfig {
  const workflow = steps.map(({ step, agent, description, outcomes }) => ({
    step,
    agent,
    ...defined({ description: description || undefined }),
    ...Object.fromEntries(outcomes.map(({ outcome, target }) => [`next_on_${outcome}`, target])),
  }));
  return withPattern(crew, hasSteps, workflow.length > 0 ? { type: "custom", workflow } : null);
}

/** Replaces the first pattern of a kind, keeping its other properties, and removes the others of that kind. */
function withPattern(
  crew: CrewConfig,
  isKind: (pattern: unknown) => boolean,
  change: JsonObject | null,
): CrewConfig {
  const old = crew.collaboration_patterns.find(isKind);
  const kept = crew.collaboration_patterns.filter((pattern) => !isKind(pattern));
  if (!change) return { ...crew, collaboration_patterns: kept };
  const merged: CollaborationPattern = Json.parse({ ...(isObject(old) ? old : {}), ...change });
  const at = crew.collaboration_patterns.findIndex(isKind);
  const list = at < 0 ? [...kept, merged] : [...kept.slice(0, at), merged, ...kept.slice(at)];
  return isSameJson(list, crew.collaboration_patterns) ? crew : { ...crew, collaboration_patterns: list };
}
