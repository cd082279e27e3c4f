import type { z } from "zod";
import { AgentConfig, type Guardrail } from "@/server/domain/agent/role";
import { freshEdgeId, freshId, toId } from "@/server/domain/base/ids";
import { propertiesOf } from "@/server/domain/base/json-schema";
import { type Finding, Findings } from "@/server/domain/base/lenient-reader";
import { must, present } from "@/server/domain/base/must";
import { type JsonSchema, StateKey } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { memberNamed } from "@/server/domain/crew/member";
import { customPatterns, STEP_WORDS } from "@/server/domain/crew/pattern";
import type { ExecutionPlan, Task } from "@/server/domain/crew/plan";
import { freshPlan, inOrder, lastTasks, startingPlan } from "@/server/domain/crew/starting-plan";
import { syncFaultText } from "@/server/domain/crew/sync-points";
import { getNodeKind, isCrewNode } from "@/server/domain/nodes";
import { asTemplate } from "@/server/domain/text/template";
import { analyse } from "./analysis";
import { resolveSteps } from "./compile-pattern";
import { type WorkflowEdge, WorkflowGraph, type WorkflowNode } from "./graph";

export type Unfolding =
  | {
      graph: WorkflowGraph;
      /** The nodes that stand for the crew, without places; the first one is where the work comes in. */
      nodes: string[];
      /** What nodes cannot say as the crew did. */
      warnings: Finding[];
    }
  | { /** Why the crew cannot stand as nodes. */ reason: string };

type CrewNode = Extract<WorkflowNode, { node_type: "crew_task" }>;
type NodeInput = z.input<typeof WorkflowNode>;
type EdgeInput = Pick<WorkflowEdge, "source_node_id" | "target_node_id"> & Partial<WorkflowEdge>;

/**
 * A crew task as the nodes that do the same: the steps of its own pattern with a router behind each, or the tasks of
 * its plan. What led to the crew leads to the first of them, and what came after it comes after each way to an end,
 * where a node gives the crew's output keys their values. `crew`: the one that works there, also where the node only
 * names it.
 */
export function unfoldCrew(graph: WorkflowGraph, nodeId: string, crew: CrewConfig | undefined): Unfolding {
  const node = graph.nodes[nodeId];
  if (!isCrewNode(node)) return { reason: "Only a crew can be unfolded." };
  if (!crew) return { reason: "This node has no crew yet. Add its agents first." };
  const [pattern] = crew.process === "custom" ? customPatterns(crew.collaboration_patterns) : [];
  if (pattern) {
    const work = new Unfold(graph, node, crew);
    work.steps(pattern);
    return work.done();
  }
  const { plan } = node.config;
  if (crew.process !== "sequential" && crew.process !== "parallel")
    return {
      reason:
        crew.process === "custom"
          ? "This crew has no pattern yet. Add its steps first."
          : "Who is next is decided while this crew works, by its members or their votes. Only a pattern of steps, or a written plan, can stand as nodes.",
    };
  if (!plan || plan.tasks.length === 0 || crew.planning)
    return { reason: "This crew's plan is written while it works. Only a written plan can stand as nodes." };
  const work = new Unfold(graph, node, crew);
  work.tasks(plan);
  return work.done();
}

class Unfold {
  private readonly findings = new Findings();
  private readonly added = new Map<string, NodeInput>();
  private readonly edges: EdgeInput[] = [];
  private readonly takenIds: Set<string>;
  private readonly takenKeys: Set<string>;
  /** The nodes after which the work is over. */
  private readonly last: string[] = [];
  /** Where the work comes in. */
  private readonly first: string[] = [];

