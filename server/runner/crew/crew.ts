import { MEMORY_TOOLS } from "@/server/domain/agent/memory/memory-tools";
import { NO_USAGE, pay, type Spent } from "@/server/domain/agent/outcome";
import { list } from "@/server/domain/agent/prompt";
import type { AgentConfig } from "@/server/domain/agent/role";
import type { AgentStep } from "@/server/domain/agent/stuck";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { freshId } from "@/server/domain/base/ids";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { memberNamed, plainName } from "@/server/domain/crew/member";
import { describePastWork, type PastWork } from "@/server/domain/crew/past-work";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import { isPlanFile, planText } from "@/server/domain/crew/plan-file";
import { type TeamChanges, teamNow } from "@/server/domain/crew/team-now";
import type { CrewRequest } from "@/server/domain/nodes/define";
import { agentKey, type CrewRun } from "@/server/domain/run";
import { isSince } from "@/server/domain/run/edition";
import type { Payloads } from "@/server/domain/run/events";
import { type Fences, group } from "@/server/domain/text/fence";
import { isGranted } from "@/server/domain/tool/tool";
import { runAgent } from "../agent/loop";
import { fencesOf } from "../agent/prompt/prompt-edition";
import type { AgentResult, AgentTask, RunTool } from "../agent/task";
import type { CrewRuntime } from "../node/ports";

/** Of each bulletin, this much is shown to every agent; who needs the rest reads the board. Characters. */
const BOARD_CHARS = 4000;
/** Max characters of what others do, say and decide in a list. */
const SHORT_CHARS = 160;
/** The newest of each list that every agent is shown. */
const MOST_SHOWN = 20;

export type Work = Omit<
  AgentTask,
  "agent_id" | "required_role" | "config" | "team" | "goal" | "crew_tools_by_role"
> & {
  /** False for who has the goal already, or is to know only what a coworker tells it. */
  gives_goal?: boolean;
};

/** Tools an agent may get in addition to its role's: those of the process, and those that its role must name. */
export type CrewTools = (
  crew: Crew,
  agent: AgentConfig,
  level: number,
) => { always: RunTool[]; byRole: RunTool[] };

/** Several agents at one goal: what they have in common. What happens is kept in the run's state, by events. */
export class Crew {
  readonly spent: Spent = { usage: NO_USAGE, cost_usd: 0 };
  /** What all of them did, for telling whether they only hand the work to and fro. */
  readonly steps: AgentStep[] = [];
  /** Tasks of the plan that agents set to in_progress, and by whom. */
  readonly taken = new Map<string, string>();
  /** What each agent has been told of the crew's status: once per conversation. */
  private readonly sentParts = new Map<string, Set<string>>();

  private savedPlan: ExecutionPlan | undefined;
  private saves = 0;
  private isPlanFileOld = false;
  private seen: TeamChanges | undefined;
  private now: CrewConfig;

  constructor(
    readonly run: CrewRuntime,
    private readonly drawn: CrewConfig,
    readonly request: CrewRequest,
    private readonly toolsOf: CrewTools,
  ) {
    this.now = drawn;
  }

  /** As it is by now: people may change its members on the way. */
  get config(): CrewConfig {
    const changes = this.changes;
    if (changes === this.seen) return this.now;
    this.seen = changes;
    this.now = teamNow(this.drawn, changes);
    return this.now;
  }
  private get changes(): TeamChanges | undefined {
    return this.run.s.team_changes[this.run.node.id];
  }

  /** How data is delimited in prompts. */
  get fences(): Fences {
    return fencesOf(this.run.s.run);
  }
  get goal(): string {
    return this.request.description;
  }
  get name(): string {
    return this.run.node.name || this.run.node.id;
  }
  /** As the events have it so far. */
  get view(): CrewRun {
    return must(this.run.s.crews, this.run.activationId);
  }
  get plan(): ExecutionPlan | undefined {
    return this.run.s.plans[this.run.activationId];
  }

