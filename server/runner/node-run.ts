import { z } from "zod";
import type { RaisableLimit, RunConfig } from "@/server/domain/agent/outcome";
import {
  type ConfirmationPolicy,
  type LlmConfig,
  llmOver,
  type RoleDefinition,
} from "@/server/domain/agent/role";
import type {
  Durable,
  DurableContext,
  Flow,
  StepRequest,
  StepScope,
  StepWork,
} from "@/server/domain/base/durable";
import { isText } from "@/server/domain/base/guards";
import { asJson, textsIn } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import { isPlanPath, planPath } from "@/server/domain/crew/plan-file";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { writtenRules } from "@/server/domain/graph/own-rules";
import { stateProperties } from "@/server/domain/graph/state-properties";
import { getNodeKind, isCrewNode, type NodeContext, NodeFailure } from "@/server/domain/nodes";
import type {
  AgentAnswer,
  AgentRequest,
  ChooseRequest,
  CrewAnswer,
  CrewRequest,
} from "@/server/domain/nodes/define";
import type { Interaction, RunState } from "@/server/domain/run";
import type { NewEvent, Payloads } from "@/server/domain/run/events";
import { SettingsDamaged } from "@/server/domain/run/held";
import { typedWords } from "@/server/domain/run/tool-question";
import { evaluateCondition, evaluateExpression } from "@/server/domain/text/expression";
import { renderTemplate, type WrittenValue } from "@/server/domain/text/template";
import type { OwnRule } from "@/server/domain/tool/own-rule";
import type { NodeAnswer, NodeQuestion } from "@/server/domain/tool/person-question";
import { isGranted, type ToolAnswer, type ToolOutput, type ToolSpec } from "@/server/domain/tool/tool";
import { type ModelAnswer, ModelError, type ModelRequest } from "@/server/llm/model";
import type { ToolScope } from "@/server/tools/define";
import { OwnWords, wordsAdded } from "@/server/tools/own-words";
import type { Context } from "@/server/tools/policy";
import { CODE_IS_OFF, failureOf } from "@/server/tools/sandbox/custom-tool";
import type { CallsStep, ProgramWithCalls } from "@/server/tools/sandbox/sandbox";
import { chooseLabel } from "./agent/choose";
import { READ_VALUE } from "./agent/given";
import { runAgent } from "./agent/loop";
import { askPerson, readNodeAnswer } from "./ask";
import { runCrew } from "./crew/run-crew";
import { waitFor } from "./flow";
import { signalKey } from "./interpreter/commands";
import type { MessageEdit } from "./interpreter/forks";
import type { Place } from "./interpreter/holds";
import { callToolOfNode } from "./node-tool";
import type { About, CheaperModel, CrewRuntime, Engine, PersonQuestion, Reused, ToolCaller } from "./ports";
import { MODEL_CALL, makeCall } from "./recorded/make-call";
import { GrantedTools, modelAnswerFrom, RanCode, toolOutputFrom } from "./recorded/read-result";
import { modelRequest, toolRequest } from "./recorded/requests";
import { askForTool } from "./tool-question";

/** Tools whose results anybody can read in the web. */
const PUBLIC_TOOLS: ReadonlySet<string> = new Set(["web_search", "code_search", "browse_url"]);
/** Tools that bring nothing into a run that was not in it before. */
const OWN_TOOLS: ReadonlySet<string> = new Set([
  ...["calculator", "current_time", "run_javascript", "store_memory"],
  ...["create_artifact", "file_write", "file_read", "read_artifact"],
  ...["finish", "reject_task", READ_VALUE, ...CREW_TOOL_NOTES.map(({ name }) => name)],
]);

/** More questions of one call are refused. */
const MAX_QUESTIONS = 5;