  constructor(
    private readonly graph: WorkflowGraph,
    private readonly node: CrewNode,
    private readonly crew: CrewConfig,
  ) {
    this.takenIds = new Set(Object.keys(graph.nodes));
    this.takenKeys = new Set(
      Object.values(graph.nodes)
        .filter(({ id }) => id !== node.id)
        .flatMap(({ input_keys, optional_input_keys, output_keys }) => [
          ...input_keys,
          ...optional_input_keys,
          ...output_keys,
        ])
        // What the crew gives is read after it; a step of that name gives it, too.
        .filter((key) => !node.output_keys.includes(key)),
    );
    for (const key of [...node.input_keys, ...node.optional_input_keys]) this.takenKeys.add(key);
  }

  private add(wanted: string, make: (id: string) => NodeInput): string {
    const id = freshId(toId(wanted) || "step", this.takenIds);
    this.takenIds.add(id);
    this.added.set(id, make(id));
    return id;
  }

  private key(wanted: string): string {
    const plain = wanted.replace(/[^A-Za-z0-9_]+/g, "_").slice(0, 56);
    const key = freshId(StateKey.safeParse(plain).success ? plain : `step_${plain}`, this.takenKeys);
    this.takenKeys.add(key);
    return key;
  }

  private connect(from: string, to: string, edge_label?: string): void {
    this.edges.push({ source_node_id: from, target_node_id: to, ...(edge_label ? { edge_label } : {}) });
  }

  /** What every node takes over from the crew's. */
  private get common() {
    const { input_keys, optional_input_keys, input_mapping, retry, on_error } = this.node;
    return { input_keys, optional_input_keys, retry, on_error, ...(input_mapping ? { input_mapping } : {}) };
  }

  /** One agent's task. `at`: where the pattern or the plan says so. */
  private task(
    wanted: string,
    agent: AgentConfig | undefined,
    role: string,
    about: {
      task: string;
      key: string;
      reads: readonly string[];
      schema: JsonSchema;
      when?: string;
      expected_output?: string | undefined;
      guardrails?: readonly Guardrail[];
    },
  ): string {
    const backstory = agent?.backstory ? `${asTemplate(agent.backstory)}\n\n` : "";
    const goal = this.node.config.plan_description_template.trim();
    const properties = propertiesOf(about.schema);
    const seconds = agent?.max_execution_time_s;
    return this.add(wanted, (id) => ({
      ...this.common,
      id,
      node_type: "agent_task",
      name: nameFrom(wanted).slice(0, 200),
      optional_input_keys: [...new Set([...this.common.optional_input_keys, ...about.reads])],
      output_keys: Object.keys(properties),
      ...(seconds === undefined || seconds === DEFAULTS.max_execution_time_s
        ? {}
        : { run_timeout_ms: seconds * 1000 }),
      config: {
        required_role: agent?.role_name ?? role,
        ...(agent ? { agent_id: agent.agent_id, max_iterations: agent.max_iterations } : {}),
        ...(agent?.agent_ref ? { agent_ref: agent.agent_ref, agent } : {}),
        ...(agent?.llm_config ? { llm_config: agent.llm_config } : {}),
        task_description_template: `${agent?.agent_ref ? "" : backstory}${about.task}${goal ? `\n\nIt is a part of this: ${goal}` : ""}`,
        output_schema: about.schema,
        ...(about.expected_output ? { expected_output: about.expected_output } : {}),
        ...(about.guardrails && about.guardrails.length > 0 ? { guardrails: [...about.guardrails] } : {}),
      },
      ...(about.when ? { when: about.when } : {}),
    }));
  }

