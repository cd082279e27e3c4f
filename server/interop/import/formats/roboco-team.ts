import { defined } from "@/server/domain/base/defined";
import { textsOf } from "@/server/domain/base/guards";
import { type Findings, isRaw, join, type Raw, withoutNulls } from "@/server/domain/base/lenient-reader";
import { readTeams } from "../../team-files";
import { entries } from "../../team-tools";
import { type Claim, nothingImported, type ReadableFormat, type Reading } from "../format";
import type { Source } from "../source";
import { rawsOf, textOf } from "../values";
import { addFindings } from "./troupe";

/** Roboco's name for the person who sends a request and gets the answer. */
const USER = "user";
const MOST_ROUNDS = 1000;
/** Of a prompt in which variables are filled in. */
const MOST_CHARS = 65_536;

/** Teams of Roboco (later AgentX): a team.yaml and the prompt files that its agents name. */
export const robocoTeam: ReadableFormat = {
  id: "roboco-team",
  label: "a Roboco team",
  recognise: (sources) =>
    sources.flatMap((source): Claim[] => {
      if (!isTeam(source.value)) return [];
      const prompts = rawsOf(source.value.agents).flatMap(
        ({ prompt_template: path }) => promptFile(textOf(path), source, sources) ?? [],
      );
      const title = textOf(source.value.name) || source.path;
      return [{ sure: 2, files: [source, ...new Set(prompts)], title }];
    }),
  read(reading) {
    const [source] = reading.claim.files;
    if (!source || !isTeam(source.value)) return nothingImported();
    const report = source.on(reading.findings);
    const team = new TeamReader(source, report, reading).team(withoutNulls(source.value));
    const { crews, agents, roles, findings } = readTeams(team);
    addFindings(findings, source, reading);
    return { ...nothingImported(textOf(source.value.name) || "Team"), crews, agents, roles };
  },
};

function isTeam(value: unknown): value is Raw {
  if (!isRaw(value) || ["nodes", "workflow", "methods", "tasks"].some((key) => key in value)) return false;
  const agents = rawsOf(value.agents);
  if (agents.some(({ role_name, agent_id }) => role_name !== undefined || agent_id !== undefined))
    return false;
  return (
    agents.length > 0 &&
    (agents.some(
      ({ prompt_template, brain_config, class: program }) =>
        prompt_template !== undefined || isRaw(brain_config) || /^(roboco|agentx)\./.test(textOf(program)),
    ) ||
      rawsOf(value.handoffs).some(({ from_agent }) => from_agent !== undefined) ||
      isRaw(value.orchestrator) ||
      isRaw(value.execution))
  );
}

