import { RunConfig } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { CrewProcess } from "@/server/domain/crew/crew";
import { ExecutionPlan, type Task, type TaskStatus } from "@/server/domain/crew/plan";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { agentKey } from "@/server/domain/run";
import type { CallPurpose, NewEvent, Payloads, RunEvent } from "@/server/domain/run/events";
import type { ToolStatus } from "@/server/domain/tool/tool";

export interface Member {
  agent_id: string;
  role_name: string;
}

export interface CrewSetup {
  title: string;
  process: CrewProcess;
  goal: string;
  members: readonly Member[];
  manager?: string;
}

/** A tool call of a story, with what came of it; without `output` and `error` it is still under way. */
export interface ToolScene {
  id: string;
  name: string;
  args: JsonObject;
  output?: Json;
  error?: string;
  status?: ToolStatus;
  artifact_id?: string;
  repaired?: boolean;
  simulated?: boolean;
}

const NODE = "crew";
export const CREW_ACTIVATION = `${NODE}#1`;

/** Writes the log of a run whose one crew task is the story told. */
export class Story {
  readonly #events: { event: NewEvent; ts: number }[] = [];
  #ts = 1_700_000_000_000;
  #calls = 0;
  #iterations = 0;
  readonly #cast: CrewSetup;

  constructor(setup: CrewSetup) {
    this.#cast = setup;
    const { members, process, title, goal, manager } = setup;
    const graph = WorkflowGraph.parse({
      graph_id: "crew_story",
      nodes: {
        start: { id: "start", name: "Request", node_type: "start", output_keys: ["goal"] },
        [NODE]: {
          id: NODE,
          name: title,
          node_type: "crew_task",
          input_keys: ["goal"],
          output_keys: ["result"],
          config: {
            task_description_template: "{{ goal }}",
            crew: {
              crew_id: "crew",
              process,
              agents: members,
              ...defined({ manager: manager ? { agent_id: manager } : undefined }),
            },
          },
        },
        end: { id: "end", name: "Result", node_type: "end", input_keys: ["result"] },
      },
      edges: [
        { id: "e0", source_node_id: "start", target_node_id: NODE },
        { id: "e1", source_node_id: NODE, target_node_id: "end" },
      ],
    });
    this.#plain("run_created", {
      graph,
      roles: [],
      workflow_id: "wf_story",
      workflow_name: title,
      input: { goal },
      config: RunConfig.parse({}),
      trigger: "test",
      provider_summary: { name: "Test models", model: "scripted-1", simulated: false },
    });
    this.#plain("run_started", {});
    this.#plain("state_initialized", { state: { goal }, defaults_applied: [] });
    this.#onNode("start", "node_ready", { consumes: [] });
    this.#onNode("start", "node_started", { attempt: 1, input: {} });
    this.#onNode("start", "node_completed", { output: { goal }, written_keys: [] });
    this.#add({ type: "edge_taken", node_id: NODE, activation_id: "start#1", payload: { edge_id: "e0" } });
    this.#onNode(NODE, "node_ready", { consumes: ["e0"] });
    this.#onNode(NODE, "node_started", { attempt: 1, input: { goal } });
    this.emit("crew_started", {
      process,
      goal,
      members: [...members],
      ...defined({ manager: manager || undefined }),
    });
  }

  /** Any event of the crew, from the agent named where one is. */
  emit<T extends NewEvent["type"]>(
    type: T,
    payload: Payloads[T],
    by: { agent_id?: string; task_id?: string; call_id?: string } = {},
  ): this {
    this.#add({ type, payload, node_id: NODE, activation_id: CREW_ACTIVATION, ...by } as NewEvent);
    return this;
  }

  /** An agent takes up its work. */
  begins(
    agent_id: string,
    options: { task_id?: string; tools?: string[]; delegate_level?: number; parent?: string } = {},
  ): this {
    const { task_id, ...rest } = options;
    const role_name = this.#cast.members.find((one) => one.agent_id === agent_id)?.role_name ?? agent_id;
    const by = { agent_id, ...defined({ task_id: task_id || undefined }) };
    return this.emit(
      "agent_started",
      {
        role_name,
        output_keys: [],
        limits: { max_iterations: 10 },
        ...rest,
        ...defined({ task_id: task_id || undefined }),
      },
      by,
    )
      .emit(
        "message_added",
        { message: { role: "system", content: `You are ${role_name}.` }, origin: "system" },
        by,
      )
      .emit("message_added", { message: { role: "user", content: this.#cast.goal }, origin: "template" }, by);
  }

  /** An agent thinks and answers, perhaps by calling tools. `cost` null: the price is unknown. */
  thinks(
    agent_id: string,
    content: string,
    options: {
      task_id?: string;
      tools?: ToolScene[];
      model?: string;
      cost?: number | null;
      tokens?: number;
      purpose?: CallPurpose;
      isRunning?: boolean;
    } = {},
  ): this {
    const {
      task_id,
      tools = [],
      model = "scripted-1",
      cost = 0.0021,
      tokens = 640,
      purpose = "task",
    } = options;
    const by = { agent_id, ...defined({ task_id: task_id || undefined }) };
    const call_id = `call_${++this.#calls}`;
    this.emit("iteration_started", { global_iteration: this.#iterations++, local_iteration: 1 }, by);
    this.emit("llm_call_started", { purpose, attempt: 1, message_count: 2, model }, { ...by, call_id });
    if (options.isRunning) return this;
    this.emit(
      "llm_call_completed",
      {
        content,
        ...(tools.length > 0
          ? {
              tool_calls: tools.map(({ id, name, args, repaired }) => ({
                id,
                tool_name: name,
                args,
                ...defined({ repaired: repaired || undefined }),
              })),
              tool_protocol: "native" as const,
            }
          : {}),
        finish_reason: tools.length > 0 ? "tool_calls" : "stop",
        provider: "Test models",
        model,
        simulated: false,
        usage: {
          input_tokens: Math.round(tokens * 0.8),
          output_tokens: Math.round(tokens * 0.2),
          cached_input_tokens: 0,
          reasoning_tokens: 0,
          requests: 1,
          estimated: false,
        },
        cost_usd: cost,
        cost_source: cost === null ? "unknown" : "table",
        latency_ms: 1_340,
        ttft_ms: 210,
        response_format: "text",
      },
      { ...by, call_id },
    );
    for (const tool of tools) this.#tool(tool, by, call_id);
    return this;
  }

  ends(agent_id: string, status: Payloads["agent_finished"]["status"] = "completed", task_id?: string): this {
    return this.emit(
      "agent_finished",
      { status, usage: NO_USAGE_HERE, cost_usd: 0 },
      { agent_id, ...defined({ task_id: task_id || undefined }) },
    );
  }

  plan(tasks: (Partial<Task> & Pick<Task, "task_id" | "description">)[], by: string): this {
    return this.emit("plan_created", {
      plan: ExecutionPlan.parse({ user_instruction: this.#cast.goal, tasks }),
      by,
    });
  }

  task(task_id: string, from: TaskStatus, to: TaskStatus, assigned_agent?: string): this {
    return this.emit(
      "task_status_changed",
      { from, to, ...defined({ assigned_agent: assigned_agent || undefined }) },
      { task_id },
    );
  }

  /** The crew, its node and the run come to their end. */
  close(result: string): this {
    this.emit("crew_finished", { status: "completed" });
    this.emit("state_patched", { set: { result }, writer: CREW_ACTIVATION });
    this.#onNode(NODE, "node_completed", { output: { result }, written_keys: ["result"] });
    this.#add({
      type: "edge_taken",
      node_id: "end",
      activation_id: CREW_ACTIVATION,
      payload: { edge_id: "e1" },
    });
    this.#onNode("end", "node_ready", { consumes: ["e1"] });
    this.#onNode("end", "node_started", { attempt: 1, input: { result } });
    this.#onNode("end", "node_completed", { output: { result }, written_keys: [] });
    this.#plain("run_finished", {
      final_status: "COMPLETED",
      reason_code: "END_REACHED",
      output: { result },
      warnings: [],
    });
    return this;
  }

  get events(): readonly RunEvent[] {
    return this.#events.map(({ event, ts }, at) => ({ ...event, seq: at + 1, ts }));
  }

  #tool(scene: ToolScene, by: { agent_id: string; task_id?: string }, by_call: string) {
    const { id: call_id, name: tool_name, args, repaired, ...result } = scene;
    if (scene.status === 403 || scene.status === 404)
      this.emit(
        "tool_call_refused",
        {
          tool_name,
          args,
          status_code: scene.status,
          reason: scene.error ?? "It is not permitted.",
          by_call,
        },
        { ...by, call_id },
      );
    else
      this.emit(
        "tool_call_started",
        {
          tool_name,
          args,
          protocol: "native",
          risk: "LOW",
          by_call,
          ...defined({ repaired: repaired || undefined }),
        },
        { ...by, call_id },
      );
    if (result.output === undefined && result.error === undefined) return;
    if (scene.status !== 403 && scene.status !== 404) {
      const { output, error, status, artifact_id, simulated } = result;
      this.emit(
        "tool_call_completed",
        {
          tool_name,
          status_code: status ?? 200,
          latency_ms: 380,
          ...defined({
            output,
            error,
            artifact_id: artifact_id || undefined,
            simulated: simulated || undefined,
          }),
        },
        { ...by, call_id },
      );
    }
    this.emit(
      "message_added",
      {
        message: {
          role: "tool",
          content: result.error ?? JSON.stringify(result.output),
          tool_call_id: call_id,
          name: tool_name,
        },
        origin: "tool",
      },
      by,
    );
  }

  #onNode<T extends NewEvent["type"]>(node_id: string, type: T, payload: Payloads[T]) {
    this.#add({ type, payload, node_id, activation_id: `${node_id}#1` } as NewEvent);
  }

  #plain<T extends NewEvent["type"]>(type: T, payload: Payloads[T]) {
    this.#add({ type, payload } as NewEvent);
  }

  #add(event: NewEvent) {
    this.#ts += 400;
    this.#events.push({ event, ts: this.#ts });
  }
}

const NO_USAGE_HERE = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  requests: 0,
  estimated: false,
};

/** The key of an agent of the story. */
export const keyOf = (agent_id: string, task_id?: string) => agentKey(CREW_ACTIVATION, agent_id, task_id);