  steps(pattern: Parameters<typeof resolveSteps>[0]): void {
    const { crew } = this;
    const placed = resolveSteps(pattern, this.findings);
    const outcomeKey = this.key("outcome");
    const keys = placed.map(({ step }) => this.key(step.step));
    const ids = placed.map(({ step, ways }, at) => {
      const agent = memberNamed(crew.agents, step.agent);
      if (!agent)
        this.findings.changed(
          `workflow.${at}.agent`,
          `"${step.agent}" is not in the crew; the node asks for a role of that name.`,
        );
      const work = { type: "string", description: STEP_WORDS.result };
      const outcome = {
        type: "string",
        enum: ways.map((way) => way.outcome),
        description: STEP_WORDS.outcome,
      };
      const key = present(keys[at], "keys[at]");
      return this.task(step.step, agent, step.agent, {
        task: `${asTemplate(step.description ?? nameFrom(step.step))}\n\nHow the step before came out: {{${outcomeKey} | default: "this is the first step"}}`,
        key,
        reads: [...keys, outcomeKey],
        schema: {
          type: "object",
          properties: { ...(ways.length > 0 ? { [outcomeKey]: outcome } : {}), [key]: work },
          required: [...(ways.length > 0 ? [outcomeKey] : []), key],
        },
      });
    });
    this.first.push(present(ids[0], "ids[0]"));
    for (const [at, { step, ways }] of placed.entries()) {
      const id = present(ids[at], "ids[at]");
      const over = (name: string) =>
        this.results(name, this.ofSteps(placed, keys, present(keys[at], "keys[at]"), name));
      if (ways.length === 0) {
        this.connect(id, over("done"));
        continue;
      }
      const router = this.add(`${id.slice(0, 56)}_router`, (own) => ({
        id: own,
        node_type: "conditional_router",
        name: `After ${nameFrom(step.step)}`.slice(0, 200),
        input_keys: [outcomeKey],
        config: {
          kind: "expression",
          conditions: ways.map(({ outcome }) => ({
            label: outcome.slice(0, 200),
            when: `state.${outcomeKey} == ${JSON.stringify(outcome)}`,
          })),
        },
      }));
      this.connect(id, router);
      for (const { outcome, target, to, failed } of ways)
        this.connect(
          router,
          to !== null ? present(ids[to], "ids[to]") : failed ? this.failure(target) : over(target),
          outcome.slice(0, 200),
        );
    }
  }

  /** The value of each output key where a pattern came to an end: as the crew gives it. */
  private ofSteps(
    placed: ReturnType<typeof resolveSteps>,
    keys: readonly string[],
    last: string,
    outcome: string,
  ): Record<string, string> {
    const named = placed.map(({ step }, at) => [step.step, present(keys[at], "keys[at]")] as const);
    const literal = JSON.stringify(outcome);
    const whole = [
      ...named.map(([name, key]) => `${keyOf(name)}: ${key === last ? `state.${key}` : orElse(key)}`),
      `"outcome": ${literal}`,
      `"summary": state.${last}`,
    ];
    return Object.fromEntries(
      this.node.output_keys.map((output): [string, string] => {
        if (output === "outcome") return [output, literal];
        if (output === "summary" || output === "result") return [output, `state.${last}`];
        const own = named.find(([name]) => name === output)?.[1];
        if (own) return [output, own === last ? `state.${own}` : orElse(own, `state.${last}`)];
        return [output, `{${whole.join(", ")}}`];
      }),
    );
  }

