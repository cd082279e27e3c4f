import { isRaw } from "@/server/domain/base/lenient-reader";
import { type Claim, nothingImported, type ReadableFormat } from "../../format";
import { Cast } from "../../roles";
import type { Source } from "../../source";
import { castAgent, human } from "./cast";
import { drawCrew } from "./draw";
import {
  type AgentModel,
  checkContexts,
  isAgent,
  isTask,
  readAgent,
  readTask,
  type TaskModel,
  textOf,
} from "./model";

interface Entry {
  key: string;
  /** Its place in the file. */
  at: string;
  value: unknown;
}

/** What a file of agents or tasks lists: by key, as a list with names, and either also under one word of its own. */
function entriesOf({ value }: Source): Entry[] {
  const words = isRaw(value) ? Object.keys(value) : [];
  const [word = ""] = words;
  const isWrapped = isRaw(value) && words.length === 1 && (word === "agents" || word === "tasks");
  const listed = isWrapped ? value[word] : value;
  const under = isWrapped ? `${word}.` : "";
  if (Array.isArray(listed))
    return listed.map((one: unknown, place) => ({
      key:
        (isRaw(one) && (textOf(one.name) || textOf(one.id))) ||
        `${word === "agents" ? "agent" : "task"}_${place + 1}`,
      at: `${under}${place}`,
      value: one,
    }));
  return isRaw(listed)
    ? Object.entries(listed).map(([key, one]) => ({ key, at: `${under}${key}`, value: one }))
    : [];
}

/** Whether most of what a file lists is of this kind; it may hold anchors and the like beside. */
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
      const here = sources.filter((source) => source.folder === folder);
      const agents = here.filter(holdsAgents);
      const tasks = here.filter((source) => !agents.includes(source) && holdsTasks(source));
      if (agents.length + tasks.length === 0) return [];
      return [{ sure: 2, files: [...agents, ...tasks], title: titleOf(folder) }];
    });
  },
  read({ claim, all, findings, answers }) {
    const agents = new Map<string, AgentModel>();
    const tasks: TaskModel[] = [];
    for (const source of claim.files) {
      const isAgents = holdsAgents(source);
      for (const { key, at, value } of entriesOf(source)) {
        const here = source.on(findings, at);
        if (isAgents && isAgent(value)) agents.set(key, readAgent(key, value, here));
        else if (!isAgents && isTask(value)) tasks.push(readTask(key, value, here));
        else here.dropped("", `"${key}" is neither an agent nor a task and was left out.`);
      }
    }
    const [first] = claim.files;
    // The other half of the crew, which cannot be parsed.
    for (const source of all)
      if (source.problem && source.folder === first?.folder && /^(agents|tasks)\.ya?ml$/i.test(source.name))
        source.on(findings).error("", source.problem);
    checkContexts(tasks);
    const name = human(titleOf(first?.folder ?? "") || "Crew");
    if (tasks.length === 0) {
      const cast = new Cast();
      for (const agent of agents.values()) castAgent(agent, cast);
      findings.info("", "These are agents without tasks; their roles come in, and no workflow is made.");
      return { ...nothingImported(name), roles: cast.roles, tools: cast.tools() };
    }
    if (agents.size > 0)
      findings.info(
        "",
        "CrewAI keeps the order of the tasks and some of its settings in crew.py, which is not read: the tasks follow each other as in the file.",
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
      },
      { findings, answers },
    );
  },
};

/** The last folder that says something: `crews/job-posting/src/job_posting/config/` is job_posting. */
function titleOf(folder: string): string {
  const names = folder.split("/").filter((name) => name && !/^(config|src)$/i.test(name));
  return names.at(-1) ?? "";
}
