import { MEMORY_TOOLS } from "@/server/domain/agent/memory";
import { NO_USAGE, pay, type Spent } from "@/server/domain/agent/outcome";
import type { AgentConfig } from "@/server/domain/agent/role";
import type { AgentStep } from "@/server/domain/agent/stuck";
import type { Flow } from "@/server/domain/base/durable";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { CrewRequest } from "@/server/domain/nodes/define";
import type { CrewRun } from "@/server/domain/run";
import type { Payloads } from "@/server/domain/run/events";
import { runAgent } from "../agent/loop";
import type { AgentResult, AgentTask, CrewTool } from "../agent/task";
import type { CrewRuntime } from "../ports";

/** Of the board, this much is shown to every agent, and as much of all the rest; characters. */
const BOARD_CHARS = 4000;
/** The newest of each list that every agent is shown. */
const MOST_SHOWN = 20;

export type Work = Omit<AgentTask, "agent_id" | "required_role" | "config" | "team" | "crew_tools_by_role">;

/** What an agent may be given beside its role's tools: what the way of working brings along, and what its role has to name. */
export type CrewTools = (
  crew: Crew,
  agent: AgentConfig,
  level: number,
) => { always: CrewTool[]; byRole: CrewTool[] };

/** Several agents at one goal: what they have in common. What happens is kept in the run's state, by events. */
export class Crew {
  readonly spent: Spent = { usage: NO_USAGE, cost_usd: 0 };
  /** What all of them did, for telling whether they only hand the work to and fro. */
  readonly steps: AgentStep[] = [];

  constructor(
    readonly run: CrewRuntime,
    readonly config: CrewConfig,
    readonly request: CrewRequest,
    private readonly toolsOf: CrewTools,
  ) {}

  get goal(): string {
    return this.request.description;
  }
  get name(): string {
    return this.run.node.name || this.run.node.id;
  }
  /** As the events have it so far. */
  get view(): CrewRun {
    return present(this.run.s.crews[this.run.activationId], "this.run.s.crews[this.run.activationId]");
  }
  get plan(): ExecutionPlan | undefined {
    return this.run.s.plans[this.run.activationId];
  }

  /** The agent that is called so, by its id or by a role that only one has, however the name is written. */
  member(name: string): AgentConfig | undefined {
    const wanted = plain(name);
    const byId = this.config.agents.find(({ agent_id }) => plain(agent_id) === wanted);
    if (byId) return byId;
    const byRole = this.config.agents.filter(({ role_name }) => plain(role_name) === wanted);
    return byRole.length === 1 ? byRole[0] : undefined;
  }

  /** The members of the team that is called so, without the one who asks; undefined where there is none. */
  team(name: string, except: string): string[] | undefined {
    const wanted = plain(name);
    const found = Object.entries(this.view.teams).find(([team]) => plain(team) === wanted);
    return found?.[1].agents.filter((id) => id !== except);
  }

  describe(agent: AgentConfig): string {
    return `${agent.agent_id} (${agent.role_name}): ${this.run.findRole(agent.role_name)?.description ?? ""}`.trimEnd();
  }

