import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { type AgentModel, type CrewModel, type TaskModel, textOf } from "./model";

const KNOWN = new Set([
  "name",
  "description",
  "agents",
  "tasks",
  "process",
  "manager_agent",
  "manager_llm",
  "planning",
  "memory",
  "inputs",
  "verbose",
  "cache",
  "stream",
  "tracing",
  "output_log_file",
  "share_crew",
]);

/** A crew with its settings, whichever kind of file they come from. `load`: adds a manager agent that is only named. */
export function crewWith(
  raw: Raw,
  {
    agents,
    tasks,
    report,
    load,
  }: { agents: Map<string, AgentModel>; tasks: TaskModel[]; report: Findings; load: (name: string) => void },
): CrewModel {
  const process = textOf(raw.process) || "sequential";
  if (process !== "sequential" && process !== "hierarchical")
    report.changed("process", `Unknown process ${JSON.stringify(process)}; the tasks run in order.`);
  const model: CrewModel = {
    name: textOf(raw.name) || "Crew",
    agents,
    tasks,
    process: process === "hierarchical" ? "hierarchical" : "sequential",
    manager: null,
    planning: raw.planning === true,
    memory: raw.memory === true,
    inputs: {},
    code: new Map(),
    report,
  };
  if (model.process === "hierarchical") addManager(model, raw, report, load);
  for (const field of Object.keys(raw))
    if (!KNOWN.has(field) && raw[field] !== null && raw[field] !== false)
      report.dropped(field, `The crew's "${field}" has no equivalent and was left out.`);
  return model;
}

/** Who leads: the agent that the file names, else one of ours. */
function addManager(model: CrewModel, raw: Raw, report: Findings, load: (name: string) => void): void {
  const named = textOf(raw.manager_agent);
  if (named && !model.agents.has(named)) load(named);
  if (raw.manager_llm) report.dropped("manager_llm", "The manager uses your default model.");
  if (named && model.agents.has(named)) {
    model.manager = named;
    return;
  }
  if (named) return;
  const key = model.agents.has("manager") ? "crew_manager" : "manager";
  report.info("process", "The file doesn't name a manager, so one was added.");
  model.agents.set(key, {
    key,
    role: "Crew Manager",
    goal: "Manage the team to complete the task in the best way possible.",
    backstory:
      "You give each part of the work to whoever can do it best, look at what comes back, and put the results together.",
    tools: [],
    allow_delegation: true,
    max_iter: null,
    max_rpm: null,
    max_execution_time: null,
    report,
  });
  model.manager = key;
}
