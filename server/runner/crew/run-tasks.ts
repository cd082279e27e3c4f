import { z } from "zod";
import type { RunError } from "@/server/domain/agent/outcome";
import type { AgentConfig } from "@/server/domain/agent/role";
import type { Flow } from "@/server/domain/base/durable";
import { present } from "@/server/domain/base/must";
import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import { Work as Budget } from "@/server/domain/base/work-budget";
import type { ExecutionPlan, Task, TaskStatus } from "@/server/domain/crew/plan";
import {
  byUrgency,
  inOrder,
  interventionPoint,
  lastTasks,
  startingPlan,
} from "@/server/domain/crew/starting-plan";
import { NodeFailure } from "@/server/domain/nodes";
import { evaluateCondition } from "@/server/domain/text/expression";
import { errorOf } from "../agent/call-model";
import { Children } from "../flow";
import type { Crew, Work } from "./crew";
import { meetCriteria, noteProgress } from "./criteria";
import { replan, writePlan } from "./planner";
import { textOf, valueOf } from "./values";

/** How often a person may send a task's result back. */
const MAX_REVIEWS = 3;
/** Of a result, this much is shown where it passes from one agent to another; characters. The whole is the task's. */
const PASSED_ON = 300;

/**
 * Carries out a plan: one task after another, or every task as soon as what it depends on is done. The plan is the
 * crew's own, or a planner role writes it first. Agents may add to it on the way.
 */
export function* runTasks(crew: Crew): Flow<JsonObject> {
  const { run, config, request } = crew;
  let plan = request.plan;
  if (!plan || config.planning || plan.tasks.length === 0) {
    const written = yield* writePlan(crew);
    plan = { ...written.plan, ...(request.plan ? settingsOf(request.plan) : {}) };
    run.emit({ type: "plan_created", payload: { plan: startingPlan(plan, config), by: written.by } });
  } else run.emit({ type: "plan_created", payload: { plan: startingPlan(plan, config), by: "workflow" } });

  const work = new PlanWork(crew);
  yield* work.carryOut();
  const output = work.result();
  return yield* meetCriteria(crew, output, work.outputs);
}

/** What a plan says beside its tasks. */
const settingsOf = ({ execution_mode, human_intervention_points, success_criteria }: ExecutionPlan) => ({
  execution_mode,
  human_intervention_points,
  success_criteria,
});

interface TaskDone {
  output: Json;
}

class PlanWork {
  readonly outputs: Record<string, Json> = {};
  private readonly busy = new Map<string, string>();
  /** How many tasks each agent was given so far. */
  private readonly given = new Map<string, number>();
  private readonly children = new Children<TaskDone>();
  private readonly parallel: number;
  private failure: RunError | null = null;
  private replans = 0;

  constructor(private readonly crew: Crew) {
    this.parallel = crew.config.process === "parallel" ? crew.config.max_parallel : 1;
  }

  private get tasks(): readonly Task[] {
    return present(this.crew.plan, "this.crew.plan").tasks;
  }
  private task(id: string): Task {
    return present(
      this.tasks.find(({ task_id }) => task_id === id),
      "this.tasks.find(({ task_id }) => task_id === id)",
    );
  }

  *carryOut(): Flow<void> {
    try {
      for (;;) {
        if (!this.hasStopped) this.begin();
        if (this.children.size === 0) break;
        const done = yield* this.children.next(this.crew.run.planEdited());
        // A person changed the plan: perhaps something can begin.
        if (!done) continue;
        this.busy.delete(done.id);
        if (done.ok) {
          this.outputs[done.id] = done.value.output;
          this.move(done.id, "completed", { output: done.value.output });
          // At the end all of them are checked anyway.
          if (this.tasks.some(({ status }) => status === "pending" || status === "in_progress"))
            noteProgress(this.crew, this.result(), this.outputs);
        } else yield* this.failed(done.id, errorOf(done.error));
      }
    } finally {
      this.children.stop();
    }
    this.conclude();
  }

  private get hasStopped(): boolean {
    return this.failure !== null && this.crew.config.on_task_failure === "stop";
  }

