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
import { Id, type Result } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { withoutSecrets } from "@/server/domain/graph/secrets";
import { asTemplate } from "@/server/domain/text/template/template";
import { entries, readTools } from "./team-tools";
import { parseText, writeText } from "./text-files";

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
  const file = openFile(source, findings);
  const read = "error" in file ? file : readFile(file.value, findings);
  if ("error" in read) {
    findings.error("", read.error);
    return { crews: [], agents: [], roles: [], findings: findings.all() };
  }
  const teams = read.value;
  const isEmpty = teams.crews.length + teams.agents.length + teams.roles.length === 0;
  if (isEmpty && !findings.list.some(({ level }) => level === "error"))
    findings.error("", "This file has no crews or agents.");
  return { ...teams, findings: findings.all() };
}

/** The parsed file, or why it can't be read. */
function openFile(source: unknown, findings: Findings): Result<Raw> {
  const parsed = typeof source === "string" ? parseText(source) : { value: source };
  if ("error" in parsed) return parsed;
  const copy = cleanCopy(parsed.value, findings);
  if (!copy) return { error: "The file is nested too deeply." };
  if (!isRaw(copy.value))
    return { error: 'This isn\'t a crew. A crew file is an object with "agents" or "crews".' };
  const file = withoutNulls(copy.value);
  return file.nodes !== undefined || file.workflow !== undefined
    ? { error: "This file has a workflow, not crews. Import it on the Workflows page." }
    : { value: file };
}

/** The crews, agents and roles of a file, or why they can't be read. */
function readFile(file: Raw, findings: Findings): Result<Teams> {
  const teams: Teams = { crews: [], agents: [], roles: [] };
  const tools = readTools(file.tools, findings);
  teams.roles.push(...readRoleList(file.roles, "roles", findings));
  const reading: Reading = { findings, roles: teams.roles, tools };
  const { roles: _roles, tools: _tools, crews, crew, team, agents: given, ...rest } = file;
  const single = crew ?? team;
  if (crews !== undefined || single !== undefined) {
    const listed =
      crews === undefined ? [["crew" in file ? "crew" : "team", single] as const] : entries(crews, "crews");
    if (listed.length > MAX_CREWS) return { error: `The file has more than ${MAX_CREWS} crews.` };
    for (const [at, value] of listed) addCrew(teams, readCrew(value, at, reading), at, findings);
    const names = newNames();
    for (const [at, value] of entries(given, "agents")) addAgent(teams, readAgent(value, at, names, reading));
    for (const key of Object.keys(rest)) findings.dropped(key, `Unknown field "${key}" was left out.`);
    return { value: teams };
  }
  const agents = given ?? named(rest, findings);
  if (agents !== undefined) {
    const read = readCrew({ ...rest, agents }, "", reading, file.tools !== undefined);
    if (read) teams.crews.push(read);
  } else if (["agent_id", "role_name", "role"].some((key) => key in file))
    addAgent(teams, readAgent(file, "", newNames(), reading));
  return { value: teams };
}

function addAgent({ agents }: Teams, agent: AgentConfig | null): void {
  if (agent) agents.push(asLibraryAgent(agent));
}

function addCrew({ crews }: Teams, crew: ReturnType<typeof readCrew>, at: string, findings: Findings): void {
  if (!crew) return;
  if (crews.some(({ crew_id }) => crew_id === crew.crew_id))
    findings.dropped(at, `The crew "${crew.crew_id}" appears twice; the first was kept.`);
  else crews.push(crew);
}

/** Crews, agents and roles as a file that readTeams reads back to the same, without secrets. */
export function writeTeams(teams: Partial<Teams>, format: "yaml" | "json"): string {
  const { crews = [], agents = [], roles = [] } = teams;
  const file = {
    ...defined({
      roles: roles.length > 0 ? roles.map((role) => writeTersely(RoleDefinition, role)) : undefined,
      agents: agents.length > 0 ? agents.map((agent) => writeTersely(AgentConfig, agent)) : undefined,
    }),
    // Always present: it distinguishes agents of the library from the agents of one crew.
    crews: crews.map((crew) => ({
      crew_id: crew.crew_id,
      // Always written: otherwise a reader derives it from the patterns.
      process: crew.process,
      ...writeFields(CrewConfig, crew),
    })),
  };
  return writeText(withoutSecrets(file), format);
}

