import { readRoleList } from "@/server/domain/agent/read-roles";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { isList } from "@/server/domain/base/guards";
import { freshId, toId } from "@/server/domain/base/ids";
import {
  cleanCopy,
  type Finding,
  Findings,
  isRaw,
  join,
  type Raw,
  readLeniently,
  renameField,
  withoutNulls,
} from "@/server/domain/base/lenient-reader";
import { writeFields, writeTersely } from "@/server/domain/base/terse-writer";
import { Id } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { withoutSecrets } from "@/server/domain/graph/secrets";
import { asTemplate } from "@/server/domain/text/template/template";
import { parseText, writeText } from "./text-files";
import { BUILTIN_TOOLS } from "./tool-names";

/** What a file of teams holds: crews with their agents, agents of no crew, and the roles that they need. */
export interface Teams {
  crews: CrewConfig[];
  agents: AgentConfig[];
  roles: RoleDefinition[];
}

const MAX_CREWS = 100;

/**
 * Reads crews and agents from YAML or JSON, as text or already parsed: files of writeTeams, a single crew or agent, a
 * list of agents under `agents` with optional `crews`, and Roboco's team configurations. Nothing that the file names is
 * fetched, opened or run; findings say what was changed or left out. An error among them means that nothing could be
 * read.
 */
export function readTeams(source: unknown): Teams & { findings: Finding[] } {
  const findings = new Findings();
  const teams: Teams = { crews: [], agents: [], roles: [] };
  const refuse = (message: string) => {
    findings.error("", message);
    return { crews: [], agents: [], roles: [], findings: findings.all() };
  };
  const parsed = typeof source === "string" ? parseText(source) : { value: source };
  if ("problem" in parsed) return refuse(parsed.problem);
  const copy = cleanCopy(parsed.value, findings);
  if (!copy) return refuse("The file is nested too deeply to hold crews.");
  if (!isRaw(copy.value)) return refuse('This is not a crew: an object with "agents", or with "crews".');
  const file = withoutNulls(copy.value);
  if (file.nodes !== undefined || file.workflow !== undefined)
    return refuse("This file holds a workflow, not crews. Read it on the page of workflows.");

  const tools = readTools(file.tools, findings);
  teams.roles.push(...readRoleList(file.roles, "roles", findings));
  const reading: Reading = { findings, roles: teams.roles, tools };
  const { roles: _roles, tools: _tools, crews, crew, team, agents: given, ...rest } = file;
  const single = crew ?? team;
  const agents = given ?? (crews === undefined && single === undefined ? named(rest, findings) : undefined);
  if (crews !== undefined || single !== undefined) {
    const listed =
      crews === undefined ? [["crew" in file ? "crew" : "team", single] as const] : entries(crews, "crews");
    if (listed.length > MAX_CREWS) return refuse(`The file holds more than ${MAX_CREWS} crews.`);
    for (const [at, value] of listed) {
      const read = readCrew(value, at, reading);
      if (read && teams.crews.some(({ crew_id }) => crew_id === read.crew_id))
        findings.dropped(at, `The crew "${read.crew_id}" stands twice; the first one was kept.`);
      else if (read) teams.crews.push(read);
    }
    const names = newNames();
    for (const [at, value] of entries(agents, "agents")) {
      const agent = readAgent(value, at, names, reading);
      if (agent) teams.agents.push(asLibraryAgent(agent));
    }
    for (const key of Object.keys(rest))
      findings.dropped(key, `"${key}" is not known here and was left out.`);
  } else if (agents === undefined && ["agent_id", "role_name", "role"].some((key) => key in file)) {
    const agent = readAgent(file, "", newNames(), reading);
    if (agent) teams.agents.push(asLibraryAgent(agent));
  } else if (agents !== undefined) {
    const read = readCrew({ ...rest, agents }, "", reading, file.tools !== undefined);
    if (read) teams.crews.push(read);
  }
  const isEmpty = teams.crews.length + teams.agents.length + teams.roles.length === 0;
  if (isEmpty && !findings.list.some(({ level }) => level === "error"))
    findings.error("", "No crew and no agent was found in this file.");
  return { ...teams, findings: findings.all() };
}