  /** The agent that is called so, by its id or by a role that only one has, however the name is written. */
  member(name: string): AgentConfig | undefined {
    return memberNamed(this.config.agents, name);
  }

  /** Takes the agent that a person chose to continue; undefined if they left it to the crew. */
  takeNext(): AgentConfig | undefined {
    const { next_agent } = this.view;
    const agent = this.config.agents.find(({ agent_id }) => agent_id === next_agent);
    if (agent)
      this.run.emit({
        type: "next_agent_taken",
        agent_id: agent.agent_id,
        payload: { agent_id: agent.agent_id },
      });
    return agent;
  }

  /** The members of the team with this name, without the caller; undefined if there is no such team. */
  team(name: string, except: string): string[] | undefined {
    const wanted = plainName(name);
    const found = Object.entries(this.view.teams).find(([team]) => plainName(team) === wanted);
    return found?.[1].agents.filter((id) => id !== except);
  }

  /** A member's current config; its last one if it left the crew. */
  private asNow(agent: AgentConfig): AgentConfig {
    return this.config.agents.find(({ agent_id }) => agent_id === agent.agent_id) ?? agent;
  }

  describe(agent: AgentConfig): string {
    return `${agent.agent_id} (${agent.role_name}): ${this.run.findRole(agent.role_name)?.description ?? ""}`.trimEnd();
  }

  /**
   * The crew's status as data for the next agent: the plan, the board and the work so far. An agent that continues its
   * own conversation gets only what is new to it.
   */
  private status(agent_id: string, continues = false): string {
    const board = Object.entries(this.view.board).flatMap(([by, bulletin]) =>
      // Everybody has the goal and the handoffs, and an agent that continues knows its own posts.
      bulletin === requestOf(this.goal) || bulletin.startsWith(HANDED_OVER) || (continues && by === agent_id)
        ? []
        : [this.fences.fence("bulletin", shortened(bulletin, BOARD_CHARS), { by })],
    );
    const known = continues ? (this.sentParts.get(agent_id) ?? new Set()) : new Set<string>();
    const record = continues ? [] : this.records(agent_id);
    const past = continues ? [] : this.pastRecords(agent_id);
    const parts = [...this.history(), ...board].filter((part) => !known.has(part));
    this.sentParts.set(agent_id, new Set([...known, ...parts]));
    return group("crew_status", [
      ...parts,
      this.lines("Work in earlier runs", past.slice(0, MOST_SHOWN)),
      this.lines("Work so far", record),
    ]);
  }

  /** Inputs of the node that the goal already contains in full. */
  private get inGoal(): string[] {
    const shown: string[] = [];
    this.run.render(this.request.template ?? "", ({ path, text, isWhole }) => {
      if (isWhole) shown.push(path.join("."));
      return text;
    });
    return shown;
  }

  /** How much of an agent's work of this run came to nothing. */
  countFailed(agent_id: string): number {
    return Object.values(this.run.s.agents).filter(
      (view) => view.agent_id === agent_id && (view.status === "failed" || view.status === "rejected"),
    ).length;
  }

  /** How many tokens a completed task of the plan took a member, delegates included; undefined before edition 5. */
  tokensPerTask(agent_id: string): number | undefined {
    const own = (this.plan?.tasks ?? []).filter(
      (task) => task.assigned_agent === agent_id && task.status === "completed",
    );
    if (own.length === 0 || !isSince(this.run.s.run, 5)) return undefined;
    return own.reduce((sum, { tokens_used = 0 }) => sum + tokens_used, 0) / own.length;
  }

  /** A member's work in earlier runs, as known when this run started. */
  pastOf(agent_id: string): PastWork | undefined {
    const { node, s } = this.run;
    return s.run.past_work?.find((past) => past.node_id === node.id && past.agent_id === agent_id);
  }

  /** How the others' work of earlier runs went. */
  private pastRecords(self: string): string[] {
    return this.config.agents.flatMap(({ agent_id }) => {
      const past = agent_id === self ? undefined : this.pastOf(agent_id);
      return past ? [describePastWork(past)] : [];
    });
  }