interface Reading {
  findings: Findings;
  /** The file's roles, and those made from agents that describe their own. */
  roles: RoleDefinition[];
  /** The names here of the tools that the file declares; null: left out. */
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
    `The file says how ${distinctNames.join(", ")} work together, but not what they do. They were imported by name: describe what each one does.`,
  );
  return distinctNames.map((name) => ({ name }));
}

/** An agent of the library is no member of a crew. */
function asLibraryAgent({ agent_ref: _member, ...agent }: AgentConfig): AgentConfig {
  return agent;
}

function readCrew(value: unknown, at: string, reading: Reading, isForeign = false): CrewConfig | null {
  const { findings } = reading;
  if (!isRaw(value)) {
    findings.dropped(at, "Skipped: not a crew.");
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
      `The file doesn't name a process; "${process}" was chosen as the best fit.`,
    );
  }
  if (typeof raw.entry_agent === "string") raw.entry_agent = names.own(raw.entry_agent);
  if (isRaw(raw.manager) && typeof raw.manager.agent_id === "string")
    raw.manager = { ...raw.manager, agent_id: names.own(raw.manager.agent_id) };
  const members = agents.map((agent) => ({
    ...agent,
    ...defined({ handoffs: agent.handoffs?.map((name) => names.own(name)) }),
  }));
  const ready = { ...raw, agents: members, ...defined({ collaboration_patterns: patterns.list }) };
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
  const { findings } = reading;
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
    findings.dropped(at, "Skipped: an agent needs an id or a role.");
    return null;
  }
  const wanted = asId(word, "agent", raw.agent_id === undefined ? at : join(at, "agent_id"), findings);
  raw.agent_id = freshId(wanted, names.taken);
  if (raw.agent_id !== wanted)
    findings.changed(
      join(at, "agent_id"),
      `Two agents are named "${wanted}"; this one is now "${String(raw.agent_id)}".`,
    );
  names.taken.add(String(raw.agent_id));
  if (!names.ids.has(word)) names.ids.set(word, String(raw.agent_id));

  const own = Object.fromEntries(
    ROLE_FIELDS.filter((key) => Object.hasOwn(raw, key)).map((key) => [key, raw[key]]),
  );
  for (const key of ROLE_FIELDS) delete raw[key];
  raw.role_name ??= word;
  if (Object.keys(own).length > 0) readOwnRole(own, raw.role_name, at, reading);
  return readLeniently(AgentConfig, raw, at, findings);
}

/** Makes a role from what an agent says of itself, unless the file has a role of that name. */
function readOwnRole(own: Raw, name: unknown, at: string, { findings, roles, tools: known }: Reading): void {
  if (roles.some((role) => role.name === name)) {
    findings.dropped(
      at,
      `The role settings of this agent (${Object.keys(own).join(", ")}) were ignored, because the file defines the role "${String(name)}".`,
    );
    return;
  }
  const [role] = readRoleList({ ...own, name }, at, findings);
  if (!role) {
    findings.dropped(at, "This agent's role can't be read.");
    return;
  }
  const tools = role.tools.flatMap((tool, position) => {
    const here = known.get(tool);
    if (here === undefined) return [tool];
    if (here !== null) return [here];
    findings.dropped(
      join(at, `tools.${position}`),
      `"${tool}" was left out of the role: see its entry under tools.`,
    );
    return [];
  });
  roles.push({ ...role, tools });
  findings.info(at, `Created the role "${role.name}" from this agent.`);
}

function asId(value: unknown, fallback: string, at: string, findings: Findings): string {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  if (Id.safeParse(text).success) return text;
  const made = toId(text) || fallback;
  findings.changed(at, `Renamed the id ${JSON.stringify(text)} to "${made}".`);
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
      findings.changed(place, `"${name}" isn't an agent in this crew. Add it, or choose another.`);
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
    findings.info(place, `Unknown pattern ${JSON.stringify(kind)}; it was kept but has no effect.`);
    return item;
  });
  return found;
}
