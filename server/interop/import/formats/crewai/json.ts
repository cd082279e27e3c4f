import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { type Claim, nothingImported, type ReadableFormat } from "../../format";
import { RoleRegistry } from "../../role-registry";
import type { Source } from "../../source";
import { humanize, importAgent } from "./crew-config";
import { drawCrew } from "./draw";
import {
  type AgentModel,
  type CrewModel,
  checkContexts,
  isAgent,
  isInRepository,
  isTask,
  readAgent,
  readTask,
  textOf,
} from "./model";
import { crewWith } from "./settings";

const isCrew = (value: unknown): value is Raw =>
  isRaw(value) &&
  !("methods" in value) &&
  tasksOf(value).length > 0 &&
  tasksOf(value).every(([, task]) => isTask(task)) &&
  (isRaw(value.agents) ? Object.values(value.agents).every(isRaw) : Array.isArray(value.agents));

/** CrewAI's `crew.jsonc` with a file for each agent, also with the agents in it; in JSON or YAML. */
export const crewaiJson: ReadableFormat = {
  id: "crewai-json",
  label: "a CrewAI crew (crew.jsonc)",
  recognise(sources) {
    const crews = sources.filter(({ value }) => isCrew(value));
    // Of both, CrewAI takes crew.jsonc.
    const chosen = crews.filter(
      ({ path }) => !(path.endsWith(".json") && crews.some((other) => other.path === `${path}c`)),
    );
    const claims = chosen.map((source): Claim => {
      const names = isRaw(source.value) ? agentNames(source.value) : [];
      const files = names.flatMap((name) => agentFile(name, source, sources) ?? []);
      const { value } = source;
      return {
        sure: 2,
        files: [source, ...files],
        title: (isRaw(value) && textOf(value.name)) || source.path,
      };
    });
    const taken = new Set(claims.flatMap(({ files }) => files));
    const single = sources.filter(
      (source) => !taken.has(source) && source.kind === "json" && isAgent(source.value),
    );
    return [
      ...claims,
      ...single.map((source): Claim => ({ sure: 1, files: [source], title: nameOf(source) })),
    ];
  },
  read({ claim, all, findings, answers }) {
    const [source] = claim.files;
    if (!source || !isRaw(source.value)) return nothingImported();
    if (!isCrew(source.value)) return readAlone(source, source.value, findings);
    const model = readCrew(source.value, source.on(findings), (name) => {
      const file = agentFile(name, source, all);
      if (!file) return missing(name);
      if (isRaw(file.value)) return { raw: file.value, report: file.on(findings) };
      return `${file.path} can't be read. ${file.problem ?? "It has no agent."}`;
    });
    return drawCrew(model, { findings, answers });
  },
};

/** A single agent becomes a role. */
function readAlone(source: Source, raw: Raw, findings: Findings) {
  const roleRegistry = new RoleRegistry();
  importAgent(readAgent(nameOf(source), raw, source.on(findings)), roleRegistry);
  return roleRegistry.imported(humanize(nameOf(source)));
}

const nameOf = ({ name }: Source): string => name.replace(/\.[^.]*$/, "");

/** The agents that have files of their own. */
function agentNames({ agents, manager_agent }: Raw): string[] {
  const listed = Array.isArray(agents) ? agents.filter((name) => typeof name === "string") : [];
  return typeof manager_agent === "string" ? [...listed, manager_agent] : listed;
}

/**
 * In the folder that CrewAI searches, whatever the file holds; else next to the crew, where files chosen one by one end
 * up, including unrelated ones.
 */
const agentFile = (name: string, crew: Source, all: readonly Source[]): Source | undefined => {
  const at = (place: string) => all.find((file) => file !== crew && file.path === `${crew.folder}${place}`);
  return (
    at(`agents/${name}.jsonc`) ??
    at(`agents/${name}.json`) ??
    [at(`${name}.jsonc`), at(`${name}.json`)].find((file) => file && mayBeAgent(file))
  );
};

const mayBeAgent = ({ value, problem }: Source): boolean =>
  problem !== undefined || isAgent(value) || (isRaw(value) && isInRepository(value));

function tasksOf({ tasks }: Raw): [key: string, task: unknown][] {
  if (Array.isArray(tasks))
    return tasks.map((task: unknown, place) => [
      (isRaw(task) && textOf(task.name)) || `task_${place + 1}`,
      task,
    ]);
  return isRaw(tasks) ? Object.entries(tasks) : [];
}

/** Why an agent that is only named is not there. */
export const missing = (name: string): string =>
  `agents/${name}.jsonc is missing. Import the whole folder, or a zip of it.`;

/** Reads a crew with inline tasks. `load`: the file of an agent that is only named, or why there is none. */
export function readCrew(
  raw: Raw,
  report: Findings,
  load: (name: string) => { raw: Raw; report: Findings } | string,
): CrewModel {
  const agents = new Map<string, AgentModel>();
  const add = (key: string, value: unknown, place: Findings) => {
    if (isRaw(value) && isInRepository(value))
      place.dropped(
        "from_repository",
        `The agent "${key}" is stored at CrewAI (${textOf(value.from_repository)}) and wasn't fetched.`,
      );
    else if (isRaw(value)) agents.set(key, readAgent(key, value, place));
    else place.dropped("", `Skipped "${key}": not an agent.`);
  };
  const fetchAgent = (name: string, at: string) => {
    const file = load(name);
    if (typeof file === "string") report.error(at, `The agent "${name}" is missing: ${file}`);
    else add(name, file.raw, file.report);
  };
  if (Array.isArray(raw.agents))
    for (const [place, agent] of raw.agents.entries())
      if (typeof agent === "string") fetchAgent(agent, `agents.${place}`);
      else if (isRaw(agent))
        add(
          textOf(agent.name) || textOf(agent.role) || `agent_${place + 1}`,
          agent,
          report.under(`agents.${place}`),
        );
      else report.dropped(`agents.${place}`, "Skipped: not an agent.");
  else if (isRaw(raw.agents))
    for (const [key, agent] of Object.entries(raw.agents)) add(key, agent, report.under(`agents.${key}`));
  const tasks = tasksOf(raw).flatMap(([key, task], place) =>
    isRaw(task) ? [readTask(key, task, report.under(`tasks.${Array.isArray(raw.tasks) ? place : key}`))] : [],
  );
  const twice = tasks.find(({ key }, place) => tasks.findIndex((other) => other.key === key) !== place);
  if (twice) report.error("tasks", `Two tasks are named "${twice.key}".`);
  checkContexts(tasks);
  const model = crewWith(raw, {
    agents,
    tasks,
    report,
    load: (name) => fetchAgent(name, "manager_agent"),
  });
  if (isRaw(raw.inputs)) model.inputs = raw.inputs;
  return model;
}