/** What people said in answers. Where they turn a call down, what they repeat of such calls is not theirs: "not to eve@…". */
function saidIn(interactions: readonly Interaction[]): string[] {
  const refused = interactions.map(({ requested, answered }) => {
    const { calls = [requested] } = requested;
    if (answered?.answer === "reject") return calls;
    return calls.filter((_call, at) => answered?.calls !== undefined && !answered.calls.includes(at));
  });
  const repeated = refused.flatMap((calls) => calls.flatMap(({ args }) => textsIn(args ?? null))).join("\n");
  return interactions.flatMap(({ requested, answered }, at) => {
    const { message, content, value } = answered ?? {};
    const said = [
      ...(message ? [message] : []),
      // Of a draft, what the person wrote; a form is theirs.
      ...(typeof value === "string" ? wordsAdded(value, requested.draft ?? "") : textsIn(value ?? null)),
      ...(requested.asks && content ? typedWords(requested.asks, content) : []),
    ];
    return present(refused[at], "refused[at]").length === 0
      ? said
      : said.flatMap((words) => wordsAdded(words, repeated));
  });
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["create_artifact", "file_write"]);
const PLAN_IS_KEPT =
  "plan.json shows the plan as it is, and the run writes it. Change the plan by the plan tools, if you have them, or write another file.";
const KnownModel = z.object({ provider_id: z.string(), model: z.string(), name: z.string() });
const WrittenFile = z.object({
  artifact_id: z.string(),
  path: z.string(),
  version: z.number(),
  size: z.number(),
});

/** One attempt of one node: what its behaviour may reach. */
export class NodeRun implements NodeContext, CrewRuntime {
  /** What all expressions and templates of its own may do together. */
  private readonly work = new Work();

