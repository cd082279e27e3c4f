import type { Flow } from "@/server/domain/durable";
import { evaluateCondition } from "@/server/domain/expression";
import { NodeFailure } from "@/server/domain/nodes";
import type { AgentAnswer, CrewAnswer, CrewRequest } from "@/server/domain/nodes/define";
import { addUsage, NO_USAGE, type RunError } from "@/server/domain/outcome";
import type { ExecutionPlan, Task, TaskStatus } from "@/server/domain/plan";
import type { AgentConfig } from "@/server/domain/role";
import type { Json, JsonObject } from "@/server/domain/values";
import { errorOf } from "../agent/call-model";
import { runAgent } from "../agent/loop";
import { Children } from "../flow";
import type { NodeRun } from "../node-run";
import { writePlan } from "./planner";

/**
 * Lets the agents of a crew carry out a plan: one task after another, or every task as soon as what it depends on
 * is done. The plan is the crew's own, or a planner role writes it first.
 */
export function* runCrew(run: NodeRun, request: CrewRequest): Flow<CrewAnswer> {
  const { crew } = request;
  if (!crew) throw new NodeFailure("CONFIG", `${run.node.name || run.node.id} has no crew. Add its agents.`);
  const spent = { usage: NO_USAGE, cost_usd: 0 as number | null };
  const pay = (answer: AgentAnswer) => {
    spent.usage = addUsage(spent.usage, answer.usage);
    spent.cost_usd =
      spent.cost_usd === null || answer.cost_usd === null ? null : spent.cost_usd + answer.cost_usd;
  };

  let plan = request.plan;
  if (!plan || crew.planning || plan.tasks.length === 0) {
    const written = yield* writePlan(run, crew, request.description);
    plan = written.plan;
    pay(written.answer);
    run.emit({ type: "plan_created", payload: { plan, by: written.by } });
  } else run.emit({ type: "plan_created", payload: { plan: asNew(plan), by: "workflow" } });

  const tasks = new Map<string, Task>(
    plan.tasks.map((task) => [task.task_id, { ...task, status: "pending" }]),
  );
  const order = inOrder(plan);
  const outputs: Record<string, Json> = {};
  const busy = new Map<string, string>();
  const team = digestOf(run, crew.agents);
  const sinks = order.filter((id) => ![...tasks.values()].some((task) => task.dependencies.includes(id)));
  const parallel = crew.process === "parallel" ? crew.max_parallel : 1;
  const children = new Children<AgentAnswer>();
  let failure: RunError | null = null;

  const move = (
    id: string,
    to: TaskStatus,
    more: { assigned_agent?: string; output?: Json; error?: RunError } = {},
  ) => {
    const task = tasks.get(id)!;
    run.emit({ type: "task_status_changed", task_id: id, payload: { from: task.status, to, ...more } });
    task.status = to;
  };
  const settled = (id: string) => ["completed", "skipped"].includes(tasks.get(id)!.status);
  const lost = (id: string) => ["failed", "blocked"].includes(tasks.get(id)!.status);

  const begin = (): void => {
    for (const id of order) {
      if (children.size >= parallel) return;
      const task = tasks.get(id)!;
      if (task.status !== "pending") continue;
      if (task.dependencies.some(lost)) {
        move(id, "blocked");
        continue;
      }
      if (!task.dependencies.every(settled)) {
        // One after another keeps the order of the plan, even where a later task could begin already.
        if (parallel === 1 && children.size > 0) return;
        continue;
      }
      if (
        task.condition &&
        !evaluateCondition(task.condition, { state: { ...run.state, ...outputs }, input: run.input }).value
      ) {
        move(id, "skipped");
        continue;
      }
      const agent = agentFor(task, crew.agents, busy);
      if (!agent) {
        const error = unroutable(task, crew.agents);
        move(id, "failed", { error });
        failure ??= error;
        if (crew.on_task_failure === "stop") return;
        continue;
      }
      busy.set(id, agent.agent_id);
      move(id, "in_progress", { assigned_agent: agent.agent_id });
      const last = sinks.length === 1 && sinks[0] === id;
      children.add(
        id,
        runAgent(run, {
          agent_id: agent.agent_id,
          task_id: id,
          required_role: agent.role_name,
          task: task.description,
          ...(task.expected_output ? { expected_output: task.expected_output } : {}),
          ...(task.output_schema ? { output_schema: task.output_schema } : {}),
          ...(agent.llm_config ? { llm_config: agent.llm_config } : {}),
          ...(agent.backstory ? { backstory: agent.backstory } : {}),
          max_iterations: agent.max_iterations,
          output_keys: last && request.output_keys.length > 1 ? request.output_keys : [id],
          inputs: { goal: request.description, ...run.input },
          earlier: contextOf(task, order, outputs, parallel === 1),
          ...(team ? { team } : {}),
        }),
      );
    }
  };

  for (;;) {
    if (!(failure && crew.on_task_failure === "stop")) begin();
    if (children.size === 0) break;
    const done = yield* children.next();
    busy.delete(done.id);
    if (done.ok) {
      pay(done.value);
      const own = done.value.output;
      const output: Json = Object.hasOwn(own, done.id) && Object.keys(own).length === 1 ? own[done.id]! : own;
      outputs[done.id] = output;
      move(done.id, "completed", { output });
    } else {
      const error = errorOf(done.error);
      failure ??= error;
      move(done.id, "failed", { error });
    }
  }

  const finished = [...tasks.values()].filter(({ status }) => status === "completed");
  if (failure && (crew.on_task_failure === "stop" || finished.length === 0)) {
    const cause: RunError = failure;
    throw new NodeFailure(cause.code, `The crew stopped: ${cause.message}`, {
      retryable: cause.retryable,
      user_action: cause.user_action,
    });
  }
  if (failure)
    run.warn("CREW_PARTIAL", `Some tasks of ${run.node.name || run.node.id} failed: ${failure.message}`);
  return { output: crewOutput(request.output_keys, sinks, outputs, finished), ...spent };
}