  tasks(written: ExecutionPlan): void {
    const { crew } = this;
    // With the tasks where groups bring their work together.
    const { plan, faults } = startingPlan(freshPlan(written), crew);
    for (const fault of faults) this.findings.changed("crew.collaboration_patterns", syncFaultText(fault));
    const order = inOrder(plan.tasks);
    const keys = new Map(order.map(({ task_id }) => [task_id, this.key(task_id)]));
    const ids = new Map<string, string>();
    for (const [at, task] of order.entries()) {
      const before = order[at - 1];
      const reads =
        task.dependencies.length > 0
          ? task.dependencies
          : crew.process === "sequential" && before
            ? [before.task_id]
            : [];
      const key = must(keys, task.task_id);
      const agent = this.agentOf(task);
      const id = this.task(task.task_id, agent, task.required_role ?? task.assigned_agent ?? "", {
        task: asTemplate(task.description),
        key,
        reads: reads.flatMap((other) => keys.get(other) ?? []),
        schema: {
          type: "object",
          properties: { [key]: task.output_schema ?? { type: "string" } },
          required: [key],
        },
        ...(task.condition ? { when: task.condition } : {}),
        expected_output: task.expected_output,
        guardrails: task.guardrails,
      });
      ids.set(task.task_id, id);
      const node = must(this.added, id);
      this.added.set(id, {
        ...node,
        name: (task.description.split("\n")[0] ?? "").slice(0, 60),
      });
      const after = crew.process === "sequential" ? (before ? [before.task_id] : []) : task.dependencies;
      if (after.length === 0) this.first.push(id);
      for (const other of after) {
        const from = ids.get(other);
        if (from) this.connect(from, id);
      }
      if (task.condition && key !== task.task_id)
        this.findings.changed(
          `plan.tasks.${at}.condition`,
          `Its result is now called "${key}"; look at conditions.`,
        );
      if (task.human_review)
        this.findings.dropped(
          `plan.tasks.${at}.human_review`,
          `Nobody is asked to look at the result of "${task.task_id}".`,
        );
    }
    if (plan.human_intervention_points.length > 0 || plan.execution_mode !== "autonomous")
      this.findings.dropped("plan.execution_mode", "Nobody is asked before or after a task any more.");
    if (plan.success_criteria.length > 0)
      this.findings.dropped(
        "plan.success_criteria",
        "The success criteria are not checked at the end any more.",
      );
    if (crew.on_task_failure !== "stop")
      this.findings.changed(
        "crew.on_task_failure",
        "A task that fails ends the run, unless you set another way under “When it fails”.",
      );
    const sinks = crew.process === "sequential" ? order.slice(-1) : lastTasks(order);
    const shown = sinks.map(({ task_id }) => [task_id, must(keys, task_id)] as const);
    const whole =
      shown.length === 1
        ? orElse(present(shown[0], "shown[0]")[1])
        : `{${shown.map(([id, key]) => `${keyOf(id)}: ${orElse(key)}`).join(", ")}}`;
    const set = Object.fromEntries(
      this.node.output_keys.map((output) => [
        output,
        keys.has(output) &&
        (this.node.output_keys.length > 1 || sinks.some(({ task_id }) => task_id === output))
          ? orElse(must(keys, output))
          : whole,
      ]),
    );
    const over = this.results("Result", set);
    for (const { task_id } of sinks) this.connect(must(ids, task_id), over);
  }

  private agentOf(task: Task): AgentConfig | undefined {
    const { agents } = this.crew;
    const wanted = task.assigned_agent ?? undefined;
    const named = agents.find(({ agent_id }) => agent_id === wanted);
    if (named) return named;
    const role = task.required_role ?? wanted;
    const fitting = agents.filter(({ role_name }) => role_name === role);
    if (fitting.length > 1)
      this.findings.changed(
        `plan.tasks.${task.task_id}`,
        `"${task.task_id}" is for any of ${fitting.map(({ agent_id }) => agent_id).join(", ")}; ${present(fitting[0], "fitting[0]").agent_id} does it now.`,
      );
    if (fitting.length === 0)
      this.findings.changed(
        `plan.tasks.${task.task_id}`,
        `Nobody in the crew is "${role ?? "?"}"; choose a role for it.`,
      );
    return fitting[0];
  }

  /** Where the work is over: gives the crew's output keys their values. */
  private results(name: string, set: Record<string, string>): string {
    const id = this.add(`${this.node.id.slice(0, 40)}_${name}`, (own) => ({
      id: own,
      node_type: "transform",
      name: nameFrom(name).slice(0, 200),
      output_keys: Object.keys(set),
      ...(this.node.output_mapping ? { output_mapping: this.node.output_mapping } : {}),
      config: { set },
    }));
    this.last.push(id);
    return id;
  }