/** The file of a prompt: next to the team, in its folder of prompts, or the only one with this end of a path. */
function promptFile(path: string, team: Source, all: readonly Source[]): Source | undefined {
  const plain = path.replace(/^\.\//, "");
  if (!plain || plain.includes("\n")) return undefined;
  const near = [plain, `prompts/${plain}`].flatMap(
    (one) => all.find((source) => source.path === `${team.folder}${one}`) ?? [],
  );
  const far = all.filter((source) => source !== team && `/${source.path}`.endsWith(`/${plain}`));
  return near[0] ?? (far.length === 1 ? far[0] : undefined);
}

interface Handoffs {
  /** By the agent that hands off: to whom it may, and when, as lines of its prompt. */
  from: Map<string, { to: Set<string>; lines: string[] }>;
  /** Who gets the request of the person. */
  entry: string | undefined;
}

/** Turns a Roboco team into one that `readTeams` reads, at the same places; whatever has no counterpart is a finding. */
class TeamReader {
  private readonly names = new Set<string>();

  constructor(
    private readonly source: Source,
    private readonly report: Findings,
    private readonly reading: Pick<Reading, "all" | "work">,
  ) {}

  team(value: Raw): Raw {
    const { agents, handoffs, execution, orchestrator, memory, guardrail_policies, tools, ...others } = value;
    const { name, collaboration_patterns, process, variables, llm, llm_config, ...rest } = others;
    const members = entries(agents, "agents").map(([at, agent]): [string, Raw] => [
      at,
      isRaw(agent) ? withoutNulls(agent) : { name: agent },
    ]);
    for (const [, agent] of members) this.names.add(textOf(agent.name));
    const hasPatterns = entries(collaboration_patterns, "").length > 0;
    const rules = this.handoffs(handoffs, hasPatterns);
    const settings: Raw = {};
    this.limits(orchestrator, { at: "orchestrator", hasPatterns, settings });
    this.limits(execution, { at: "execution", hasPatterns, settings });
    const entry = settings.entry_agent ?? rules.entry;
    if (rules.entry !== undefined && entry !== rules.entry)
      this.report.changed(
        "execution.initial_agent",
        `"${textOf(entry)}" starts the work, not "${rules.entry}".`,
      );
    const common = this.model(llm ?? llm_config, llm === undefined ? "llm_config" : "llm");
    this.policies(guardrail_policies, members);
    for (const [key, text] of Object.entries(rest)) this.leaveOut(key, text);
    if (isRaw(variables))
      this.report.info("variables", "Variables were replaced by their values in the prompts.");
    else this.leaveOut("variables", variables ?? null);
    return {
      ...defined({ name, collaboration_patterns, process }),
      ...(hasPatterns ? {} : { process: process ?? "swarm" }),
      ...(process !== undefined && rules.from.size > 0 ? { allow_handoffs: true } : {}),
      ...defined({ tools: tools === undefined ? undefined : asCustomTools(tools) }),
      ...settings,
      ...defined({ entry_agent: entry, memory: this.memory(memory) }),
      agents: members.map(([at, agent]) => this.agent(agent, at, { rules, common, variables })),
    };
  }

  private agent(
    raw: Raw,
    at: string,
    { rules, common, variables }: { rules: Handoffs; common: Raw; variables: unknown },
  ): Raw {
    const { class: program, prompt_template, system_message, llm_config, brain_config, ...rest } = raw;
    const { guardrail_policies: _named, ...agent } = rest;
    const report = this.report.under(at);
    if (/\bUserAgent$/.test(textOf(program)))
      report.changed("class", "This agent is a person in the original; it was imported as an agent.");
    else if (program !== undefined && !/^(roboco|agentx)\.core\.agents?\.Agent$/.test(textOf(program)))
      report.dropped("class", `The class ${textOf(program)} is a program and was left out.`);
    const own = rules.from.get(textOf(raw.name));
    const prompt = filledIn(
      textOf(system_message) || this.prompt(textOf(prompt_template), report),
      variables,
      report,
    );
    const lines = own?.lines ?? [];
    const settings = {
      ...common,
      ...this.model(
        brain_config ?? llm_config,
        `${at}.${brain_config === undefined ? "llm_config" : "brain_config"}`,
      ),
    };
    return {
      ...agent,
      ...(prompt
        ? {
            system_prompt: [prompt, ...(lines.length > 0 ? [["Handoffs:", ...lines].join("\n")] : [])].join(
              "\n\n",
            ),
          }
        : lines.length > 0
          ? { responsibilities: lines.map((line) => line.slice(2)) }
          : {}),
      ...(Object.keys(settings).length > 0 ? { llm_config: settings } : {}),
      ...(rules.from.size > 0 ? { handoffs: [...(own?.to ?? [])] } : {}),
    };
  }

  /** The text of a prompt file, or one that stands in place of its path. */
  private prompt(path: string, report: Findings): string {
    if (!path) return "";
    if (path.includes("\n")) return path;
    const file = promptFile(path, this.source, this.reading.all);
    if (!file)
      report.dropped(
        "prompt_template",
        `The prompt ${path} isn't in the imported files. Import the whole folder, or a zip of it.`,
      );
    else report.keeps("prompt_template", `The text of ${file.path} became the prompt of the role.`);
    const text = file?.text.trim() ?? "";
    this.reading.work.makeText(text.length);
    return text;
  }

  private handoffs(value: unknown, hasPatterns: boolean): Handoffs {
    const found: Handoffs = { from: new Map(), entry: undefined };
    for (const [at, rule] of entries(value, "handoffs")) {
      const { from_agent: from, to_agent: to, condition, ...rest } = isRaw(rule) ? withoutNulls(rule) : {};
      if (typeof from !== "string" || typeof to !== "string") {
        this.report.dropped(at, "Skipped: not a handoff.");
        continue;
      }
      const stranger = [from, to].find((name) => name !== USER && !this.names.has(name));
      if (stranger !== undefined) {
        this.report.dropped(at, `"${stranger}" isn't an agent of this team, so this handoff was left out.`);
        continue;
      }
      for (const key of Object.keys(rest)) this.leaveOut(join(at, key), rest[key]);
      if (from === USER) {
        if (to === USER) continue;
        if (found.entry === undefined) this.report.keeps(at, `"${to}" starts the work.`);
        else this.report.dropped(at, `"${found.entry}" starts the work, so this handoff was left out.`);
        found.entry ??= to;
        continue;
      }
      const own = found.from.get(from) ?? { to: new Set(), lines: [] };
      found.from.set(from, own);
      const when = textOf(condition).trim();
      if (to !== USER) own.to.add(to);
      if (when || to === USER)
        own.lines.push(
          `- ${to === USER ? "Give the final answer" : `Hand off to ${to}`}${when ? ` when: ${when}` : ""}`,
        );
      this.report.keeps(
        at,
        to === USER
          ? `"${from}" gives the final answer${when ? "; its prompt says when" : ""}.`
          : `"${from}" may hand off to "${to}"${when ? "; its prompt says when" : ""}.`,
      );
    }
    if (hasPatterns && found.from.size > 0)
      this.report.changed(
        "handoffs",
        "The crew follows its patterns. An agent hands off only if its role has the tool handoff.",
      );
    return found;
  }

  /** What `execution` and `orchestrator` say of the whole team; of two limits, the smaller holds. */
  private limits(
    value: unknown,
    { at, hasPatterns, settings }: { at: string; hasPatterns: boolean; settings: Raw },
  ): void {
    if (!isRaw(value)) return;
    const { max_rounds, timeout, timeout_seconds, mode, initial_agent, brain_config, llm_config, ...rest } =
      withoutNulls(value);
    const report = this.report.under(at);
    if (typeof max_rounds === "number" && max_rounds >= 1) {
      // Each turn but the first follows a handoff.
      const [key, less] = hasPatterns ? (["max_rounds", 0] as const) : (["max_handoffs", 1] as const);
      const most = Math.min(Math.floor(max_rounds), MOST_ROUNDS) - less;
      settings[key] = Math.min(most, Number(settings[key] ?? most));
      report.keeps("max_rounds", `At most ${most} ${hasPatterns ? "rounds" : "handoffs"}.`);
    } else if (max_rounds !== undefined) report.dropped("max_rounds", '"max_rounds" isn\'t a number.');
    const limit = timeout_seconds ?? timeout;
    if (limit !== undefined)
      report.dropped(
        timeout_seconds === undefined ? "timeout" : "timeout_seconds",
        `The time limit of ${JSON.stringify(limit)} seconds was left out. Set one for the step that uses the crew.`,
      );
    if (mode !== undefined && mode !== "autonomous")
      report.dropped(
        "mode",
        `Choose the mode ${JSON.stringify(mode)} for the plan, or when you start a run.`,
      );
    if (typeof initial_agent === "string" && this.names.has(initial_agent))
      settings.entry_agent = initial_agent;
    else if (initial_agent !== undefined)
      report.dropped("initial_agent", `${JSON.stringify(initial_agent)} isn't an agent of this team.`);
    const router = brain_config === undefined ? "llm_config" : "brain_config";
    if ((brain_config ?? llm_config) !== undefined)
      report.changed(
        router,
        "A model chose the next agent; here each agent decides itself whom it hands off to.",
      );
    for (const [key, inner] of Object.entries(rest)) this.leaveOut(join(at, key), inner);
  }

  private memory(value: unknown): unknown {
    if (!isRaw(value)) return value;
    const { enabled = true, ...rest } = withoutNulls(value);
    for (const [key, inner] of Object.entries(rest)) this.leaveOut(`memory.${key}`, inner);
    return enabled !== false;
  }

  /** The settings of a model that agents have here; which model, a person chooses. */
  private model(value: unknown, at: string): Raw {
    if (!isRaw(value)) return {};
    const { config_list, ...own } = withoutNulls(value);
    const [listed = {}] = rawsOf(config_list);
    const { provider, model, ...settings } = { ...withoutNulls(listed), ...own };
    if (model !== undefined)
      this.report.changed(
        at,
        `The model ${[provider, model].map(textOf).filter(Boolean).join("/")} was left out: agents use your default model. Choose another in the agent.`,
      );
    const known = Object.entries(settings).filter(([key, inner]) => {
      const isKnown =
        ["temperature", "top_p", "max_tokens", "seed"].includes(key) && typeof inner === "number";
      if (!isKnown) this.leaveOut(join(at, key), inner);
      return isKnown;
    });
    return Object.fromEntries(known);
  }

  private policies(value: unknown, agents: readonly [string, Raw][]): void {
    const users = new Map<string, { names: string[]; at: string }>();
    for (const [at, { name, guardrail_policies }] of agents)
      for (const policy of textsOf(guardrail_policies)) {
        const known = users.get(policy) ?? { names: [], at: join(at, "guardrail_policies") };
        users.set(policy, known);
        known.names.push(textOf(name));
      }
    for (const [at, policy] of entries(value, "guardrail_policies")) {
      const name = isRaw(policy) ? textOf(policy.name) : textOf(policy);
      const roles = users.get(name)?.names ?? [];
      users.delete(name);
      this.report.dropped(
        at,
        `The guardrail policy "${name}" was left out. Write its rules as guardrails of the roles that need them${roles.length > 0 ? `: ${roles.join(", ")}` : ""}.`,
      );
    }
    for (const [policy, { at }] of users)
      this.report.dropped(at, `The file doesn't define the guardrail policy "${policy}".`);
  }

  /** Names what has no counterpart, unless it says nothing. */
  private leaveOut(at: string, value: unknown): void {
    const isEmpty =
      value === false ||
      value === null ||
      value === "" ||
      (typeof value === "object" && entries(value, "").length === 0);
    const key = at.slice(at.lastIndexOf(".") + 1);
    if (!isEmpty) this.report.dropped(at, `"${key}" has no equivalent and was left out.`);
  }
}

/** A prompt with the team's variables; other template code stays text and is named. */
function filledIn(prompt: string, variables: unknown, report: Findings): string {
  const known = isRaw(variables) ? variables : {};
  const filled =
    prompt.length > MOST_CHARS
      ? prompt
      : prompt.replace(/\{\{ {0,9}([A-Za-z_]\w{0,99}) {0,9}\}\}/g, (whole, name: string) => {
          const value = Object.hasOwn(known, name) ? known[name] : undefined;
          return typeof value === "string" || typeof value === "number" ? `${value}`.slice(0, 500) : whole;
        });
  const left = /\{\{[^{}]{0,60}\}\}|\{%[^{}]{0,60}%\}/.exec(filled)?.[0];
  if (left !== undefined)
    report.changed("prompt_template", `The prompt has template code (${left}), which is kept as text.`);
  return filled;
}

/** A Python function is custom code. */
const asCustomTools = (tools: unknown): unknown[] =>
  entries(tools, "").map(([, tool]) =>
    isRaw(tool) && tool.type === "python_function" ? { ...tool, type: "custom" } : tool,
  );