/** Least busy agent of the role, ties by the order of the crew; an assigned agent wins. */
function agentFor(
  task: Task,
  agents: readonly AgentConfig[],
  busy: ReadonlyMap<string, string>,
): AgentConfig | undefined {
  const wanted = task.assigned_agent ?? undefined;
  const named = wanted === undefined ? undefined : agents.find((agent) => agent.agent_id === wanted);
  if (named) return named;
  const role = task.required_role ?? wanted;
  if (role === undefined) return undefined;
  const load = (agent: AgentConfig) => [...busy.values()].filter((id) => id === agent.agent_id).length;
  return agents
    .filter((agent) => agent.role_name === role)
    .reduce<AgentConfig | undefined>(
      (best, agent) => (best && load(best) <= load(agent) ? best : agent),
      undefined,
    );
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

/** What a task is told of earlier ones: its dependencies' results, else the previous task's. */
function contextOf(
  task: Task,
  order: readonly string[],
  outputs: Readonly<Record<string, Json>>,
  sequential: boolean,
): JsonObject {
  const pick = (ids: readonly string[]) =>
    Object.fromEntries(ids.filter((id) => Object.hasOwn(outputs, id)).map((id) => [id, outputs[id]!]));
  if (task.dependencies.length > 0 || !sequential) return pick(task.dependencies);
  const before = order[order.indexOf(task.task_id) - 1];
  return before === undefined ? {} : pick([before]);
}

/** Dependencies first, otherwise as written. */
function inOrder(plan: ExecutionPlan): string[] {
  const order: string[] = [];
  const rest = [...plan.tasks];
  while (rest.length > 0) {
    const at = rest.findIndex((task) => task.dependencies.every((id) => order.includes(id)));
    order.push(rest.splice(Math.max(at, 0), 1)[0]!.task_id);
  }
  return order;
}

/** A plan from a file may say how far it once was; a run begins it anew. */
function asNew(plan: ExecutionPlan): ExecutionPlan {
  return {
    ...plan,
    overall_status: "pending",
    tasks: plan.tasks.map(({ output: _output, error_message: _error, ...task }) => ({
      ...task,
      status: "pending" as const,
    })),
  };
}

function digestOf(run: NodeRun, agents: readonly AgentConfig[]): string {
  if (agents.length < 2) return "";
  const lines = agents.map((agent) =>
    `- ${agent.agent_id} (${agent.role_name}): ${run.findRole(agent.role_name)?.description ?? ""}`.trimEnd(),
  );
  return `Your coworkers and you:\n${lines.join("\n")}`;
}

/** One value per output key: a task of that name, else what the last tasks gave. */
function crewOutput(
  keys: readonly string[],
  sinks: readonly string[],
  outputs: Readonly<Record<string, Json>>,
  finished: readonly Task[],
): JsonObject {
  const ends = sinks.filter((id) => Object.hasOwn(outputs, id));
  const fallback = ends.length > 0 ? ends : finished.slice(-1).map(({ task_id }) => task_id);
  const whole: Json =
    fallback.length === 1
      ? outputs[fallback[0]!]!
      : Object.fromEntries(fallback.map((id) => [id, outputs[id]!]));
  const output: JsonObject = {};
  for (const key of keys) {
    const named = Object.hasOwn(outputs, key) ? outputs[key] : undefined;
    const inside =
      whole !== null && typeof whole === "object" && !Array.isArray(whole) && Object.hasOwn(whole, key)
        ? whole[key]
        : undefined;
    output[key] = named ?? inside ?? whole;
  }
  return output;
}
