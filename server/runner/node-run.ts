import type { Durable, Flow, StepScope } from "@/server/domain/durable";
import type { NewEvent } from "@/server/domain/events";
import { evaluateCondition, evaluateExpression } from "@/server/domain/expression";
import { stateProperties, type WorkflowNode } from "@/server/domain/graph";
import { getNodeKind, type NodeContext } from "@/server/domain/nodes";
import type {
  AgentAnswer,
  AgentRequest,
  ChooseRequest,
  CrewAnswer,
  CrewRequest,
} from "@/server/domain/nodes/define";
import type { RaisableLimit, RunConfig } from "@/server/domain/outcome";
import type { RoleDefinition } from "@/server/domain/role";
import type { RunState } from "@/server/domain/run";
import { renderTemplate } from "@/server/domain/template";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/values";
import { type ModelAnswer, ModelError, type ModelRequest } from "@/server/llm/model";
import { chooseLabel } from "./agent/choose";
import { runAgent } from "./agent/loop";
import { runCrew } from "./crew/run-crew";
import type { Interpreter } from "./execute";
import { waitFor } from "./flow";

/** One attempt of one node: what its behaviour may reach. */
export class NodeRun implements NodeContext {
  constructor(
    private readonly interpreter: Interpreter,
    readonly activationId: string,
    readonly node: WorkflowNode,
    readonly attempt: number,
    readonly input: JsonObject,
  ) {}

  get s(): RunState {
    return this.interpreter.s;
  }
  get state(): Readonly<Record<string, Json>> {
    return this.s.state;
  }
  get runInput(): JsonObject {
    return this.s.input;
  }
  get config(): RunConfig {
    return this.s.run.config;
  }
  get stateProperties(): Readonly<Record<string, JsonSchema>> {
    return stateProperties(this.s.graph);
  }

  get exits(): NodeContext["exits"] {
    const edges = this.interpreter.a.outgoing.get(this.node.id) ?? [];
    return edges
      .filter((edge) => edge.kind === "normal")
      .map((edge) => {
        const target = this.s.graph.nodes[edge.target_node_id]!;
        const name = target.name || target.id;
        return {
          edge_id: edge.id,
          label: edge.edge_label || null,
          isDefault: edge.is_default,
          target: target.id,
          description: target.description
            ? `${name}: ${target.description}`
            : `${name} (${getNodeKind(target.node_type).title})`,
        };
      });
  }

  /** A key of this attempt, unique in the run. */
  private key(local: string): string {
    return `${this.activationId}/${this.attempt}/${local}`;
  }

  evaluate(expression: string): Json {
    return evaluateExpression(expression, { state: this.state, input: this.input });
  }
  holds(condition: string): { value: boolean; note?: string } {
    return evaluateCondition(condition, { state: this.state, input: this.input });
  }
  render(template: string): string {
    return renderTemplate(template, { state: this.state, input: this.input });
  }

  step(key: string, work: (scope: { abort: AbortSignal }) => Promise<Json> | Json): Flow<Json> {
    return waitFor(this.interpreter.context.step(this.key(key), work));
  }

  *sleep(key: string, ms: number): Flow<void> {
    const handle = this.interpreter.context.sleep(this.key(key), ms);
    this.emit({ type: "node_waiting", payload: { for: "timer", until: this.interpreter.now + ms } });
    yield [handle];
    this.emit({ type: "timer_fired", payload: {} });
  }

  *pause(key: string, ms: number): Flow<void> {
    const handle: Durable = this.interpreter.context.sleep(this.key(key), ms);
    yield [handle];
  }

  *signal(name: string): Flow<Json> {
    const handle = this.interpreter.context.signal(this.key(name));
    this.emit({ type: "node_waiting", payload: { for: "signal", name } });
    const value = yield* waitFor(handle);
    this.emit({ type: "timer_fired", payload: {} });
    return value;
  }

  agent(request: AgentRequest): Flow<AgentAnswer> {
    const idle = this.node.idle_timeout_ms;
    return runAgent(this, {
      ...request,
      agent_id: request.agent_id ?? request.required_role,
      ...(idle ? { llm_config: { idle_timeout_ms: idle, ...request.llm_config } } : {}),
    });
  }
  crew(request: CrewRequest): Flow<CrewAnswer> {
    return runCrew(this, request);
  }
  choose(request: ChooseRequest): Flow<{ label: string; reason: string; confidence: number | null }> {
    return chooseLabel(this, request);
  }

  warn(code: string, message: string): void {
    this.emit({ type: "warning", payload: { code, message } });
  }

  /** Records an event of this activation. */
  emit(event: NewEvent): void {
    this.interpreter.apply({ node_id: this.node.id, activation_id: this.activationId, ...event });
  }

  findRole(name: string): RoleDefinition | undefined {
    return this.s.roles.find((role) => role.name === name);
  }

  /** The limit that forbids another model call now, if any. */
  limitBeforeCall(): RaisableLimit | null {
    return this.interpreter.limitBeforeCall();
  }

  /** Waits until that limit is raised. */
  hold(limit: RaisableLimit): Flow<void> {
    return this.interpreter.hold(this.activationId, limit);
  }

  /** One attempt at a model call, as a step of its own. Throws StepFailed that carries the ModelError. */
  *call(key: string, request: ModelRequest): Flow<ModelAnswer> {
    const { models } = this.interpreter.effects;
    const answer = yield* waitFor(
      this.interpreter.context.step(this.key(key), async (scope: StepScope) => {
        try {
          const done = await models.complete(request, {
            signal: scope.abort,
            delta: (channel, offset, text) =>
              scope.live({ type: "llm_delta", call_id: request.call_id, channel, offset, text }),
          });
          return done as unknown as Json;
        } catch (error) {
          if (error instanceof ModelError) throw Object.assign(error, { detail: error.toDetail() });
          throw error;
        }
      }),
    );
    return answer as unknown as ModelAnswer;
  }
}