  /** What all share: coworkers with how their work went, what stands on the board, and what was done so far. */
  digest(): string {
    const { agents } = this.config;
    const board = Object.entries(this.view.board).map(([alias, bulletin]) => `${alias}: ${bulletin}`);
    const bulletins = board.join("\n").slice(0, BOARD_CHARS);
    return [
      agents.length > 1
        ? `Your coworkers and you:\n${agents.map((agent) => `- ${this.describe(agent)}${this.record(agent)}`).join("\n")}`
        : "",
      bulletins ? `The board, which all of you share:\n${bulletins}` : "",
      this.history().slice(0, BOARD_CHARS),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
  }

  /** How an agent's work of this run went, as a remark. */
  private record({ agent_id }: AgentConfig): string {
    const own = Object.values(this.run.s.agents).filter((view) => view.agent_id === agent_id);
    const done = own.filter(({ status }) => status === "completed" || status === "handed_off").length;
    const failed = own.filter(({ status }) => status === "failed" || status === "rejected").length;
    return done + failed > 0 ? ` [so far ${done} done, ${failed} failed]` : "";
  }

  /** The plan, teams, handoffs, decisions and files up to now. */
  private history(): string {
    const { view } = this;
    const list = (title: string, lines: readonly string[]) =>
      lines.length > 0 ? [`${title}:\n${lines.map((line) => `- ${line}`).join("\n")}`] : [];
    const short = (text: string) => text.replace(/\s+/g, " ").slice(0, 160);
    const handoffs = view.exchanges.flatMap((one) => (one.kind === "handoff" ? [one.handoff] : []));
    const decided = Object.values(view.proposals).flatMap(({ decision, by, outcome }) =>
      outcome
        ? [
            `"${short(decision)}", proposed by ${by}: ${outcome.outcome}, ${outcome.approve} for and ${outcome.reject} against`,
          ]
        : [],
    );
    return [
      ...list(
        "The plan",
        (this.plan?.tasks ?? [])
          .slice(0, MOST_SHOWN)
          .map(
            ({ task_id, status, description, assigned_agent, required_role }) =>
              `${task_id} (${status.replace("_", " ")}; ${assigned_agent ?? required_role ?? "nobody yet"}): ${short(description)}`,
          ),
      ),
      ...list(
        "Teams",
        Object.entries(view.teams).map(
          ([name, { agents, purpose }]) =>
            `${name}: ${agents.join(", ")}${purpose ? ` (${short(purpose)})` : ""}`,
        ),
      ),
      ...list(
        "Handed over so far",
        handoffs.slice(-MOST_SHOWN).map(({ from, to, reason }) => `${from} to ${to}: ${short(reason)}`),
      ),
      ...list("Decided so far", decided.slice(-MOST_SHOWN)),
      ...list(
        "Files of this run",
        Object.values(this.run.s.files)
          .slice(-MOST_SHOWN)
          .map(({ path, version }) => `${path} (version ${version})`),
      ),
    ].join("\n\n");
  }

  /** Lets one of the crew work, with what the crew gives it. */
  *work(agent: AgentConfig, work: Work): Flow<AgentResult> {
    const team = this.digest();
    const llm = work.llm_config ?? agent.llm_config;
    const level = work.parent ? work.parent.level + 1 : 0;
    const tools = this.toolsOf(this, agent, level);
    const result = yield* runAgent(this.run, {
      max_iterations: agent.max_iterations,
      ...work,
      agent_id: agent.agent_id,
      required_role: agent.role_name,
      config: agent,
      crew_tools: [...(work.crew_tools ?? []), ...tools.always],
      crew_tools_by_role: tools.byRole,
      ...(this.config.memory ? {} : { without: WITHOUT_MEMORY }),
      ...(llm ? { llm_config: llm } : {}),
      ...(team ? { team } : {}),
    });
    pay(this.spent, result);
    return result;
  }

  post(
    from: string,
    to: string,
    message: string,
    kind: Payloads["post_sent"]["kind"],
    outcome?: string,
  ): void {
    const payload = { from, to, message, kind, ...(outcome === undefined ? {} : { outcome }) };
    this.run.emit({ type: "post_sent", agent_id: from, payload });
  }

  writeBoard(alias: string, bulletin: string): void {
    this.run.emit({ type: "board_written", agent_id: alias, payload: { alias, bulletin } });
  }

  /** One value per output key of the node, from a text or from an object with values of those names. */
  outputs(value: Json): JsonObject {
    const keys = this.request.output_keys;
    const inside = (key: string) =>
      value !== null && typeof value === "object" && !Array.isArray(value) && Object.hasOwn(value, key)
        ? present(value[key], "value[key]")
        : undefined;
    return Object.fromEntries(keys.map((key) => [key, inside(key) ?? value]));
  }
}

const WITHOUT_MEMORY = { tools: MEMORY_TOOLS, reason: "This crew works without memory." };

const plain = (name: string) => name.toLowerCase().replace(/["'`]/g, "").replace(/\s+/g, " ").trim();
