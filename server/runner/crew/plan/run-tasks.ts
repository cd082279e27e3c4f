import type { RunError } from "@/server/domain/agent/outcome";
import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { newRecord } from "@/server/domain/base/json";
import { must, present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { Work as Budget } from "@/server/domain/base/work-budget";
import { asksOnError, interventionPoint } from "@/server/domain/crew/intervention";
import type { Task, TaskStatus } from "@/server/domain/crew/plan";
import { byUrgency, inOrder, lastTasks } from "@/server/domain/crew/starting-plan";
import { NodeFailure } from "@/server/domain/nodes";
import { isSince } from "@/server/domain/run/edition";
import type { Payloads } from "@/server/domain/run/events";
import { evaluateCondition } from "@/server/domain/text/expression/expression";
import { errorOf } from "@/server/runner/agent/call-model";
import { Children } from "@/server/runner/node/flow";
import { askForCrew } from "../ask";
import { type ChosenMember, chooseMember, unroutable } from "../choose-member";
import type { Crew, Work } from "../crew";
import { meetCriteria, noteProgress } from "../criteria";
import { relay } from "../patterns/relay";
import { failedTask, instructionOf, reviewReason, shapeOf } from "../task-work";
import { textOf, valueOf } from "../values";
import { beginPlan } from "./begin-plan";
import { replan } from "./planner";

/** How often a person may send a task's result back. */
const MAX_REVIEWS = 3;
/** How much of a result is posted to the next agent, which gets the whole with its task; characters. */
const PASSED_ON = 300;

/**
 * Executes a plan: one task after another, or each as soon as its dependencies are done. The plan is the crew's own, or
 * a planner role writes it first. Agents may add tasks while it runs.
 */
export function* runTasks(crew: Crew): Flow<JsonObject> {
  yield* beginPlan(crew);
  const work = new PlanWork(crew);
  yield* work.execute();
  const output = work.result();
  return yield* meetCriteria(crew, output, work.outputs);
}

const SAVING = "plan file";

function* asTask(flow: Flow<void>): Flow<TaskDone> {
  yield* flow;
  return { output: null };
}

interface TaskDone {
  output: Json;
}

class PlanWork {
  /** The results of completed tasks, including those that were done before this crew started. */
  readonly outputs: Record<string, Json>;
  private readonly busy = new Map<string, string>();
  /** How many tasks each agent has been given. */
  private readonly given = new Map<string, number>();
  private readonly children = new Children<TaskDone>();
  private readonly parallel: number;
  private failure: RunError | null = null;
  /** Failed tasks that were taken notice of. */
  private readonly failures = new Set<string>();
  private replans = 0;
  /** Flows that run next to the tasks. Their ids contain a space, those of tasks don't. */
  private readonly besides = new Set<string>();

  constructor(private readonly crew: Crew) {
    this.parallel = crew.config.process === "parallel" ? crew.config.max_parallel : 1;
    this.outputs = newRecord(
      this.tasks.flatMap(({ task_id, status, output }) =>
        status === "completed" && output !== undefined ? [[task_id, output] as const] : [],
      ),
    );
  }

  private get tasks(): readonly Task[] {
    return must(this.crew, "plan").tasks;
  }
  private task(id: string): Task {
    return present(
      this.tasks.find(({ task_id }) => task_id === id),
      "this.tasks.find(({ task_id }) => task_id === id)",
    );
  }

  *execute(): Flow<void> {
    for (const { task_id, status, error_message } of this.tasks)
      if (status === "failed") {
        this.failures.add(task_id);
        yield* this.afterFailure(task_id, failedTask(task_id, error_message));
      }
    try {
      for (;;) {
        // The handling of a failure may change the plan.
        if (!this.hasStopped && ![...this.besides].some((id) => id !== SAVING)) this.begin();
        if (!this.besides.has(SAVING) && this.crew.isPlanFileDue)
          this.addBeside(SAVING, this.crew.savePlan());
        if (this.children.size === 0) break;
        const done = yield* this.children.next(this.crew.run.planEdited());
        // A person changed the plan, so another task may be able to start.
        if (!done) continue;
        if (this.besides.delete(done.id)) {
          if (!done.ok) throw done.error;
          continue;
        }
        this.busy.delete(done.id);
        this.heedStatuses();
        // Its agent may have said so.
        if (this.task(done.id).status === "failed") continue;
        if (done.ok) {
          this.outputs[done.id] = done.value.output;
          this.move(done.id, "completed", { output: done.value.output });
          // At the end all criteria are checked anyway.
          if (this.tasks.some(({ status }) => status === "pending" || status === "in_progress"))
            noteProgress(this.crew, this.result(), this.outputs);
        } else this.addBeside(`${done.id} failed`, this.failed(done.id, errorOf(done.error)));
      }
    } finally {
      this.children.stop();
    }
    this.conclude();
  }

  /** Acts on the statuses that agents set: handles new failures, and takes back tasks that were left unfinished. */
  private heedStatuses(): void {
    for (const { task_id: id, status, error_message } of this.tasks)
      if (status === "failed" && !this.failures.has(id)) {
        this.failures.add(id);
        this.addBeside(`${id} failed`, this.afterFailure(id, failedTask(id, error_message)));
      }
    for (const [id, by] of this.crew.taken) {
      if ([...this.busy.values()].includes(by)) continue;
      this.crew.taken.delete(id);
      if (this.task(id).status === "in_progress") this.move(id, "pending");
    }
  }

  /** Runs a flow concurrently with the tasks: waiting for it alone would drop their wake-ups. */
  private addBeside(id: string, flow: Flow<void>): void {
    this.besides.add(id);
    this.children.add(id, asTask(flow));
  }

  private get hasStopped(): boolean {
    return this.failure !== null && this.crew.config.on_task_failure === "stop";
  }

  private move(
    id: string,
    to: TaskStatus,
    more: Omit<Payloads["task_status_changed"], "from" | "to"> = {},
  ): void {
    if (to === "failed") this.failures.add(id);
    const from = this.task(id).status;
    this.crew.run.emit({ type: "task_status_changed", task_id: id, payload: { from, to, ...more } });
  }

  /** Starts every task that can start now. */
  private begin(): void {
    const { run, config } = this.crew;
    const is = (id: string, ...statuses: TaskStatus[]) => statuses.includes(this.task(id).status);
    const budget = new Budget();
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false;
      for (const { task_id: id } of byUrgency(inOrder(this.tasks), { passedOn: isSince(run.s.run, 5) })) {
        if (this.busy.size >= this.parallel) return;
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
        const asked = this.crew.takeNext();
        const chosen = asked ? { agent: asked, why: "a person chose it" } : this.memberFor(task);
        if (!chosen) {
          const error = unroutable(task, config.agents);
          this.move(id, "failed", { error });
          this.failure ??= error;
          if (this.hasStopped) return;
          hasChanged = true;
          continue;
        }
        const { agent, why } = chosen;
        this.busy.set(id, agent.agent_id);
        this.given.set(agent.agent_id, (this.given.get(agent.agent_id) ?? 0) + 1);
        this.move(id, "in_progress", {
          assigned_agent: agent.agent_id,
          ...defined({ chosen_because: why }),
        });
        this.children.add(id, this.executeTask(task, agent));
        hasChanged = true;
      }
    }
  }

  private *executeTask(planned: Task, chosen: AgentConfig): Flow<TaskDone> {
    const { crew } = this;
    const id = planned.task_id;
    let agent = yield* this.confirmStart(planned, chosen);
    const task = this.task(id);
    const earlier = this.contextOf(task);
    this.postEarlier(earlier, agent);
    const sinks = lastTasks(this.tasks);
    const isLast = sinks.length === 1 && must(sinks, 0).task_id === id;
    let feedback: string | undefined;
    for (let review = 0; ; review++) {
      const own_id = review === 0 ? id : crew.idBesideTasks(`${id}.r${review}`);
      const worked = yield* relay(crew, agent, this.workOn(task, agent, { earlier, isLast, feedback }), {
        idOf: (hop) => (hop === 1 ? own_id : crew.idBesideTasks(`${own_id}.h${hop}`)),
        wish: `Do the task that was assigned to it: ${crew.fences.harmless(task.description)}`,
      });
      if (worked.agent !== agent) {
        agent = worked.agent;
        this.busy.set(id, agent.agent_id);
        this.move(id, "in_progress", { assigned_agent: agent.agent_id });
      }
      const own = worked.result.output;
      const output: Json = Object.hasOwn(own, id) && Object.keys(own).length === 1 ? must(own, id) : own;
      const why = reviewReason(crew.plan, task);
      if (why === undefined || review >= MAX_REVIEWS) return { output };
      feedback = yield* this.askForReview(task, agent, { key: `${id}/review${review}`, why, output });
      if (feedback === undefined) return { output };
    }
  }

  /** Asks a person before the task if the plan says so; returns the member that does it. */
  private *confirmStart(planned: Task, chosen: AgentConfig): Flow<AgentConfig> {
    const { plan } = this.crew;
    const before = plan && interventionPoint(planned, "before", plan);
    if (!before && plan?.execution_mode !== "step") return chosen;
    const why = before ? `The plan says ${before}.` : "The plan runs step by step.";
    yield* this.askToGoOn(planned, chosen, why);
    const id = planned.task_id;
    // A person may have reassigned it before approving.
    const agent = this.memberFor(this.task(id))?.agent ?? chosen;
    this.busy.set(id, agent.agent_id);
    this.move(id, "in_progress", agent === chosen ? {} : { assigned_agent: agent.agent_id });
    return agent;
  }

  /** Posts the results of other agents that a task builds on to its agent. */
  private postEarlier(earlier: JsonObject, to: AgentConfig): void {
    for (const [done, output] of Object.entries(earlier)) {
      const from = this.task(done).assigned_agent;
      if (from && from !== to.agent_id)
        this.crew.post({
          from,
          to: to.agent_id,
          message: textOf(output).slice(0, PASSED_ON),
          kind: "result",
        });
    }
  }

  private workOn(
    task: Task,
    agent: AgentConfig,
    { earlier, isLast, feedback }: { earlier: JsonObject; isLast: boolean; feedback: string | undefined },
  ): Work {
    const { crew } = this;
    const { harmless } = crew.fences;
    const { output_keys } = crew.request;
    return {
      task: task.description,
      prompt: `${harmless(task.description)}${feedback === undefined ? "" : `\n\nA person sent the last result back: ${harmless(feedback)}`}`,
      ...defined({ expected_output: task.expected_output || undefined }),
      ...(isLast && output_keys.length > 1
        ? { output_keys }
        : shapeOf(task, crew.run.findRole(agent.role_name)?.output_schema)),
      inputs: { goal: crew.goal, ...crew.run.input, ...instructionOf(task, this.outputs) },
      earlier,
      guardrails: task.guardrails,
    };
  }

  /** A person's feedback on a result; undefined if it is accepted. */
  private *askForReview(
    task: Task,
    { agent_id }: AgentConfig,
    { key, why, output }: { key: string; why: string; output: Json },
  ): Flow<string | undefined> {
    const answer = yield* askForCrew(this.crew, key, {
      about: { agent_id, task_id: task.task_id },
      kind: "review",
      title: `Review the result of "${task.description.slice(0, 80)}"`,
      why,
      args: { output },
    });
    if (answer.answer === "approve" || answer.answer === "approve_always") return undefined;
    if (answer.answer === "expired")
      throw new NodeFailure("HUMAN_TIMEOUT", `No one reviewed the result of "${task.task_id}" in time.`, {
        user_action: "retry",
      });
    return answer.message || "It is not good enough yet.";
  }

  private *askToGoOn(task: Task, agent: AgentConfig, why: string): Flow<void> {
    const id = task.task_id;
    this.move(id, "awaiting_human");
    const answer = yield* askForCrew(this.crew, `${id}/before`, {
      about: { agent_id: agent.agent_id, task_id: id },
      kind: "review",
      title: `Start "${task.description.slice(0, 80)}"?`,
      why,
      args: { task: task.description, agent: agent.agent_id },
    });
    if (answer.answer === "expired")
      throw new NodeFailure("HUMAN_TIMEOUT", `No one approved "${id}" in time.`, { user_action: "retry" });
    if (answer.answer === "reject")
      throw new NodeFailure(
        "HUMAN_REJECTED",
        `A person rejected "${id}"${answer.message ? `: ${answer.message}` : "."}`,
      );
  }

  private *failed(id: string, error: RunError): Flow<void> {
    this.move(id, "failed", { error });
    yield* this.afterFailure(id, error);
  }

  /** Handles a failed task as the crew's settings say: replan, ask a person, or keep the failure. */
  private *afterFailure(id: string, error: RunError): Flow<void> {
    const { crew } = this;
    const { on_task_failure, max_replans } = crew.config;
    if (on_task_failure === "replan" && this.replans < max_replans) {
      this.replans++;
      if (yield* replan(crew, id, error, this.outputs)) return;
    }
    const { plan } = crew;
    const stopsForPeople = plan && (asksOnError(plan) || plan.execution_mode === "breakpoint");
    if (on_task_failure === "escalate" || stopsForPeople) {
      const answer = yield* askForCrew(crew, `${id}/failed`, {
        about: { agent_id: this.task(id).assigned_agent ?? "", task_id: id },
        kind: "escalation",
        title: `"${id}" failed. Continue without it?`,
        why: error.message,
      });
      if (answer.answer === "approve" || answer.answer === "approve_always") {
        crew.run.warn("TASK_FAILED", `Task "${id}" failed and was skipped: ${error.message}`);
        this.move(id, "skipped");
        return;
      }
    }
    this.failure ??= error;
  }

  /** The member for a task, and the reason if the task names none. */
  private memberFor(task: Task): ChosenMember | undefined {
    return chooseMember(this.crew, task, {
      activeTasks: (id) => [...this.busy.values()].filter((other) => other === id).length,
      given: (id) => this.given.get(id) ?? 0,
    });
  }

  /** A task's context from earlier tasks: the results of its dependencies, or of the previous task. */
  private contextOf(task: Task): JsonObject {
    const pick = (ids: readonly string[]) =>
      Object.fromEntries(
        ids.filter((id) => Object.hasOwn(this.outputs, id)).map((id) => [id, must(this.outputs, id)]),
      );
    if (task.dependencies.length > 0 || this.parallel > 1) return pick(task.dependencies);
    const order = inOrder(this.tasks);
    const before = order[order.findIndex(({ task_id }) => task_id === task.task_id) - 1];
    return before === undefined ? {} : pick([before.task_id]);
  }

  /** Warns of tasks that failed; throws if the crew as a whole failed. */
  private conclude(): void {
    const { failure, crew } = this;
    if (!failure) return;
    const finished = this.tasks.some(({ status }) => status === "completed");
    // With any setting but continue_independent, one failed task fails the crew.
    if (crew.config.on_task_failure !== "continue_independent" || !finished)
      throw new NodeFailure(failure.code, `The crew stopped: ${failure.message}`, {
        retryable: failure.retryable,
        user_action: failure.user_action,
      });
    crew.run.warn("CREW_PARTIAL", `Some of ${crew.name}'s tasks failed: ${failure.message}`);
  }

  /**
   * One value per output key: a last task of that name, else what the last tasks gave. A task that others wait for is
   * not what comes out, whatever it is called, unless the last ones give nothing of that name.
   */
  result(): JsonObject {
    const { outputs, crew } = this;
    const ends = lastTasks(this.tasks)
      .map(({ task_id }) => task_id)
      .filter((id) => Object.hasOwn(outputs, id));
    const finished = this.tasks.filter(({ task_id }) => Object.hasOwn(outputs, task_id));
    const shown = ends.length > 0 ? ends : finished.slice(-1).map(({ task_id }) => task_id);
    const whole = valueOf(Object.fromEntries(shown.map((id) => [id, must(outputs, id)])));
    const several = crew.request.output_keys.length > 1;
    return Object.fromEntries(
      Object.entries(crew.outputs(whole)).map(([key, value]) => {
        const own = outputs[key];
        const isAsked = shown.includes(key) || (several && value === whole);
        return [key, own !== undefined && isAsked ? own : value];
      }),
    );
  }
}