  /** How the others' work of this run went. */
  private records(self: string): string[] {
    return this.config.agents.flatMap(({ agent_id }) => {
      const own = Object.values(this.run.s.agents).filter((view) => view.agent_id === agent_id);
      const done = own.filter(({ status }) => status === "completed" || status === "handed_off").length;
      const failed = own.filter(({ status }) => status === "failed" || status === "rejected").length;
      return agent_id !== self && done + failed > 0 ? [`${agent_id}: ${done} done, ${failed} failed`] : [];
    });
  }

  /** Lines about what others said or did. */
  private lines(title: string, items: readonly string[]): string {
    const { harmless } = this.fences;
    return harmless(
      list(
        title,
        items.map((item) => item.replace(/\s+/g, " ")),
      ),
    );
  }

  /** The plan, teams, handoffs, decisions and files up to now. */
  private history(): string[] {
    const { view } = this;
    const handoffs = view.exchanges.flatMap((one) => (one.kind === "handoff" ? [one.handoff] : []));
    const decided = Object.values(view.proposals).flatMap(({ decision, by, outcome }) =>
      outcome
        ? [
            `"${shortened(decision)}", proposed by ${by}: ${outcome.outcome}, ${outcome.approve} for and ${outcome.reject} against`,
          ]
        : [],
    );
    return [
      this.lines(
        "Files of this run",
        // The plan is shown in full.
        newest(Object.values(this.run.s.files).filter(({ path }) => !isPlanFile(path))).map(
          ({ path, version }) => `${path} (version ${version})`,
        ),
      ),
      this.lines(
        "Teams",
        Object.entries(view.teams).map(
          ([name, { agents, purpose }]) =>
            `${name}: ${agents.join(", ")}${purpose ? ` (${shortened(purpose)})` : ""}`,
        ),
      ),
      this.lines(
        "Handed over so far",
        newest(handoffs).map(({ from, to, reason }) => `${from} to ${to}: ${shortened(reason)}`),
      ),
      this.lines("Decided so far", newest(decided)),
      this.lines(
        "The plan",
        (this.plan?.tasks ?? [])
          .slice(0, MOST_SHOWN)
          .map(
            ({ task_id, status, description, assigned_agent, required_role }) =>
              `${task_id} (${status.replace("_", " ")}; ${assigned_agent ?? required_role ?? "unassigned"}): ${shortened(description)}`,
          ),
      ),
    ];
  }

  /** Whether a delegate keeps the tools of its own role. */
  get keepsTools(): boolean {
    const { run } = this.run.s;
    const { delegate_tools = isSince(run, 5) ? "own" : "shared" } = this.config;
    return delegate_tools === "own" && run.installation?.delegate_tools !== "shared";
  }

  /** An id for work that is no task of the plan: no task has it. */
  idBesideTasks(wanted: string): string {
    return freshId(wanted, new Set(this.plan?.tasks.map(({ task_id }) => task_id)));
  }

  /** Lets a member work with what the crew provides: team, goal and status. A separate judge gets none of these. */
  *work(chosen: AgentConfig, { gives_goal = true, ...work }: Work): Flow<AgentResult> {
    const { agents } = this.config;
    const agent = this.asNow(chosen);
    const only = this.changes?.[agent.agent_id]?.tools;
    const given: Partial<AgentTask> = work.role
      ? {}
      : {
          ...defined({ team: agents.length > 1 ? agents.map((member) => this.describe(member)) : undefined }),
          ...(work.continues || !gives_goal ? {} : { goal: this.goal, shown: ["goal", ...this.inGoal] }),
          // A vote is cast on a proposal, not on how the work goes.
          ...defined({ status: work.is_stance ? undefined : this.status(agent.agent_id, work.continues) }),
        };
    const llm = work.llm_config ?? agent.llm_config;
    const level = work.parent ? work.parent.level + 1 : 0;
    const tools = this.toolsOf(this, agent, level);
    const result = yield* runAgent(this.run, {
      max_iterations: agent.max_iterations,
      ...given,
      ...work,
      agent_id: agent.agent_id,
      required_role: agent.role_name,
      config: agent,
      crew_tools: [...(work.crew_tools ?? []), ...tools.always],
      crew_tools_by_role: tools.byRole,
      ...defined({
        without: this.config.memory ? undefined : WITHOUT_MEMORY,
        llm_config: llm,
        llm_now: work.llm_config ? undefined : () => this.asNow(agent).llm_config,
        tools: only,
        keeps_tools: work.parent && this.keepsTools ? true : undefined,
      }),
    });
    pay(this.spent, result);
    return result;
  }