  private move(
    id: string,
    to: TaskStatus,
    more: { assigned_agent?: string; output?: Json; error?: RunError } = {},
  ): void {
    const from = this.task(id).status;
    this.crew.run.emit({ type: "task_status_changed", task_id: id, payload: { from, to, ...more } });
  }

  /** Begins every task that may begin now. */
  private begin(): void {
    const { run, config } = this.crew;
    const is = (id: string, ...statuses: TaskStatus[]) => statuses.includes(this.task(id).status);
    const budget = new Budget();
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false;
      for (const { task_id: id } of byUrgency(inOrder(this.tasks))) {
        if (this.children.size >= this.parallel) return;
        const task = this.task(id);
        if (task.status !== "pending") continue;
        if (task.dependencies.some((other) => is(other, "failed", "blocked", "cancelled"))) {
          this.move(id, "blocked");
          hasChanged = true;
          continue;
        }
        if (!task.dependencies.every((other) => is(other, "completed", "skipped"))) continue;
        if (
          task.condition &&
          !evaluateCondition(
            task.condition,
            { state: { ...run.state, ...this.outputs }, input: run.input, now: run.now },
            budget,
          ).value
        ) {
          this.move(id, "skipped");
          hasChanged = true;
          continue;
        }
        const agent = this.agentFor(task);
        if (!agent) {
          const error = unroutable(task, config.agents);
          this.move(id, "failed", { error });
          this.failure ??= error;
          if (this.hasStopped) return;
          hasChanged = true;
          continue;
        }
        this.busy.set(id, agent.agent_id);
        this.given.set(agent.agent_id, (this.given.get(agent.agent_id) ?? 0) + 1);
        this.move(id, "in_progress", { assigned_agent: agent.agent_id });
        this.children.add(id, this.carryOutOne(task, agent));
        hasChanged = true;
      }
    }
  }

  private *carryOutOne(planned: Task, chosen: AgentConfig): Flow<TaskDone> {
    const { crew } = this;
    const { plan } = crew;
    const id = planned.task_id;
    const points = plan?.human_intervention_points ?? [];
    const before = interventionPoint(planned, "before", points);
    let agent = chosen;
    if (before || plan?.execution_mode === "step") {
      yield* this.askToGoOn(
        planned,
        agent,
        before ? `The plan says ${before}.` : "The plan is carried out step by step.",
      );
      // A person may have given it to somebody else before they agreed.
      agent = this.agentFor(this.task(id)) ?? agent;
      this.busy.set(id, agent.agent_id);
      this.move(id, "in_progress", agent === chosen ? {} : { assigned_agent: agent.agent_id });
    }
    const task = this.task(id);
    const earlier = this.contextOf(task);
    for (const [done, output] of Object.entries(earlier)) {
      const from = this.task(done).assigned_agent;
      if (from && from !== agent.agent_id)
        crew.post(from, agent.agent_id, textOf(output).slice(0, PASSED_ON), "result");
    }
    const sinks = lastTasks(this.tasks);
    const isLast = sinks.length === 1 && present(sinks[0], "sinks[0]").task_id === id;
    const { output_keys } = crew.request;
    const several = isLast && output_keys.length > 1;
    let feedback: string | undefined;
    for (let review = 0; ; review++) {
      const result = yield* crew.work(agent, {
        task_id: review === 0 ? id : `${id}.r${review}`,
        task:
          feedback === undefined
            ? task.description
            : `${task.description}\n\nA person sent the last result back: ${feedback}`,
        ...(task.expected_output ? { expected_output: task.expected_output } : {}),
        ...(several ? { output_keys } : shapeOf(task, crew.run.findRole(agent.role_name)?.output_schema)),
        inputs: { goal: crew.goal, ...crew.run.input, ...instructionOf(task, this.outputs) },
        earlier,
        guardrails: task.guardrails,
      });
      const own = result.output;
      const output: Json =
        Object.hasOwn(own, id) && Object.keys(own).length === 1 ? present(own[id], "own[id]") : own;
      const after = interventionPoint(task, "after", points);
      const isAsked = after !== undefined || task.human_review || plan?.execution_mode === "hitl";
      if (!isAsked || review >= MAX_REVIEWS) return { output };
      const answer = yield* crew.run.ask(`${id}/review${review}`, {
        about: { agent_id: agent.agent_id, task_id: id },
        kind: "review",
        title: `Look at the result of "${task.description.slice(0, 80)}"`,
        why: after
          ? `The plan says ${after}.`
          : task.human_review
            ? "The plan asks for a person's review of this task."
            : "The plan is carried out together with a person.",
        args: { output },
      });
      if (answer.answer === "approve" || answer.answer === "approve_always") return { output };
      if (answer.answer === "expired")
        throw new NodeFailure("HUMAN_TIMEOUT", `Nobody looked at the result of "${id}" in time.`, {
          user_action: "retry",
        });
      feedback = answer.message || "It is not good enough yet.";
    }
  }

  private *askToGoOn(task: Task, agent: AgentConfig, why: string): Flow<void> {
    const id = task.task_id;
    this.move(id, "awaiting_human");
    const answer = yield* this.crew.run.ask(`${id}/before`, {
      about: { agent_id: agent.agent_id, task_id: id },
      kind: "review",
      title: `Begin "${task.description.slice(0, 80)}"?`,
      why,
      args: { task: task.description, agent: agent.agent_id },
    });
    if (answer.answer === "expired")
      throw new NodeFailure("HUMAN_TIMEOUT", `Nobody agreed to "${id}" in time.`, { user_action: "retry" });
    if (answer.answer === "reject")
      throw new NodeFailure(
        "HUMAN_REJECTED",
        `A person declined "${id}"${answer.message ? `: ${answer.message}` : "."}`,
      );
  }

  /** What follows from a failed task, as the crew is set. */
  private *failed(id: string, error: RunError): Flow<void> {
    const { crew } = this;
    const { on_task_failure, max_replans } = crew.config;
    const points = crew.plan?.human_intervention_points ?? [];
    this.move(id, "failed", { error });
    if (on_task_failure === "replan" && this.replans < max_replans) {
      this.replans++;
      if (yield* replan(crew, id, error, this.outputs)) return;
    }
    const stopsForPeople = points.includes("on_error") || crew.plan?.execution_mode === "breakpoint";
    if (on_task_failure === "escalate" || stopsForPeople) {
      const answer = yield* crew.run.ask(`${id}/failed`, {
        about: { agent_id: this.task(id).assigned_agent ?? "", task_id: id },
        kind: "escalation",
        title: `"${id}" failed. Go on without it?`,
        why: error.message,
      });
      if (answer.answer === "approve" || answer.answer === "approve_always") {
        crew.run.warn("TASK_FAILED", `Task "${id}" failed and was passed over: ${error.message}`);
        this.move(id, "skipped");
        return;
      }
    }
    this.failure ??= error;
  }

  /** Who does a task: the agent, or the least busy of the team or role, that it names; ties by the crew's order. */
  private agentFor(task: Task): AgentConfig | undefined {
    const { crew } = this;
    const { agents } = crew.config;
    const wanted = task.assigned_agent ?? undefined;
    const named = wanted === undefined ? undefined : agents.find(({ agent_id }) => agent_id === wanted);
    if (named) return named;
    const team = wanted === undefined ? undefined : crew.view.teams[wanted]?.agents;
    const role = task.required_role ?? wanted;
    const atWork = (id: string) => [...this.busy.values()].filter((other) => other === id).length;
    const load = ({ agent_id }: AgentConfig) => [atWork(agent_id), this.given.get(agent_id) ?? 0] as const;
    return agents
      .filter(({ agent_id, role_name }) => (team ? team.includes(agent_id) : role_name === role))
      .map((agent, at) => ({ agent, at, load: load(agent) }))
      .sort((a, b) => a.load[0] - b.load[0] || a.load[1] - b.load[1] || a.at - b.at)[0]?.agent;
  }

  /** What a task is told of earlier ones: its dependencies' results, else the previous task's. */
  private contextOf(task: Task): JsonObject {
    const pick = (ids: readonly string[]) =>
      Object.fromEntries(
        ids
          .filter((id) => Object.hasOwn(this.outputs, id))
          .map((id) => [id, present(this.outputs[id], "this.outputs[id]")]),
      );
    if (task.dependencies.length > 0 || this.parallel > 1) return pick(task.dependencies);
    const order = inOrder(this.tasks);
    const before = order[order.findIndex(({ task_id }) => task_id === task.task_id) - 1];
    return before === undefined ? {} : pick([before.task_id]);
  }

  /** Says what was not reached; throws where the crew as a whole failed. */
  private conclude(): void {
    const { failure, crew } = this;
    if (!failure) return;
    const finished = this.tasks.some(({ status }) => status === "completed");
    // Anything but going on independently means: one failed task fails the crew.
    if (crew.config.on_task_failure !== "continue_independent" || !finished)
      throw new NodeFailure(failure.code, `The crew stopped: ${failure.message}`, {
        retryable: failure.retryable,
        user_action: failure.user_action,
      });
    crew.run.warn("CREW_PARTIAL", `Some tasks of ${crew.name} failed: ${failure.message}`);
  }

  /** One value per output key: a task of that name, else what the last tasks gave. */
  result(): JsonObject {
    const { outputs } = this;
    const ends = lastTasks(this.tasks)
      .map(({ task_id }) => task_id)
      .filter((id) => Object.hasOwn(outputs, id));
    const finished = this.tasks.filter(({ task_id }) => Object.hasOwn(outputs, task_id));
    const shown = ends.length > 0 ? ends : finished.slice(-1).map(({ task_id }) => task_id);
    const whole = valueOf(Object.fromEntries(shown.map((id) => [id, present(outputs[id], "outputs[id]")])));
    const inside = this.crew.outputs(whole);
    return Object.fromEntries(
      Object.entries(inside).map(([key, value]) => [
        key,
        Object.hasOwn(outputs, key) ? present(outputs[key], "outputs[key]") : value,
      ]),
    );
  }
}

