import { defined } from "@/server/domain/base/defined";
import { type Findings, isRaw, type PlaceOf } from "@/server/domain/base/lenient-reader";
import type { Claim, ReadableFormat } from "../../format";
import { RoleRegistry } from "../../role-registry";
import type { Source } from "../../source";
import { readCrewCode } from "./code";
import { type CrewProgram, crewPrograms, readsFolder } from "./code-files";
import { humanize, importAgent } from "./crew-config";
import { drawCrew } from "./draw";
import { checkContexts, isAgent, isTask, readAgent, readTask, textOf } from "./model";
import { crewOfCode, type Described } from "./python";

interface Entry {
  key: string;
  /** Its place in the file. */
  at: string;
  value: unknown;
}

/**
 * The agents or tasks in a file: by key or as a list with names, optionally wrapped in one key, `agents` or `tasks`.
 */
function entriesOf({ value }: Source): Entry[] {
  const keys = isRaw(value) ? Object.keys(value) : [];
  const [key = ""] = keys;
  const isWrapped = isRaw(value) && keys.length === 1 && (key === "agents" || key === "tasks");
  const listed = isWrapped ? value[key] : value;
  const under = isWrapped ? `${key}.` : "";
  if (Array.isArray(listed))
    return listed.map((one: unknown, place) => ({
      key:
        (isRaw(one) && (textOf(one.name) || textOf(one.id))) ||
        `${key === "agents" ? "agent" : "task"}_${place + 1}`,
      at: `${under}${place}`,
      value: one,
    }));
  return isRaw(listed)
    ? Object.entries(listed).map(([key, one]) => ({ key, at: `${under}${key}`, value: one }))
    : [];
}

/** Whether most entries of a file are of this kind; it may also hold anchors and the like. */
const lists = (source: Source, isOne: (value: unknown) => boolean): boolean => {
  const entries = entriesOf(source);
  return entries.length > 0 && entries.filter(({ value }) => isOne(value)).length * 2 > entries.length;
};
const holdsAgents = (source: Source) => lists(source, isAgent);
const holdsTasks = (source: Source) => lists(source, isTask);

/** CrewAI's `agents.yaml` and `tasks.yaml`, a folder for each crew. */
export const crewaiYaml: ReadableFormat = {
  id: "crewai-yaml",
  label: "a CrewAI crew (agents.yaml and tasks.yaml)",
  recognise: (sources) => {
    const folders = [...new Set(sources.map(({ folder }) => folder))];
    return folders.flatMap((folder): Claim[] => {
      const report = sources.filter((source) => source.folder === folder);
      const agents = report.filter(holdsAgents);
      const tasks = report.filter((source) => !agents.includes(source) && holdsTasks(source));
      if (agents.length + tasks.length === 0) return [];
      const program = programOf(folder, sources);
      const code = program ? [...program.files, ...program.users] : [];
      return [{ sure: 2, files: [...agents, ...tasks, ...code], title: titleOf(folder) }];
    });
  },
  read({ claim, all, findings, answers, work }) {
    const { agents: described, tasks: asked } = describedIn(claim.files, findings);
    const [first] = claim.files;
    // The other half of the crew, which cannot be parsed.
    for (const source of all)
      if (source.problem && source.folder === first?.folder && /^(agents|tasks)\.ya?ml$/i.test(source.name))
        source.on(findings).error("", source.problem);
    const folder = first?.folder ?? "";
    const program = programOf(folder, claim.files);
    const code = program ? readCrewCode(program, { findings, work }) : null;
    const name = humanize(
      titleOf(folder) || code?.title || [...described.keys()].slice(0, 2).join(" and ") || "Crew",
    );
    if (code && (asked.size > 0 || code.tasks.size > 0)) {
      const model = crewOfCode(code, { agents: described, tasks: asked }, { name, findings });
      code.source
        .on(findings)
        .info("", "The order of tasks, their agents and the crew's settings come from this file.");
      return drawCrew(model, { findings, answers });
    }
    const agents = new Map(
      [...described].map(([key, { raw, place }]) => [key, readAgent(key, raw, findings.of(place))]),
    );
    const tasks = [...asked].map(([key, { raw, place }]) => readTask(key, raw, findings.of(place)));
    checkContexts(tasks);
    if (tasks.length === 0) {
      const roleRegistry = new RoleRegistry();
      for (const agent of agents.values()) importAgent(agent, roleRegistry);
      findings.info("", "These agents have no tasks, so only their roles are imported, without a workflow.");
      return roleRegistry.imported(name);
    }
    if (agents.size > 0)
      findings.info(
        "",
        "CrewAI stores the order of tasks and some settings in crew.py, which isn't in the imported files, so the tasks run in the order of this file. Import the whole folder to include it.",
      );
    return drawCrew(
      {
        name,
        agents,
        tasks,
        process: "sequential",
        manager: null,
        planning: false,
        memory: false,
        inputs: {},
        code: new Map(),
        report: findings,
      },
      { findings, answers },
    );
  },
};

/** The YAML files that a program reads its agents and tasks from. */
export const configsOf = (program: CrewProgram, sources: readonly Source[]): Source[] =>
  sources.filter(
    (source) => (holdsAgents(source) || holdsTasks(source)) && readsFolder(program, source.folder),
  );

/** What the files describe, with the place of each. */
export function describedIn(
  files: readonly Source[],
  findings: Findings,
): { agents: Map<string, Described>; tasks: Map<string, Described> } {
  const agents = new Map<string, Described>();
  const tasks = new Map<string, Described>();
  for (const source of files) {
    const isAgents = holdsAgents(source);
    for (const { key, at, value } of entriesOf(source)) {
      const place: PlaceOf = (part) => {
        const whole = part ? `${at}.${part}` : at;
        const line = source.lineOf(whole);
        return {
          at: whole,
          ...defined({ file: source.path || undefined, line }),
        };
      };
      if (isAgents && isAgent(value)) agents.set(key, { raw: value, place });
      else if (!isAgents && isTask(value)) tasks.set(key, { raw: value, place });
      else findings.of(place).dropped("", `"${key}" is neither an agent nor a task and was left out.`);
    }
  }
  return { agents, tasks };
}

/** The code that constructs the crew of a folder's files; if there is only one crew, it is that one. */
function programOf(folder: string, sources: readonly Source[]): CrewProgram | undefined {
  const programs = crewPrograms(sources).filter(({ main }) => /\bCrew\s*\(/.test(main.text));
  const folders = new Set(
    sources.filter((source) => holdsAgents(source) || holdsTasks(source)).map((source) => source.folder),
  );
  const [only, ...more] = programs;
  return (
    programs.find((program) => readsFolder(program, folder)) ??
    (more.length === 0 && folders.size === 1 ? only : undefined)
  );
}

/** The last folder that says something: `crews/job-posting/src/job_posting/config/` is job_posting. */
function titleOf(folder: string): string {
  const names = folder.split("/").filter((name) => name && !/^(config|src)$/i.test(name));
  return names.at(-1) ?? "";
}