/** Crews, agents and roles as a file that readTeams reads back to the same, without secrets. */
export function writeTeams(teams: Partial<Teams>, format: "yaml" | "json"): string {
  const { crews = [], agents = [], roles = [] } = teams;
  const file = {
    ...defined({
      roles: roles.length > 0 ? roles.map((role) => writeTersely(RoleDefinition, role)) : undefined,
      agents: agents.length > 0 ? agents.map((agent) => writeTersely(AgentConfig, agent)) : undefined,
    }),
    // Always there: it tells agents of no crew from the agents of one.
    crews: crews.map((crew) => ({
      crew_id: crew.crew_id,
      // Said in any case: where it is not, a reader concludes it from the patterns.
      process: crew.process,
      ...writeFields(CrewConfig, crew),
    })),
  };
  return writeText(withoutSecrets(file), format);
}

interface Reading {
  findings: Findings;
  /** Those of the file; agents that say what they are for add theirs. */
  roles: RoleDefinition[];
  /** What became of the tools that the file declares; null: left out. */
  tools: ReadonlyMap<string, string | null>;
}

/** The agents of a file that holds only patterns, each with nothing but its name; undefined if there are none. */
function named({ collaboration_patterns: patterns }: Raw, findings: Findings): Raw[] | undefined {
  const groups = isRaw(patterns) ? entries(patterns.parallel_groups, "").map(([, group]) => group) : [];
  const lists = isList(patterns) ? patterns : [];
  const names = [...groups, ...lists]
    .filter(isRaw)
    .flatMap((one) => [
      ...(isList(one.agents) ? one.agents : [one.agents]),
      one.coordination_agent,
      ...entries(one.workflow, "").map(([, step]) => (isRaw(step) ? step.agent : undefined)),
    ]);
  const distinctNames = [
    ...new Set(names.filter((name): name is string => typeof name === "string" && name !== "")),
  ];
  if (distinctNames.length === 0) return undefined;
  findings.info(
    "collaboration_patterns",
    `The file says how ${distinctNames.join(", ")} work together, and nothing of what they are for. They came in by their names: say what each of them does.`,
  );
  return distinctNames.map((name) => ({ name }));
}

/** An agent of no crew is no member of anything. */
function asLibraryAgent({ agent_ref: _member, ...agent }: AgentConfig): AgentConfig {
  return agent;
}

/** The items of a list, or of a map whose keys are their names, with their places. */
function entries(value: unknown, at: string): [at: string, value: unknown][] {
  if (Array.isArray(value)) return value.map((item, position) => [join(at, position), item]);
  if (!isRaw(value)) return [];
  return Object.entries(value).map(([name, item]) => [
    join(at, name),
    isRaw(item) ? { name, ...item } : { name },
  ]);
}

function readCrew(value: unknown, at: string, reading: Reading, isForeign = false): CrewConfig | null {
  const { findings } = reading;
  if (!isRaw(value)) {
    findings.dropped(at, "This is not a crew and was left out.");
    return null;
  }
  const raw = withoutNulls(value);
  renameField(raw, ["crew_id", "id", "name", "team_name"]);
  if (raw.crew_id !== undefined) raw.crew_id = asId(raw.crew_id, "crew", join(at, "crew_id"), findings);
  const names = newNames();
  const agents = entries(raw.agents, join(at, "agents")).flatMap(
    ([place, agent]) => readAgent(agent, place, names, reading) ?? [],
  );
  const place = join(at, "collaboration_patterns");
  const patterns = readPatterns(raw.collaboration_patterns, place, names, findings);
  const isRoboco = isForeign || isRaw(raw.collaboration_patterns);
  if (raw.process === undefined && (isRoboco || patterns.hasGroups || patterns.hasCustom)) {
    const process = patterns.hasCustom ? "custom" : patterns.hasGroups ? "parallel" : "swarm";
    raw.process = process;
    findings.info(
      join(at, "process"),
      `The file names no process; by what it describes, it became "${process}".`,
    );
  }
  if (typeof raw.entry_agent === "string") raw.entry_agent = names.own(raw.entry_agent);
  if (isRaw(raw.manager) && typeof raw.manager.agent_id === "string")
    raw.manager = { ...raw.manager, agent_id: names.own(raw.manager.agent_id) };
  const ready = { ...raw, agents, ...defined({ collaboration_patterns: patterns.list }) };
  return readLeniently(CrewConfig, ready, at, findings);
}