  /** Whether the plan is another than plan.json says. */
  get isPlanFileDue(): boolean {
    return this.plan !== this.savedPlan;
  }

  /** Rewrites plan.json if the plan has changed. */
  *savePlan(): Flow<void> {
    if (!this.plan || !this.isPlanFileDue) return;
    this.savedPlan = this.plan;
    const text = planText(this.plan);
    const { status_code, error } = yield* this.run.writePlanFile(`plan-file/${++this.saves}`, text);
    if (status_code !== 413 || this.isPlanFileOld) return;
    this.isPlanFileOld = true;
    this.run.warn("PLAN_FILE", `plan.json is no longer up to date: ${error}`);
  }

  /**
   * Keeps something in the memory of the run, where the crew has one, as an agent's own word. `key`: a part for keys of
   * steps, unique in the node's attempt.
   */
  *remember(agent: AgentConfig, key: string, name: string, value: Json): Flow<void> {
    const { run, config } = this;
    const role = run.findRole(agent.role_name);
    if (!config.memory || !role || isGranted(run.config.denied_tools, STORE_MEMORY)) return;
    const about = { agent_id: agent.agent_id, task_id: key };
    const path = `${key}/${agent.agent_id}`;
    // The run itself keeps it, whatever the role may use.
    const caller = {
      key: agentKey(run.activationId, agent.agent_id, key),
      path,
      about,
      role,
      task: { role, config: agent },
    };
    const call = { name: STORE_MEMORY, args: { key: name, value, scope: "run" }, agent: caller };
    const output = yield* run.callTool(`${path}/remember`, call);
    if (output.status_code === 200) run.noteEffects(about, call, output);
  }

  post(payload: Payloads["post_sent"]): void {
    this.run.emit({ type: "post_sent", agent_id: payload.from, payload });
  }

  writeBoard(alias: string, bulletin: string): void {
    this.run.emit({ type: "board_written", agent_id: alias, payload: { alias, bulletin } });
  }

  /** Keeps what was written as output of the crew, which then fails. Runs of before the third edition keep nothing. */
  keep(value: Json): void {
    if (isSince(this.run.s.run, 3)) this.run.keep(this.outputs(value));
  }

  /** One value per output key of the node, from a text or from an object with values of those names. */
  outputs(value: Json): JsonObject {
    const keys = this.request.output_keys;
    const inside = (key: string) =>
      value !== null && typeof value === "object" && !Array.isArray(value) && Object.hasOwn(value, key)
        ? must(value, key)
        : undefined;
    return Object.fromEntries(keys.map((key) => [key, inside(key) ?? value]));
  }
}

const STORE_MEMORY = "store_memory";
const WITHOUT_MEMORY = { tools: MEMORY_TOOLS, reason: "This crew works without memory." };

/** How a bulletin begins that tells of a handoff. */
export const HANDED_OVER = "Handed over to ";
/** What stands on a board before there is a plan. */
export const requestOf = (goal: string): string => `Request: ${goal}`;

const newest = <T>(items: readonly T[]): T[] => items.slice(-MOST_SHOWN);
/** A text on one line, with an ellipsis where it was cut. */
const shortened = (text: string, most = SHORT_CHARS) =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;