/** How a task is to be answered: as its own schema says, else its role's, else in one text. */
function shapeOf(
  task: Task,
  ofRole: JsonSchema | undefined,
): Pick<Work, "output_keys" | "output_schema" | "answer_schema"> {
  const schema = task.output_schema ?? ofRole;
  const isWhole = schema?.type === "object" && schema.properties !== undefined;
  if (isWhole) return { output_keys: [], answer_schema: schema };
  return {
    output_keys: [task.task_id],
    ...(task.output_schema ? { output_schema: task.output_schema } : {}),
  };
}

/**
 * What a task's raw instruction gives beside its description: the values of a JSON object by their names, else the
 * text. A value `output_from_<task>` stands for that task's result.
 */
function instructionOf({ raw_instruction }: Task, outputs: Readonly<Record<string, Json>>): JsonObject {
  if (!raw_instruction) return {};
  const read = parseInstruction(raw_instruction);
  if (!read) return { raw_instruction };
  return Object.fromEntries(
    Object.entries(read).map(([key, value]) => {
      const from = typeof value === "string" ? /^output_from_(.+)$/.exec(value)?.[1] : undefined;
      return [
        key,
        from !== undefined && Object.hasOwn(outputs, from) ? present(outputs[from], "outputs[from]") : value,
      ];
    }),
  );
}

function parseInstruction(text: string): JsonObject | null {
  try {
    return z.record(z.string(), Json).safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function unroutable(task: Task, agents: readonly AgentConfig[]): RunError {
  const roles = [...new Set(agents.map(({ role_name }) => role_name))].join(", ");
  const wanted = task.required_role ?? task.assigned_agent;
  return {
    code: "CONFIG",
    message: wanted
      ? `Task "${task.task_id}" asks for ${wanted}, and no agent of the crew is that. The crew has: ${roles}.`
      : `Task "${task.task_id}" does not say which role does it. The crew has: ${roles}.`,
    retryable: false,
    user_action: "edit_graph",
  };
}