/** The agents of one crew: their names in the file, and their ids here. */
interface Names {
  taken: Set<string>;
  ids: Map<string, string>;
  own(name: string): string;
}

function newNames(): Names {
  const ids = new Map<string, string>();
  return { taken: new Set(), ids, own: (name) => ids.get(name) ?? name };
}

const ROLE_FIELDS = ["description", "goals", "goal", "responsibilities", "tools", "system_prompt_template"];

/** An agent; one that describes its own purpose brings a role with it. */
function readAgent(value: unknown, at: string, names: Names, reading: Reading): AgentConfig | null {
  const { findings, roles } = reading;
  const raw = withoutNulls(typeof value === "string" ? { name: value } : isRaw(value) ? value : {});
  renameField(raw, ["role_name", "role"]);
  renameField(raw, ["agent_id", "id", "name", "agent_name"]);
  for (const name of ["system_prompt", "system_message", "instructions", "prompt"]) {
    if (typeof raw[name] !== "string" || raw.system_prompt_template !== undefined) continue;
    raw.system_prompt_template = asTemplate(raw[name]);
    delete raw[name];
  }
  const word =
    typeof raw.agent_id === "string" ? raw.agent_id : typeof raw.role_name === "string" ? raw.role_name : "";
  if (!word) {
    findings.dropped(at, "This is not an agent: it has neither an id nor a role.");
    return null;
  }
  const wanted = asId(word, "agent", raw.agent_id === undefined ? at : join(at, "agent_id"), findings);
  raw.agent_id = freshId(wanted, names.taken);
  if (raw.agent_id !== wanted)
    findings.changed(
      join(at, "agent_id"),
      `Two agents are called "${wanted}"; this one became "${String(raw.agent_id)}".`,
    );
  names.taken.add(String(raw.agent_id));
  if (!names.ids.has(word)) names.ids.set(word, String(raw.agent_id));

  const own = Object.fromEntries(
    ROLE_FIELDS.filter((key) => Object.hasOwn(raw, key)).map((key) => [key, raw[key]]),
  );
  for (const key of ROLE_FIELDS) delete raw[key];
  raw.role_name ??= word;
  if (Object.keys(own).length > 0) {
    if (roles.some(({ name }) => name === raw.role_name))
      findings.dropped(
        at,
        `What this agent says of its own role (${Object.keys(own).join(", ")}) was left out: the file has the role "${String(raw.role_name)}".`,
      );
    else {
      const [role] = readRoleList({ ...own, name: raw.role_name }, at, findings);
      if (role) {
        const tools = role.tools.flatMap((tool, position) => {
          const known = reading.tools.get(tool);
          if (known === undefined || known === tool) return [tool];
          if (known === null)
            findings.dropped(
              join(at, `tools.${position}`),
              `"${tool}" was left out of the role: see its entry under tools.`,
            );
          return known === null ? [] : [known];
        });
        roles.push({ ...role, tools });
        findings.info(at, `The role "${role.name}" was made from what this agent says of itself.`);
      } else findings.dropped(at, "What this agent says of its role cannot be read.");
    }
  }
  return readLeniently(AgentConfig, raw, at, findings);
}

function asId(value: unknown, fallback: string, at: string, findings: Findings): string {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  if (Id.safeParse(text).success) return text;
  const made = toId(text) || fallback;
  findings.changed(at, `The id ${JSON.stringify(text)} became "${made}".`);
  return made;
}