  /** Where the work has failed: the run ends there. */
  private failure(name: string): string {
    return this.add(`${this.node.id.slice(0, 40)}_${name}`, (own) => ({
      id: own,
      node_type: "end",
      name: nameFrom(name).slice(0, 200),
      config: { status: "ERROR" },
    }));
  }

  done(): Unfolding {
    const { graph, node, crew, first, last } = this;
    for (const agent of crew.agents) this.tellOfAgent(agent);
    if (node.when) this.findings.dropped("when", `The condition "${node.when}" of the crew is not kept.`);
    const [entry] = first;
    if (entry !== undefined) {
      const { join } = node;
      for (const id of first) this.added.set(id, { ...must(this.added, id), join });
    }
    const known = graph.edges.filter(
      ({ source_node_id, target_node_id }) => source_node_id !== node.id && target_node_id !== node.id,
    );
    const agents = [...this.added].flatMap(([id, { node_type }]) =>
      getNodeKind(node_type).works === "agent" ? [id] : [],
    );
    const outer = graph.edges.flatMap((edge): EdgeInput[] => {
      const comes = edge.target_node_id === node.id;
      if (!comes && edge.source_node_id !== node.id) return [];
      const from =
        edge.source_node_id !== node.id ? [edge.source_node_id] : edge.kind === "error" ? agents : last;
      const to = comes ? first : [edge.target_node_id];
      const { id: _id, ...rest } = edge;
      return from.flatMap((source_node_id) =>
        to.map((target_node_id) => ({ ...rest, source_node_id, target_node_id })),
      );
    });
    const edges: EdgeInput[] = [...known];
    for (const edge of [...outer, ...this.edges])
      edges.push({ ...edge, id: freshEdgeId(edges.map(({ id }) => present(id, "id"))) });
    const nodes = Object.fromEntries(
      Object.entries(graph.nodes).flatMap(([id, other]): [string, NodeInput][] =>
        id === node.id ? [...this.added] : [[id, other]],
      ),
    );
    const parsed = WorkflowGraph.parse({
      ...graph,
      nodes,
      edges,
      ...(graph.start_node_id === node.id && entry ? { start_node_id: entry } : {}),
    });
    // As many rounds as the crew may have steps.
    for (const id of analyse(parsed).loops.keys()) {
      const header = parsed.nodes[id];
      if (header && this.added.has(id)) parsed.nodes[id] = { ...header, max_iterations: crew.max_rounds };
    }
    return { graph: parsed, nodes: [...this.added.keys()], warnings: this.findings.all() };
  }

  /** What an agent of a crew can be told and a node cannot. */
  private tellOfAgent(agent: AgentConfig): void {
    if (agent.agent_ref) return;
    const lost = LOST.filter(([key]) => JSON.stringify(agent[key]) !== JSON.stringify(DEFAULTS[key]));
    if (lost.length > 0)
      this.findings.dropped(
        `agents.${agent.agent_id}`,
        `Of ${agent.agent_id}, nodes do not keep: ${lost.map(([, name]) => name).join(", ")}.`,
      );
  }
}

const DEFAULTS = AgentConfig.parse({ agent_id: "agent", role_name: "" });
const LOST = [
  ["allow_delegation", "delegation"],
  ["tool_protocol", "how it calls tools"],
  ["max_rpm", "its rate limit"],
  ["tool_concurrency", "how many tools at once"],
  ["context", "when its conversation is shortened"],
  ["memory_scopes", "its scopes of memory"],
] as const satisfies [keyof AgentConfig, string][];

const orElse = (key: string, other = '""') => `has(state.${key}) ? state.${key} : ${other}`;

/** A step's name as a key in an expression; the one name that no object may have there gets a line more. */
const keyOf = (name: string): string => JSON.stringify(name === "__proto__" ? `${name}_` : name);

/** `code_review` -> `Code review`. */
function nameFrom(name: string): string {
  const plain = name.replace(/[_-]+/g, " ").trim() || name;
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
