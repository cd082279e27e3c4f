import { RoleDefinition } from "@/server/domain/agent/role";
import { type Finding, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { findGraph, readWorkflow } from "@/server/domain/graph/document/document";
import { isKnownKind } from "@/server/domain/graph/document/graph-reader";
import { readTests } from "@/server/domain/scenario/test-file";
import { readRoles } from "../../role-files";
import { readRoleFile } from "../../role-folder";
import { readTeams } from "../../team-files";
import { claimEach, nothingImported, type ReadableFormat, type Reading } from "../format";
import type { Source } from "../source";
import { rawsOf } from "../values";
import { isMicroAgent } from "./openhands/micro-agents";

/** What the file holds, with nothing taken out of it: it is one of ours. */
const whole = (source: Source): unknown => (source.kind === "json" ? source.original : source.value);

/** Findings of a reader that knows no files, with their file and line. */
export function addFindings(own: readonly Finding[], source: Source, { findings }: Reading): void {
  const report = source.on(findings);
  for (const { level, at, message, snippet } of own) report.add(level, at, message, { snippet });
}

const has = (raw: Raw, ...keys: string[]) => keys.some((key) => raw[key] !== undefined);

/** Workflow files of Troupe, OpenHands' WorkflowGraph, and plan.json. */
export const troupeWorkflow: ReadableFormat = {
  id: "troupe-workflow",
  label: "a workflow",
  recognise: claimEach(({ value }) => {
    if (!isRaw(value)) return null;
    if (value.troupe !== undefined) return 3;
    const { inner } = findGraph(value);
    if (inner) {
      const nodes = rawsOf(inner.nodes);
      if (nodes.some(({ node_type }) => isKnownKind(node_type))) return 3;
      if (nodes.some(({ type }) => isKnownKind(type))) return 1;
      return has(inner, "graph_id", "start_node_id") || nodes.some((node) => has(node, "node_type"))
        ? 1
        : null;
    }
    const tasks = rawsOf(value.tasks);
    if (!Array.isArray(value.tasks)) return null;
    if (tasks.some((task) => has(task, "task_id")) || has(value, "plan_id", "parsed_intent")) return 2;
    return tasks.some((task) => has(task, "assigned_agent", "required_role", "dependencies")) ? 1 : null;
  }),
  read(reading) {
    const [source] = reading.claim.files;
    if (!source) return nothingImported();
    const { graph, name, roles, findings, tests: given } = readWorkflow(whole(source));
    addFindings(findings, source, reading);
    const { tests, findings: ofTests } = readTests(given);
    addFindings(ofTests, source, reading);
    return { ...nothingImported(name), graph, roles, tests };
  },
};

/** Crews and agents of Troupe, and Roboco's teams. */
export const troupeTeams: ReadableFormat = {
  id: "troupe-teams",
  label: "a Troupe crew or agent file",
  recognise: claimEach(({ value }) => {
    if (!isRaw(value) || has(value, "nodes", "workflow", "methods")) return null;
    if (Array.isArray(value.agents) && value.agents.some((agent) => typeof agent === "string")) return null;
    const agents = [
      value,
      ...rawsOf(value.crews),
      ...rawsOf(value.crew && [value.crew]),
      ...rawsOf(value.team && [value.team]),
    ].flatMap(({ agents }) => rawsOf(agents));
    if (has(value, "collaboration_patterns")) return 2;
    if (has(value, "agent_id", "role_name") || agents.some((agent) => has(agent, "role_name", "agent_id")))
      return 2;
    return agents.some((agent) => has(agent, "role", "name", "class")) || Array.isArray(value.crews)
      ? 1
      : null;
  }),
  read(reading) {
    const [source] = reading.claim.files;
    if (!source) return nothingImported();
    const { crews, agents, roles, findings } = readTeams(whole(source));
    addFindings(findings, source, reading);
    return { ...nothingImported(crews[0]?.crew_id ?? agents[0]?.agent_id ?? "Crew"), crews, agents, roles };
  },
};

const isRole = (raw: Raw) => has(raw, "goals", "responsibilities", "system_prompt_template", "output_schema");

/** Roles of Troupe and OpenHands. */
export const troupeRoles: ReadableFormat = {
  id: "troupe-roles",
  label: "roles",
  recognise: claimEach(({ value }) => {
    if (Array.isArray(value))
      return rawsOf(value).some(
        (one) => typeof one.name === "string" && (isRole(one) || has(one, "description")),
      )
        ? 2
        : null;
    if (!isRaw(value) || has(value, "nodes", "agents", "crews", "tasks", "methods")) return null;
    if (value.roles !== undefined) return rawsOf(value.roles).length > 0 ? 2 : null;
    if (typeof value.name === "string" && isRole(value)) return 2;
    if (typeof value.name === "string" && Object.keys(value).every((key) => key in RoleDefinition.shape))
      return 1;
    return rawsOf(value).some(isRole) || (typeof value.role === "string" && has(value, "goal")) ? 1 : null;
  }),
  read(reading) {
    const [source] = reading.claim.files;
    if (!source) return nothingImported();
    const { roles, findings } = readRoles(whole(source));
    addFindings(findings, source, reading);
    return { ...nothingImported("Roles"), roles };
  },
};

/** Agents in Markdown, each a role: `.claude/agents`, `.github/agents`. All of an import come in together. */
export const markdownAgents: ReadableFormat = {
  id: "agent-markdown",
  label: "agents in Markdown",
  recognise(sources) {
    const files = sources.filter(
      ({ kind, path, text }) =>
        kind === "text" &&
        !isMicroAgent({ path, text }) &&
        /\.md$/i.test(path) &&
        /^\uFEFF?---[ \t]*\r?\n/.test(text) &&
        /^(name|description|tools):/m.test(text.slice(0, 4000)),
    );
    return files.length > 0 ? [{ sure: 1, files }] : [];
  },
  read(reading) {
    const roles = reading.claim.files.flatMap((source) => {
      const read = readRoleFile(source.name, source.text);
      addFindings(read.findings, source, reading);
      return read.roles;
    });
    const names = new Set<string>();
    return {
      ...nothingImported("Roles"),
      roles: roles.filter(({ name }) => {
        if (names.has(name))
          reading.findings.dropped("", `Duplicate role "${name}". Only the first was kept.`);
        return !names.has(name) && names.add(name);
      }),
    };
  },
};