/** Roboco writes patterns as a list, or as an object of which each key is one kind. */
function readPatterns(value: unknown, at: string, names: Names, findings: Findings) {
  const found: { list?: unknown[]; hasGroups: boolean; hasCustom: boolean } = {
    hasGroups: false,
    hasCustom: false,
  };
  if (value === undefined) return found;
  const list: [string, unknown][] = Array.isArray(value)
    ? value.map((item, position) => [join(at, position), item])
    : isRaw(value)
      ? Object.entries(value).map(([key, inner]) => [at, { [key]: inner }])
      : [[at, value]];
  const agent = (name: unknown, place: string) => {
    if (typeof name !== "string") return name;
    if (!names.taken.has(names.own(name)))
      findings.changed(place, `"${name}" is not an agent of this crew; add it, or name another.`);
    return names.own(name);
  };
  found.list = list.map(([place, item]) => {
    if (isRaw(item) && Array.isArray(item.parallel_groups)) {
      found.hasGroups = true;
      const groups = item.parallel_groups.map((group: unknown, position) => {
        if (!isRaw(group)) return group;
        const where = join(place, `parallel_groups.${position}`);
        const { agents, coordination_agent: lead } = group;
        return {
          ...group,
          ...defined({
            agents: Array.isArray(agents)
              ? agents.map((one, nth) => agent(one, join(where, `agents.${nth}`)))
              : undefined,
            coordination_agent:
              lead === undefined ? undefined : agent(lead, join(where, "coordination_agent")),
          }),
        };
      });
      return { ...item, parallel_groups: groups };
    }
    if (isRaw(item) && item.type === "custom" && Array.isArray(item.workflow)) {
      found.hasCustom = true;
      const workflow = item.workflow.map((step: unknown, position) => {
        if (!isRaw(step)) return step;
        const next = Object.entries(step).map(([key, target]): [string, unknown] => [
          key,
          key.startsWith("next_on_") && typeof target === "string" ? names.own(target) : target,
        ]);
        const where = join(place, `workflow.${position}.agent`);
        return { ...Object.fromEntries(next), agent: agent(step.agent, where) };
      });
      return { ...item, workflow };
    }
    const kind = isRaw(item) ? (item.type ?? Object.keys(item)[0]) : item;
    findings.info(
      place,
      `The pattern ${JSON.stringify(kind)} is not known here; it is kept, and has no effect.`,
    );
    return item;
  });
  return found;
}

/** Tools that a team declares. None is installed: each finding says what a person can do to have it. */
function readTools(value: unknown, findings: Findings): Map<string, string | null> {
  const known = new Map<string, string | null>();
  for (const [at, item] of entries(value, "tools")) {
    const name =
      typeof item === "string" ? item : isRaw(item) && typeof item.name === "string" ? item.name : "";
    if (!name) {
      findings.dropped(at, "This is not a tool and was left out.");
      continue;
    }
    const tool: Raw = isRaw(item) ? item : {};
    const isBuiltin = BUILTIN_TOOLS.has(name);
    switch (tool.type ?? "builtin") {
      case "builtin":
        if (isBuiltin) findings.info(at, `"${name}" comes with Troupe; roles that list it may use it.`);
        else findings.dropped(at, `There is no tool "${name}" here.`);
        if (isRaw(tool.config) && Object.keys(tool.config).length > 0)
          findings.dropped(
            join(at, "config"),
            `Settings of "${name}" are made on the Tools page, not in files of teams.`,
          );
        known.set(name, isBuiltin ? name : null);
        break;
      case "custom":
        findings.dropped(
          at,
          `"${name}" is code of its own, and files of teams bring no code. Whoever runs this installation can declare it in the tools file, or you write it in JavaScript on the Tools page under the same name.`,
        );
        known.set(name, name);
        break;
      case "mcp":
        findings.changed(
          at,
          `"${name}" is an MCP server${typeof tool.server_url === "string" ? ` (${tool.server_url.slice(0, 200)})` : ""}; no connection was made. Add it under this name on the Tools page: roles that list it may then use all of its tools.`,
        );
        known.set(name, `mcp:${name}/*`);
        break;
      case "hitl": {
        const own = isBuiltin ? name : "request_approval";
        if (isBuiltin)
          findings.info(at, `"${name}" comes with Troupe; roles that list it ask a person by it.`);
        else findings.changed(at, `"${name}" asks a person; it was kept as "${own}".`);
        for (const key of isRaw(tool.config) ? Object.keys(tool.config) : [])
          findings.dropped(
            join(at, `config.${key}`),
            `"${key}" is given with each request, not in files of teams.`,
          );
        known.set(name, own);
        break;
      }
      default:
        findings.dropped(
          at,
          `"${name}" is of the type ${JSON.stringify(tool.type)}, which is not known here.`,
        );
        known.set(name, null);
    }
  }
  return known;
}