  constructor(
    private readonly interpreter: Engine,
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

  /** When the present answer was recorded, Unix time in milliseconds. */
  get now(): number {
    return this.interpreter.now;
  }

  get exits(): NodeContext["exits"] {
    const edges = this.interpreter.a.outgoing.get(this.node.id) ?? [];
    return edges
      .filter((edge) => edge.kind === "normal")
      .map((edge) => {
        const target = present(
          this.s.graph.nodes[edge.target_node_id],
          "this.s.graph.nodes[edge.target_node_id]",
        );
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

  step(key: string, work: (scope: { abort: AbortSignal }) => Promise<Json> | Json): Flow<Json> {
    return waitFor(this.interpreter.step(this.key(key), work));
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

  *signal(name: string, timeout_ms?: number): Flow<Json> {
    const kept = this.s.signals[name]?.[0];
    if (kept) {
      this.emit({ type: "signal_taken", payload: { name } });
      return kept.data;
    }
    const { context, now } = this.interpreter;
    // A command of the run answers it, which names no key.
    const handle = context.signal(signalKey(this.activationId));
    const over = timeout_ms === undefined ? null : context.sleep(this.key("signal/timeout"), timeout_ms);
    const until = timeout_ms === undefined ? {} : { until: now + timeout_ms };
    this.emit({ type: "node_waiting", payload: { for: "signal", name, ...until } });
    const { key, result } = yield over ? [handle, over] : [handle];
    this.emit({ type: "timer_fired", payload: {} });
    if (key === over?.key)
      throw new NodeFailure("TIMEOUT", `Nobody sent the signal "${name}" in time.`, { user_action: "retry" });
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
      ...(idle || llm ? { llm_config: { ...(idle ? { idle_timeout_ms: idle } : {}), ...llm } } : {}),
    });
  }
  crew(request: CrewRequest): Flow<CrewAnswer> {
    return runCrew(this, request);
  }
  choose(request: ChooseRequest): Flow<{ label: string; reason: string; confidence: number | null }> {
    return chooseLabel(this, request);
  }

  ownRule(name: string): OwnRule | undefined {
    const rules = writtenRules(this.s.graph).filter((one) => one.name === name);
    return (rules.find(({ node_id }) => node_id === this.node.id) ?? rules[0])?.rule;
  }

  tool(name: string, args: JsonObject): Flow<Json> {
    return callToolOfNode(this, name, args);
  }
  *code(source: string, input: Json): Flow<Json> {
    const step = yield* this.runCode("code", { code: source, input, tools: [], results: [], at: this.now });
    if (step === null || !("done" in step)) throw new NodeFailure("CONFIG", CODE_IS_OFF);
    const { done } = step;
    if (done.ok) return done.value ?? null;
    throw new NodeFailure("TOOL_FAILED", failureOf("The code", done).error ?? "The code failed.", {
      user_action: "edit_graph",
    });
  }

  warn(code: string, message: string): void {
    this.emit({ type: "warning", payload: { code, message } });
  }

  /** Records an event of this activation. */
  emit(event: NewEvent): void {
    this.interpreter.apply({ node_id: this.node.id, activation_id: this.activationId, ...event });
  }

  /** Comes to a place of this activation at which the run may be held; waits there while it is. */
  arrive(place: Omit<Place, "node_id" | "activation_id">): Flow<void> {
    return this.interpreter.arrive({ node_id: this.node.id, activation_id: this.activationId, ...place });
  }

  findRole(name: string): RoleDefinition | undefined {
    return this.s.roles.find((role) => role.name === name);
  }

  /** The limit that forbids another model call now, if any. */
  limitBeforeCall(): RaisableLimit | null {
    return this.interpreter.limitBeforeCall();
  }

  /** Settled when a person changes this node's plan. */
  planEdited(): Durable {
    return this.interpreter.planEdited(this.activationId);
  }

  /** Waits until that limit is raised. */
  hold(limit: RaisableLimit): Flow<void> {
    return this.interpreter.hold(this.activationId, limit);
  }
  raiseLimit(limit: RaisableLimit, to: number, by: string): void {
    this.interpreter.raiseNow(limit, to, by);
  }
  openLimit(): void {
    this.interpreter.openLimit();
  }
  *cheaperModel(key: string, than: LlmConfig): Flow<CheaperModel | null> {
    const found = yield* this.step(key, () => this.interpreter.effects.models.cheaperThan?.(than) ?? null);
    const read = KnownModel.safeParse(found);
    return read.success ? read.data : null;
  }

  /** Tools of this installation that the list grants, as they are now, and the names of all; recorded. */
  *toolSpecs(who: string, granted: readonly string[]): Flow<GrantedTools> {
    const { tools } = this.interpreter.effects;
    const recorded = yield* this.step(`${who}/tools`, async () => {
      const all = (await tools?.specs()) ?? [];
      const specs = all.filter(({ name }) => isGranted(granted, name));
      return asJson({ specs, names: all.map(({ name }) => name) });
    });
    return GrantedTools.parse(recorded);
  }

  /** The node's own time runs again, once nothing in it waits for a person. */
  startClock(): void {
    this.interpreter.startClock(this.activationId);
  }

  /** Forgets what an agent remembered for the task that it has ended, as a step of its own where there is anything. */
  *forgetTask(agent: ToolCaller): Flow<void> {
    if (!this.s.agents[agent.key]?.has_task_memory) return;
    yield* this.step(`${agent.path}/forget`, async () => {
      await this.interpreter.effects.tools?.forgetTask(this.callerOf(agent));
      return null;
    });
  }

  endTask(agent: ToolCaller): void {
    this.interpreter.effects.tools?.endTask?.(this.callerOf(agent));
  }

  /** Who calls a tool, as tools are told. */
  private callerOf(agent: ToolCaller | null): Pick<ToolScope, "run" | "agent" | "tainted"> {
    const { id, workflow_id } = this.s.run;
    return {
      tainted: this.s.taint_sources.length > 0,
      run: { id, workflow_id },
      agent: agent && {
        ...agent.about,
        role_name: agent.role.name,
        node_id: this.node.id,
        ...(agent.task.config ? { memory_scopes: agent.task.config.memory_scopes } : {}),
      },
    };
  }

  /**
   * Calls a tool, as a step of its own. Nothing is thrown: trouble is an output, too. `again`: how often the same call
   * was made before; it keeps its idempotency key. A tool that asks something of a person is called again with the answer.
   */
  *callTool(
    key: string,
    name: string,
    args: JsonObject,
    agent: ToolCaller | null,
    again = 0,
    spec?: ToolSpec,
  ): Flow<ToolOutput> {
    // The plan is what the events say, and its file only shows it: nobody writes another one there.
    if (FILE_TOOLS.has(name) && isPlanPath(args.path, this.planPaths))
      return { status_code: 403, error: PLAN_IS_KEPT };
    const step = again === 0 ? key : `${key}/again${again}`;
    const idempotencyKey = `${this.s.run.id}/${this.key(key)}`;
    const answers: ToolAnswer[] = [];
    for (;;) {
      const at = answers.length === 0 ? step : `${step}/answered${answers.length}`;
      const { asks, ...output } = yield* this.callOnce(
        at,
        name,
        args,
        agent,
        { idempotencyKey, answers },
        spec,
      );
      if (!asks) return output;
      if (answers.length >= MAX_QUESTIONS)
        return { status_code: 409, error: `${name} asks more than ${MAX_QUESTIONS} questions in one call.` };
      answers.push(yield* askForTool(this, `${step}/asked${answers.length + 1}`, name, asks, agent?.about));
    }
  }

  /** Where the plans of this run's crews stand among its files. */
  private get planPaths(): string[] {
    return Object.keys(this.s.plans).flatMap((id) => {
      const node = this.s.activations[id]?.node_id;
      return node === undefined ? [] : [this.planPathOf(node)];
    });
  }
  private planPathOf(nodeId: string): string {
    const crews = Object.values(this.interpreter.a.graph.nodes).filter((node) => isCrewNode(node));
    return planPath(nodeId, crews.length < 2);
  }

  *writePlanFile(key: string, content: string): Flow<ToolOutput> {
    const args = { path: this.planPathOf(this.node.id), content };
    const idempotencyKey = `${this.s.run.id}/${this.key(key)}`;
    // The plan tells when its tasks were done, so that no other run would ask the same: it is known by its place.
    const asked = { path: args.path };
    const output = yield* this.callOnce(key, "file_write", args, null, {
      idempotencyKey,
      answers: [],
      asked,
    });
    if (output.status_code === 200) this.noteEffects({}, "file_write", args, output);
    return output;
  }

  private *callOnce(
    key: string,
    name: string,
    args: JsonObject,
    agent: ToolCaller | null,
    { asked = args, ...about }: Pick<ToolScope, "idempotencyKey" | "answers"> & { asked?: JsonObject },
    spec?: ToolSpec,
  ): Flow<ToolOutput> {
    const { tools } = this.interpreter.effects;
    const caller = this.callerOf(agent);
    const call = {
      key,
      request: toolRequest(name, asked, about.answers ?? [], spec),
      isRepeatable: spec?.read_only === true,
      question: {
        about: agent?.about ?? { agent_id: this.node.id },
        tool_name: name,
        args,
        risk: spec?.risk,
      },
      work: async ({ abort }: StepScope) => {
        if (!tools) return { status_code: 503, error: "There are no tools here." };
        // People may have waited long before they agreed; what was taken away meanwhile wins. A role that the run
        // made for itself is nobody's to change.
        const why =
          agent && !agent.task.role ? ((await tools.withdrawn?.(agent.role.name, name)) ?? null) : null;
        const refused: ToolOutput = { status_code: 403, error: why ?? "", withdrawn: true };
        if (why !== null) return refused;
        const output = await tools.invoke(name, args, {
          signal: abort,
          ...about,
          ...caller,
        });
        return asJson(output);
      },
    };
    const { value, reused } = yield* makeCall(this, call);
    return { ...toolOutputFrom(value), ...(reused === undefined ? {} : { reused }) };
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
    return this.interpreter.step(this.key(key), work, { request, isRepeatable: isModel || isRepeatable });
  }

  /** Runs an agent's code up to its next call, as a step of its own; null where no code runs here. */
  *runCode(key: string, program: ProgramWithCalls): Flow<CallsStep | null> {
    const { tools } = this.interpreter.effects;
    const step = yield* this.step(key, async ({ abort }) =>
      tools ? asJson(await tools.runCode(program, abort, this.s.run.id)) : null,
    );
    return RanCode.parse(step);
  }

  /** Null where the pattern matches, else why not. Tried where a bad pattern can do no harm. */
  *matches(key: string, pattern: string, text: string): Flow<string | null> {
    const { tools } = this.interpreter.effects;
    const fault = yield* this.step(`${key}/pattern`, ({ abort }) =>
      tools ? tools.matches(pattern, text, abort) : "Patterns cannot be checked here.",
    );
    return isText(fault) ? fault : null;
  }

  /** Tells what a tool did beside giving its result. */
  noteEffects(about: Partial<About>, name: string, args: JsonObject, { output }: ToolOutput): void {
    const made = WrittenFile.safeParse(output);
    if (FILE_TOOLS.has(name) && made.success)
      this.emit({ type: "artifact_created", ...about, payload: { ...made.data, kind: "file" } });
    if (name === "store_memory" && typeof args.key === "string")
      this.emit({
        type: "memory_stored",
        ...about,
        payload: {
          scope: typeof args.scope === "string" ? args.scope : "run",
          key: args.key,
          tainted: this.s.taint_sources.length > 0,
        },
      });
  }

  /** What decides whether a person must agree to a call: the installation's word, the run's, and the role's. */
  policies(role?: RoleDefinition): ConfirmationPolicy[] {
    const { config, installation } = this.s.run;
    return [installation?.confirmation, config.confirmation, role?.confirmation].filter(
      (policy): policy is ConfirmationPolicy => policy !== undefined,
    );
  }

  /** Whether a person has approved this tool for the rest of the run. */
  isApproved(name: string): boolean {
    return this.approvedForGood().some(({ tool_name }) => tool_name === name);
  }

  /** The calls that a person approved for the rest of the run. */
  private approvedForGood(): Pick<Payloads["interaction_requested"], "tool_name" | "destinations">[] {
    const approved: Pick<Payloads["interaction_requested"], "tool_name" | "destinations">[] = [];
    for (const { requested, answered } of Object.values(this.s.interactions)) {
      if (answered?.answer !== "approve_always") continue;
      const { calls } = answered;
      if (requested.calls)
        approved.push(...requested.calls.filter((_call, at) => calls?.includes(at) ?? true));
      else approved.push(requested);
    }
    return approved;
  }

  /** What `judge` is to know of this run, for an agent of this role or for the node itself. */
  judging(taint_sources: readonly string[], role?: RoleDefinition): Context {
    const { s, node } = this;
    const made = Object.values(s.tool_calls).filter(({ status }) => status === "completed");
    return {
      taint_sources,
      own: new OwnWords([
        ...textsIn(s.input),
        ...textsIn(node),
        ...textsIn(role),
        ...(s.run.installation?.destinations ?? []),
        ...saidIn(Object.values(s.interactions)),
        ...s.told,
        ...Object.values(s.plan_changes).flatMap((changes) => changes.flatMap(({ words = [] }) => words)),
        ...this.approvedForGood().flatMap(({ destinations = [] }) =>
          destinations.flatMap(({ kind, value }) => (kind === "words" || kind === "call" ? [] : value)),
        ),
      ]),
      read: made.map(({ tool_name, output = null }) => ({
        source: tool_name,
        text: typeof output === "string" ? output : JSON.stringify(output),
        is_public: PUBLIC_TOOLS.has(tool_name),
      })),
      private_sources: [...new Set(made.map(({ tool_name }) => tool_name))].filter(
        (name) => !PUBLIC_TOOLS.has(name) && !OWN_TOOLS.has(name),
      ),
    };
  }

  /** Asks a person and waits, durably. No answer in time means no. */
  ask(key: string, question: PersonQuestion): Flow<Payloads["interaction_answered"]> {
    return askPerson(this, this.key(key), question);
  }
  *askPerson(key: string, question: NodeQuestion): Flow<NodeAnswer> {
    const { interaction_id: _id, ...answered } = yield* this.ask(key, { ...question, about: {} });
    return readNodeAnswer(answered, question);
  }
  get context(): DurableContext {
    return this.interpreter.context;
  }
  stopClock(): void {
    this.interpreter.stopClock(this.activationId);
  }
  adviseLater(interaction_id: string): void {
    this.interpreter.adviseLater(interaction_id);
  }

  /**
   * One attempt at a model call, as a step of its own. Throws StepFailed that carries the ModelError. Where the stored
   * provider cannot be read and this is the last model to ask, the run is held instead, and asks once it is tried again.
   */
  *call(key: string, isLast: boolean, request: ModelRequest): Flow<ModelAnswer & Reused> {
    const { models } = this.interpreter.effects;
    const call = {
      key,
      request: modelRequest(request, models),
      question: { about: {}, tool_name: MODEL_CALL, args: { asks: request.messages.at(-1)?.content ?? "" } },
      work: async (scope: StepScope) => {
        try {
          const done = await models.complete(request, {
            signal: scope.abort,
            ...(scope.begunAt === undefined ? {} : { begunAt: scope.begunAt }),
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
    return { ...modelAnswerFrom(value), ...(reused === undefined ? {} : { reused }) };
  }
}
