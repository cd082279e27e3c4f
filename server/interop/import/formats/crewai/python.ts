import { defined } from "@/server/domain/base/defined";
import type { Findings, PlaceOf, Raw } from "@/server/domain/base/lenient-reader";
import type { CodePart, CrewCode } from "./code";
import { type AgentModel, type CrewModel, checkContexts, readAgent, readTask, type TaskModel } from "./model";
import { crewWith } from "./settings";

/**
 * A crew that is partly defined in Python: its settings, the order of its tasks, who does them, with which tools and
 * results. The code is parsed as a syntax tree and never run.
 */

/** An agent or task of a YAML file: its description, with where it stands. */
export interface Described {
  raw: Raw;
  place: PlaceOf;
}

/** The crew that code makes of descriptions; what it does not use is said. */
export function crewOfCode(
  code: CrewCode,
  described: { agents: ReadonlyMap<string, Described>; tasks: ReadonlyMap<string, Described> },
  { name, findings }: { name: string; findings: Findings },
): CrewModel {
  const ordered = orderOf(code, findings);
  const agentKeys = keysOf([...code.agents.values()], described.agents);
  const taskKeys = keysOf([...code.tasks.values()], described.tasks);
  const agents = new Map<string, AgentModel>();
  for (const [key, { raw, place }] of described.agents)
    if (![...code.agents.values()].some(({ config }) => config === key))
      agents.set(key, readAgent(key, raw, findings.of(place)));
  for (const part of code.agents.values()) {
    const key = agentKeys.get(part.name) ?? part.name;
    const { raw, report } = merged(part, described.agents, "agent", findings);
    agents.set(key, readAgent(key, raw, report));
  }
  const tasks = ordered.map((part): TaskModel => {
    const { raw, report } = merged(part, described.tasks, "task", findings);
    const renamed = {
      ...raw,
      ...defined({
        agent: typeof raw.agent === "string" ? (agentKeys.get(raw.agent) ?? raw.agent) : undefined,
      }),
      ...(Array.isArray(raw.context)
        ? {
            context: raw.context.map((one: unknown) =>
              typeof one === "string" ? (taskKeys.get(one) ?? one) : one,
            ),
          }
        : {}),
    };
    return readTask(taskKeys.get(part.name) ?? part.name, renamed, report);
  });
  const used = new Set([...code.tasks.values()].map(({ config }) => config));
  for (const [key, { place }] of described.tasks)
    if (!used.has(key))
      findings.of(place).dropped("", `${code.source.name} doesn't use the task "${key}"; it was left out.`);
  for (const part of code.tasks.values())
    if (!ordered.includes(part))
      findings
        .of(part.place)
        .dropped("", `No crew in the code has the task "${part.name}"; it was left out.`);
  checkContexts(tasks);
  const first = code.crews.find(({ raw }) => raw !== null);
  const raw: Raw = { ...first?.raw, name };
  if (typeof raw.manager_agent === "string")
    raw.manager_agent = agentKeys.get(raw.manager_agent) ?? raw.manager_agent;
  const model = crewWith(raw, {
    agents,
    tasks,
    report: first ? findings.of(first.place) : findings,
    load: () => {},
  });
  model.code = code.programs;
  for (const [key, value] of Object.entries(code.inputs)) if (value !== null) model.inputs[key] = value;
  return model;
}

/** The tasks in the order in which they are done. */
function orderOf({ crews, tasks, source }: CrewCode, findings: Findings): CodePart[] {
  const [first, ...more] = crews;
  if (!first) {
    source.on(findings).info("", "No readable crew was found in the code, so the tasks run in order.");
    return [...tasks.values()];
  }
  for (const { raw, place } of more)
    findings
      .of(place)
      .changed(
        "",
        `The code decides when ${raw ? "another crew" : "a task without a crew"} runs here; ${raw ? "its tasks were added after those of the previous crew" : "it was added after the previous tasks"}.`,
      );
  const names = [...new Set(crews.flatMap((crew) => crew.tasks))];
  return names.flatMap((name) => tasks.get(name) ?? []);
}

/** Parts keep the key of their description; where two have the same, their own name. */
function keysOf(parts: readonly CodePart[], described: ReadonlyMap<string, Described>): Map<string, string> {
  return new Map(
    parts.map(({ name, config }) => {
      const isOnly = parts.filter((one) => one.config === config).length === 1;
      return [name, config !== null && isOnly && described.has(config) ? config : name];
    }),
  );
}

/** A description with what code adds to it or says instead; findings stand where each of it does. */
function merged(
  part: CodePart,
  described: ReadonlyMap<string, Described>,
  kind: "agent" | "task",
  findings: Findings,
): { raw: Raw; report: Findings } {
  const found = part.config === null ? undefined : described.get(part.config);
  if (part.config !== null && !found)
    findings
      .of(part.place)
      .error(
        "",
        `None of the files describes the ${kind} "${part.config}". Import the whole folder, or a zip of it.`,
      );
  const place: PlaceOf = (at) =>
    !found || (at.split(".")[0] ?? "") in part.raw ? part.place(at) : found.place(at);
  return { raw: { ...found?.raw, ...part.raw }, report: findings.of(place) };
}
