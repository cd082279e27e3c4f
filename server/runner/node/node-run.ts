import { z } from "zod";
import type { RaisableLimit, RunConfig } from "@/server/domain/agent/outcome";
import {
  type ConfirmationPolicy,
  type LlmConfig,
  llmOver,
  type RoleDefinition,
} from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type {
  Durable,
  DurableContext,
  Flow,
  StepRequest,
  StepScope,
  StepWork,
} from "@/server/domain/base/durable";
import { asJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { writtenRules } from "@/server/domain/graph/own-rules";
import { getNodeKind, type NodeContext, NodeFailure } from "@/server/domain/nodes";
import type {
  AgentAnswer,
  AgentRequest,
  ChooseRequest,
  CrewAnswer,
  CrewRequest,
  ItemOutcome,
  MapRequest,
} from "@/server/domain/nodes/define";
import type { RunState } from "@/server/domain/run";
import type { NewEvent, Payloads } from "@/server/domain/run/events";
import { SettingsDamaged } from "@/server/domain/run/quarantine";
import { patch } from "@/server/domain/run/schedule/state-write";
import { evaluateCondition, evaluateExpression } from "@/server/domain/text/expression/expression";
import { renderTemplate, type WrittenValue } from "@/server/domain/text/template/template";
import type { OwnRule } from "@/server/domain/tool/own-rule";
import type { NodeAnswer, NodeQuestion } from "@/server/domain/tool/person-question";
import type { SecretUse } from "@/server/domain/tool/secret";
import type { ToolOutput } from "@/server/domain/tool/tool";
import { type ModelAnswer, ModelError, type ModelRequest } from "@/server/llm/model";
import type { Context } from "@/server/tools/policy";
import { CODE_IS_OFF, failureOf } from "@/server/tools/sandbox/custom-tool";
import type { CallsStep, ProgramWithCalls } from "@/server/tools/sandbox/sandbox";
import { chooseLabel } from "../agent/choose";
import { runAgent } from "../agent/loop";
import { runChild } from "../children/child-run";
import { calledTarget, mapItems } from "../children/map-items";
import { runCrew } from "../crew/run-crew";
import type { MessageEdit } from "../fork/apply-fork";
import { signalKey } from "../interpreter/commands";
import type { Engine } from "../interpreter/engine";
import type { Place } from "../interpreter/places";
import { INLINE, NOTHING_TO_DO } from "../interpreter/steps";
import { askPerson, readNodeAnswer } from "../people/ask";
import { MODEL_CALL, makeCall } from "../replay/make-call";
import { type GrantedTools, modelAnswerFrom } from "../replay/read-result";
import { modelRequest } from "../replay/requests";
import { waitFor } from "./flow";
import { isApproved, judgedContext, policiesOf } from "./judged-context";
import {
  callTool,
  endTask,
  forgetTask,
  grantedTools,
  matches,
  noteEffects,
  runCode,
  writePlanFile,
} from "./node-calls";
import { callToolOfNode } from "./node-tool";
import type {
  About,
  CheaperModel,
  CrewRuntime,
  Effects,
  PersonQuestion,
  Reused,
  ToolCaller,
  ToolInvocation,
} from "./ports";

const KnownModel = z.object({ provider_id: z.string(), model: z.string(), name: z.string() });
/** One attempt of one node: what its behaviour may reach. */
export class NodeRun implements NodeContext, CrewRuntime {
  /** The shared work budget of all its expressions and templates. */
  private readonly work = new Work();

  constructor(
    private readonly interpreter: Engine,
    readonly activationId: string,
    readonly node: WorkflowNode,
    readonly attempt: number,
    readonly input: JsonObject,
  ) {}

  get s(): RunState {
    return this.interpreter.log.s;
  }
  get state(): Readonly<Record<string, Json>> {
    return this.s.state;
  }
  get effects(): Effects {
    return this.interpreter.effects;
  }
  get drawn(): WorkflowGraph {
    return this.interpreter.log.a.graph;
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

  /** When the present answer was recorded, Unix time in milliseconds. */
  get now(): number {
    return this.interpreter.log.at;
  }

  get exits(): NodeContext["exits"] {
    const edges = this.interpreter.log.a.outgoing.get(this.node.id) ?? [];
    return edges
      .filter((edge) => edge.kind === "normal")
      .map((edge) => {
        const target = must(this.s.graph.nodes, edge.target_node_id);
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
  keyOf(local: string): string {
    return `${this.activationId}/${this.attempt}/${local}`;
  }

  private get scope() {
    return { state: this.state, input: this.input, now: this.now };
  }

  evaluate(expression: string): Json {
    return evaluateExpression(expression, this.scope, this.work);
  }
  holds(condition: string): { value: boolean; note?: string } {
    return evaluateCondition(condition, this.scope, this.work);
  }
  render(template: string, write?: (value: WrittenValue) => string): string {
    // For a model it is the same text once more, which counts for itself.
    return renderTemplate(template, this.scope, write ? new Work() : this.work, write);
  }

  step(key: string, work: StepWork): Flow<Json> {
    return waitFor(this.interpreter.steps.step(this.keyOf(key), work));
  }

  *sleep(key: string, ms: number): Flow<void> {
    const handle = this.interpreter.context.sleep(this.keyOf(key), ms);
    this.emit({ type: "node_waiting", payload: { for: "timer", until: this.interpreter.log.at + ms } });
    yield [handle];
    this.emit({ type: "timer_fired", payload: {} });
  }

  *pause(key: string, ms: number): Flow<void> {
    const handle: Durable = this.interpreter.context.sleep(this.keyOf(key), ms);
    yield [handle];
  }

  *signal(name: string, timeout_ms?: number): Flow<Json> {
    const kept = this.s.signals[name]?.[0];
    if (kept) {
      this.emit({ type: "signal_taken", payload: { name } });
      return kept.data;
    }
    const { context, log } = this.interpreter;
    // A command of the run answers it, which names no key.
    const handle = context.signal(signalKey(this.activationId));
    const over = timeout_ms === undefined ? null : context.sleep(this.keyOf("signal/timeout"), timeout_ms);
    const until = timeout_ms === undefined ? {} : { until: log.at + timeout_ms };
    this.emit({ type: "node_waiting", payload: { for: "signal", name, ...until } });
    const { key, result } = yield over ? [handle, over] : [handle];
    this.emit({ type: "timer_fired", payload: {} });
    if (key === over?.key)
      throw new NodeFailure("TIMEOUT", `No one sent the signal "${name}" in time.`, { user_action: "retry" });
    return result.ok ? result.value : null;
  }

  agent(request: AgentRequest): Flow<AgentAnswer> {
    const { config } = request;
    const turns = request.max_iterations ?? config?.max_iterations;
    const llm = llmOver(config?.llm_config, request.llm_config);
    const idle = this.node.idle_timeout_ms;
    return runAgent(this, {
      ...request,
      agent_id: request.agent_id ?? config?.agent_id ?? request.required_role,
      ...(turns ? { max_iterations: turns } : {}),
      ...(idle || llm ? { llm_config: { ...defined({ idle_timeout_ms: idle || undefined }), ...llm } } : {}),
    });
  }
  crew(request: CrewRequest): Flow<CrewAnswer> {
    return runCrew(this, request);
  }
  choose(request: ChooseRequest): Flow<{ label: string; reason: string; confidence: number | null }> {
    return chooseLabel(this, request);
  }

  *callWorkflow(workflow_id: string, input: JsonObject): Flow<JsonObject> {
    return yield* runChild(this, calledTarget(this, workflow_id), input);
  }
  map(request: MapRequest): Flow<ItemOutcome[]> {
    return mapItems(this, request);
  }
  get runs() {
    return this.effects.runs;
  }
  breathe(key: string): Durable {
    return this.interpreter.context.step(this.keyOf(key), NOTHING_TO_DO, INLINE);
  }

  ownRule(name: string): OwnRule | undefined {
    // Rules with the same name are equal: differing ones are a problem that prevents the run.
    return writtenRules(this.s.graph).find((one) => one.name === name)?.rule;
  }

  tool(name: string, args: JsonObject, secrets?: readonly SecretUse[]): Flow<Json> {
    return callToolOfNode(this, name, args, secrets);
  }
  *code(source: string, input: Json): Flow<Json> {
    const step = yield* this.runCode("code", { code: source, input, tools: [], results: [], at: this.now });
    if (step === null || !("done" in step)) throw new NodeFailure("CONFIG", CODE_IS_OFF);
    const { done } = step;
    if (done.ok) return done.value ?? null;
    const isBusy = done.error?.code === "BUSY";
    throw new NodeFailure("TOOL_FAILED", failureOf("The code", done).error ?? "The code failed.", {
      retryable: isBusy,
      user_action: isBusy ? "retry" : "edit_graph",
    });
  }

  warn(code: string, message: string): void {
    this.emit({ type: "warning", payload: { code, message } });
  }

  keep(output: JsonObject): void {
    const write = patch(this.interpreter.log.a, this.s, this.activationId, output);
    if ("events" in write) for (const event of write.events) this.emit(event);
  }

  /** Records an event of this activation. */
  emit(event: NewEvent): void {
    this.interpreter.log.apply({ node_id: this.node.id, activation_id: this.activationId, ...event });
  }

  *beforeChild(): Flow<void> {
    yield* this.interpreter.escalation.hold(this.node.id, this.activationId);
    yield* this.interpreter.pauses.whilePaused();
  }
  childEnded(activeMs: number): void {
    this.interpreter.limits.childEnded(activeMs);
  }

  /** Comes to a place of this activation at which the run may be held; waits there while it is. */
  *arrive(place: Omit<Place, "node_id" | "activation_id">): Flow<void> {
    yield* this.interpreter.escalation.hold(this.node.id, this.activationId);
    yield* this.interpreter.pauses.arrive({
      node_id: this.node.id,
      activation_id: this.activationId,
      ...place,
    });
  }

  findRole(name: string): RoleDefinition | undefined {
    return this.s.roles.find((role) => role.name === name);
  }

  /** The limit that forbids another model call now, if any. */
  limitBeforeCall(): RaisableLimit | null {
    return this.interpreter.limits.beforeCall();
  }

  /** Settled when a person changes this node's plan. */
  planEdited(): Durable {
    return this.interpreter.attempts.planEdited(this.activationId);
  }

  /** Waits until that limit is raised. */
  hold(limit: RaisableLimit): Flow<void> {
    return this.interpreter.limits.hold(this.activationId, limit);
  }
  raiseLimit(limit: RaisableLimit, to: number, by: string): void {
    this.interpreter.limits.raise(limit, to, by);
  }
  openLimit(): void {
    this.interpreter.limits.openLater();
  }
  *cheaperModel(key: string, than: LlmConfig): Flow<CheaperModel | null> {
    const found = yield* this.step(key, () => this.interpreter.effects.models.cheaperThan?.(than) ?? null);
    const read = KnownModel.safeParse(found);
    return read.success ? read.data : null;
  }

  toolSpecs(who: string, granted: readonly string[]): Flow<GrantedTools> {
    return grantedTools(this, who, granted);
  }
  callTool(key: string, call: ToolInvocation): Flow<ToolOutput> {
    return callTool(this, key, call);
  }
  writePlanFile(key: string, content: string): Flow<ToolOutput> {
    return writePlanFile(this, key, content);
  }
  runCode(key: string, program: ProgramWithCalls): Flow<CallsStep | null> {
    return runCode(this, key, program);
  }
  matches(key: string, pattern: string, text: string): Flow<string | null> {
    return matches(this, key, pattern, text);
  }
  noteEffects(about: Partial<About>, call: Pick<ToolInvocation, "name" | "args">, output: ToolOutput): void {
    noteEffects(this, about, call, output);
  }
  forgetTask(agent: ToolCaller): Flow<void> {
    return forgetTask(this, agent);
  }
  endTask(agent: ToolCaller): void {
    endTask(this, agent);
  }

  /** The node's own time runs again, once nothing in it waits for a person. */
  startClock(): void {
    this.interpreter.attempts.startClock(this.activationId);
  }

  reached(): void {
    this.interpreter.reached();
  }
  editsOf(agent: string): readonly MessageEdit[] {
    return this.interpreter.editsOf(agent);
  }

  /** A step of this attempt that asks a model or a tool. */
  request(key: string, request: StepRequest, work: StepWork, isRepeatable = false): Durable {
    // A call of a model changes nothing outside, so that it can be given up and made again.
    const isModel = request.kind === "model";
    const { forks = [], forked = 0 } = this.s.run;
    return this.interpreter.steps.step(this.keyOf(key), work, {
      request: forked < forks.length ? { ...request, isInherited: true } : request,
      isRepeatable: isModel || isRepeatable,
    });
  }

  /** What decides whether a person must agree to a call: the installation's word, the run's, and the role's. */
  policies(role?: RoleDefinition): ConfirmationPolicy[] {
    return policiesOf(this.s, role);
  }

  /** Whether a person has approved this tool for the rest of the run. */
  isApproved(name: string): boolean {
    return isApproved(this.s, name);
  }

  /** What `judge` is to know of this run, for an agent of this role or for the node itself. */
  judging(taint_sources: readonly string[], role?: RoleDefinition): Context {
    return judgedContext(this.s, this.node, taint_sources, role);
  }

  /** Asks a person and waits, durably. No answer in time means no. */
  ask(key: string, question: PersonQuestion): Flow<Payloads["interaction_answered"]> {
    return askPerson(this, this.keyOf(key), question);
  }
  *askPerson(key: string, question: NodeQuestion): Flow<NodeAnswer> {
    const { interaction_id: _id, ...answered } = yield* this.ask(key, { ...question, about: {} });
    return readNodeAnswer(answered, question);
  }
  get context(): DurableContext {
    return this.interpreter.context;
  }
  stopClock(): void {
    this.interpreter.attempts.stopClock(this.activationId);
  }
  adviseLater(interaction_id: string): void {
    this.interpreter.advice.expect(interaction_id);
  }

  /**
   * One attempt at a model call, as its own step. Throws StepFailed with the ModelError. If the stored provider can't
   * be read and there is no other model to ask, the run is quarantined instead, and the call is repeated on retry.
   */
  *call(key: string, isLast: boolean, request: ModelRequest): Flow<ModelAnswer & Reused> {
    const { models } = this.interpreter.effects;
    const call = {
      key,
      request: modelRequest(request, models, this.s.run),
      question: { about: {}, tool_name: MODEL_CALL, args: { asks: request.messages.at(-1)?.content ?? "" } },
      work: async (scope: StepScope) => {
        try {
          const done = await models.complete(request, {
            signal: scope.abort,
            ...defined({ begunAt: scope.begunAt }),
            delta: (channel, offset, text) =>
              scope.live({ type: "llm_delta", call_id: request.call_id, channel, offset, text }),
          });
          return asJson(done);
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          if (isLast && error.more.isDamage) throw new SettingsDamaged(error.message);
          throw Object.assign(error, { detail: error.toDetail() });
        }
      },
    };
    const { value, reused } = yield* makeCall(this, call);
    return { ...modelAnswerFrom(value), ...defined({ reused }) };
  }
}
