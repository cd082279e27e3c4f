import { z } from "zod";
import { taskPrompt } from "@/server/domain/agent/prompt";
import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { JsonObject, type JsonSchema } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { leaderOf } from "@/server/domain/crew/leader";
import { NodeFailure } from "@/server/domain/nodes";
import { isSince } from "@/server/domain/run/edition";
import type { ChatMessage } from "@/server/domain/run/events";
import { answerText, TEXT_ANSWER } from "@/server/domain/tool/person-question";
import { concernsRun, errorOf } from "@/server/runner/agent/call-model";
import { taskIdOf } from "@/server/runner/agent/prompt/prompt-edition";
import { askForCrew } from "../ask";
import { type Crew, requestOf } from "../crew";
import { textOf, valueOf } from "../values";
import { relay } from "./relay";

/** Who started the crew, as the manager addresses it. */
const USER = "User";
const STOPS = [
  "Completed",
  "Clarification",
  "AdditionalInformation",
  "SecurityRisks",
  "TaskFailure",
] as const;
const LEDGER = ["is_request_satisfied", "is_in_loop", "is_progress_being_made"] as const;

const Decision = z.object({
  plan: z.array(z.string()),
  current_plan_step: z.string(),
  send_to: z.string(),
  message: z.string(),
  ledger: z.record(z.enum(LEDGER), z.object({ answer: z.boolean(), reason: z.string() })),
  stop: z.enum(STOPS).nullable(),
  outputs: JsonObject.exactOptional(),
  /** The member whose last reply is the answer. */
  forward: z.string().nullish(),
});
type Decision = z.infer<typeof Decision>;

/**
 * A manager mediates: in every round it sends one message to one worker, who replies to it alone. Workers never talk
 * to each other; what all should know stands on the board (TaskWeaver). The manager keeps a ledger of progress; too
 * many rounds without any lead to a new plan, and then to a person (Magentic-One).
 */
export function* mediate(crew: Crew): Flow<JsonObject> {
  return yield* new Mediation(crew).lead();
}

class Mediation {
  private readonly config: CrewConfig;
  private readonly manager: AgentConfig;
  private readonly how: string;
  private workers: readonly AgentConfig[];
  private history: readonly ChatMessage[] = [];
  /** The messages between the manager and each worker. */
  private readonly talks = new Map<string, readonly ChatMessage[]>();
  /** The manager's next message. */
  private prompt: string;
  private plan: string[] = [];
  private stalls = 0;
  private replans = 0;

  constructor(private readonly crew: Crew) {
    this.config = crew.config;
    this.manager = leaderOf(this.config);
    this.how = howToLead(crew);
    this.workers = this.workersNow();
    this.prompt = `Lead your team to the goal. This is round 1 of at most ${this.config.max_rounds}.`;
  }

  *lead(): Flow<JsonObject> {
    const { crew, config, manager } = this;
    if (this.workers.length === 0)
      throw new NodeFailure("CONFIG", `${crew.name} has a manager but no members. Add an agent.`);
    crew.writeBoard(manager.agent_id, requestOf(crew.goal));
    for (let round = 1; round <= config.max_rounds; round++) {
      crew.run.emit({ type: "round_started", payload: { round } });
      const decision = yield* this.decide(round);
      this.notePlan(decision);
      this.noteProgress(decision, round);
      if (asksPerson(decision)) {
        this.prompt = yield* askPerson(crew, manager, decision.message, round);
        continue;
      }
      if (decision.stop === "TaskFailure" || decision.stop === "SecurityRisks")
        throw new NodeFailure("REJECTED", `${manager.agent_id} gave up: ${decision.message}`, {
          user_action: "edit_graph",
        });
      if (decision.send_to === USER) {
        const answer = (decision.forward && this.lastReply(decision.forward)) || decision.message;
        crew.post({ from: manager.agent_id, to: USER, message: answer, kind: "reply" });
        return crew.outputs(decision.outputs ?? answer);
      }
      if (this.stalls >= config.max_stalls) this.replan(decision);
      else yield* this.send(decision, round);
    }
    keepReplies(crew, this.talks);
    throw new NodeFailure(
      "MAX_ITERATIONS",
      `${crew.name} reached its limit of ${config.max_rounds} rounds.`,
      { user_action: "edit_graph" },
    );
  }

  private lastReply(by: string): string | undefined {
    return this.talks.get(by)?.at(-1)?.content;
  }

  private workersNow(): AgentConfig[] {
    return this.crew.config.agents.filter(({ agent_id }) => agent_id !== this.manager.agent_id);
  }

  private *decide(round: number): Flow<Decision> {
    const { crew } = this;
    const { output_keys } = crew.request;
    const before = this.workers;
    this.workers = this.workersNow();
    this.prompt += newTeam(crew, before, this.workers);
    const managed = yield* crew.work(this.manager, {
      task_id: `round-${round}`,
      purpose: "manage",
      may_use_tools: false,
      task: this.prompt,
      how: this.how,
      continues: round > 1,
      output_keys: [],
      answer_schema: decisionSchema(this.workers, output_keys, mayForward(crew)),
      check: (value) => {
        const decision = Decision.parse(value);
        const { forward, stop } = decision;
        return stop === "Completed" && forward && this.lastReply(forward) === undefined
          ? [`${forward} has not replied yet, so there is nothing to forward.`]
          : validateDecision(decision, output_keys);
      },
      inputs: { goal: crew.goal, ...crew.run.input },
      history: this.history,
      ...defined({ llm_config: crew.config.manager?.llm_config || undefined }),
    });
    this.history = managed.transcript;
    return Decision.parse(managed.output);
  }

  /** Writes a changed plan to the board. */
  private notePlan({ plan }: Decision): void {
    if (plan.join("\n") === this.plan.join("\n")) return;
    this.plan = plan;
    const steps = plan.map((step) => `- ${step}`).join("\n");
    this.crew.writeBoard(this.manager.agent_id, `${requestOf(this.crew.goal)}\nPlan:\n${steps}`);
  }

  private noteProgress({ ledger, current_plan_step }: Decision, round: number): void {
    const isStalled = !ledger.is_progress_being_made.answer || ledger.is_in_loop.answer;
    this.stalls = isStalled && round > 1 ? this.stalls + 1 : Math.max(0, this.stalls - 1);
    this.crew.run.emit({
      type: "ledger_updated",
      agent_id: this.manager.agent_id,
      payload: { ledger, current_step: current_plan_step, stalls: this.stalls, replans: this.replans },
    });
  }

  private replan({ ledger }: Decision): void {
    const { crew, manager } = this;
    if (this.replans >= this.config.max_replans) {
      keepReplies(crew, this.talks);
      throw new NodeFailure(
        "STUCK",
        `${crew.name} made no progress, even after ${this.replans} new plans: ${ledger.is_progress_being_made.reason}`,
        { user_action: "edit_graph" },
      );
    }
    this.replans++;
    this.stalls = 0;
    crew.post({
      from: manager.agent_id,
      to: manager.agent_id,
      message: "No progress; replanning.",
      kind: "feedback",
    });
    this.prompt =
      "There was no progress. Restate what is known and what is not, and make a new plan that avoids what did not work.";
  }

  /** Sends the manager's message to a worker; the reply is the manager's next message. */
  private *send({ send_to, message }: Decision, round: number): Flow<void> {
    const { crew, manager, talks } = this;
    const goOn = `Continue with round ${round + 1} of at most ${this.config.max_rounds}.`;
    const worker = crew.takeNext() ?? crew.member(send_to);
    if (!worker || worker.agent_id === manager.agent_id) {
      this.prompt = `${send_to} is no longer in your team, so the message was not sent.\n${goOn}`;
      return;
    }
    crew.post({ from: manager.agent_id, to: worker.agent_id, message, kind: "post" });
    const history = talks.get(worker.agent_id) ?? [];
    const { by, reply, asked } = yield* replyOf(crew, worker, {
      manager: manager.agent_id,
      message,
      round,
      history,
    });
    crew.post({ from: by, to: manager.agent_id, message: reply, kind: "reply" });
    talks.set(worker.agent_id, [...history, asked, { role: "assistant", content: reply }]);
    this.prompt = `${crew.fences.fence("reply", reply, { from: by })}\n${goOn}`;
  }
}

/** Keeps what each member wrote last, where the crew fails before its manager answers. */
function keepReplies(crew: Crew, talks: ReadonlyMap<string, readonly ChatMessage[]>): void {
  const replies = [...talks].map(([by, talk]) => [by, talk.at(-1)?.content ?? ""] as const);
  const text = replies.map(([by, reply]) => (replies.length > 1 ? `${by}:\n${reply}` : reply)).join("\n\n");
  if (replies.length > 0) crew.keep(text);
}

/**
 * Whether the manager turns to the person before the request is satisfied: it says that it needs to know something, or
 * it addresses the person without an answer.
 */
const asksPerson = ({ stop, send_to, ledger }: Decision): boolean =>
  stop === "Clarification" ||
  stop === "AdditionalInformation" ||
  (send_to === USER && stop === null && !ledger.is_request_satisfied.answer);

/** Asks a person the manager's question and waits; returns the manager's message. */
function* askPerson(crew: Crew, manager: AgentConfig, question: string, round: number): Flow<string> {
  crew.post({ from: manager.agent_id, to: USER, message: question, kind: "question" });
  const answer = yield* askForCrew(crew, `round-${round}/question`, {
    about: { agent_id: manager.agent_id },
    kind: "escalation",
    title: `${manager.agent_id} has a question`,
    why: question,
    ...defined({ response_schema: isSince(crew.run.s.run, 5) ? TEXT_ANSWER : undefined }),
  });
  if (answer.answer === "reject" || answer.answer === "expired")
    throw new NodeFailure(
      answer.answer === "reject" ? "HUMAN_REJECTED" : "HUMAN_TIMEOUT",
      `${crew.name} had an unanswered question: ${question}`,
    );
  const advice = answerText(answer) ?? "Continue as you think best.";
  crew.post({ from: USER, to: manager.agent_id, message: advice, kind: "answer" });
  return `${USER} answers:\n${crew.fences.fence("answer", advice)}`;
}

/** Tells a manager how the team changed since the last round; empty if it didn't. */
function newTeam(crew: Crew, before: readonly AgentConfig[], now: readonly AgentConfig[]): string {
  const who = (team: readonly AgentConfig[]) => team.map(({ agent_id, role_name }) => [agent_id, role_name]);
  if (JSON.stringify(who(before)) === JSON.stringify(who(now))) return "";
  const team = now.map((agent) => `- ${crew.describe(agent)}`).join("\n");
  return `\nA person changed your team. Its members are now:\n${team}`;
}

/** A worker's reply and the request; a failure is reported to the manager, who may find another solution. */
function* replyOf(
  crew: Crew,
  worker: AgentConfig,
  {
    manager,
    message,
    round,
    history,
  }: { manager: string; message: string; round: number; history: readonly ChatMessage[] },
): Flow<{ by: string; reply: string; asked: ChatMessage }> {
  const { harmless } = crew.fences;
  const asked: ChatMessage = {
    role: "user",
    content: taskPrompt({ id: taskIdOf(crew.run, worker.agent_id), task: harmless(message), inputs: {} }),
  };
  try {
    const { result, agent } = yield* relay(
      crew,
      worker,
      {
        task: message,
        prompt: harmless(message),
        from: manager,
        how: `${manager} leads your team: it asks you, and only it reads your answers. What everyone should know is on the board.`,
        continues: history.length > 0,
        output_keys: [],
        inputs: crew.run.input,
        history,
      },
      {
        idOf: (hop) => (hop === 1 ? `round-${round}` : `round-${round}.h${hop}`),
        wish: `Answer ${manager}, who asked it: ${harmless(message)}`,
      },
    );
    return {
      by: agent.agent_id,
      reply: textOf(valueOf(result.output)),
      // As it was sent, so that a provider knows it again.
      asked: result.transcript[history.length] ?? asked,
    };
  } catch (error) {
    const cause = errorOf(error);
    if (concernsRun(cause) || cause.code === "CONFIG") throw error;
    return { by: worker.agent_id, reply: `I could not do it: ${cause.message}`, asked };
  }
}

/** Whether the manager may give a member's reply as the answer, instead of writing it again. */
const mayForward = ({ run, request }: Crew): boolean =>
  isSince(run.s.run, 4) && request.output_keys.length < 2;

/** The manager's instructions: what it can do in a round, and what each field of its answer means. */
function howToLead(crew: Crew): string {
  const {
    config,
    request: { output_keys },
  } = crew;
  return `How you lead: you do none of the work yourself. In each round, you send one message to one member. The member answers only you, and knows only the goal, the inputs, the board and your conversation with it: include everything else it needs. Its answer arrives in <reply>; then you send the next message, until the request is met.

Your answers have these fields:
- plan: the steps to the goal, each with the member who does it. It is posted on the board. Repeat it verbatim while it is valid.
- current_plan_step: the step that your message is about.
- send_to: the id of a member, or "${USER}", who is the person who asked.
- message: the whole message to send_to. ${USER} sees nothing else.
- ledger: the current state, each field with a reason. is_request_satisfied: everything requested is done. is_in_loop: the same exchange repeats. is_progress_being_made: the last reply brought the goal closer; true in the first round. After ${config.max_stalls} rounds without progress, you must make a new plan.
- stop: null while a member has work to do. With send_to "${USER}", it is the reason:
  "Completed": the request is met, and message is the complete answer.
  "Clarification": you cannot continue without knowing what is meant, and message is the question. The person's answer arrives in <answer>, and you continue.
  "AdditionalInformation": the same for information that only the person has.
  "TaskFailure": it cannot be done, and message says why. This ends the work.
  "SecurityRisks": it would cause harm, and message says what harm. This ends the work.${output_keys.length > 1 ? `\n- outputs: with "Completed", one value for each of ${output_keys.join(", ")}.` : ""}${mayForward(crew) ? `\n- forward: with "Completed", the id of a member whose last reply is the complete answer. ${USER} gets that reply unchanged; message is then one sentence about it.` : ""}`;
}

function decisionSchema(
  workers: readonly AgentConfig[],
  keys: readonly string[],
  mayForward: boolean,
): JsonSchema {
  const ids = workers.map(({ agent_id }) => agent_id);
  const verdict: JsonSchema = {
    type: "object",
    properties: { answer: { type: "boolean" }, reason: { type: "string" } },
    required: ["answer", "reason"],
    additionalProperties: false,
  };
  const outputs: Record<string, JsonSchema> =
    keys.length > 1
      ? {
          outputs: {
            type: "object",
            description: `Only with send_to "${USER}": one value for each of ${keys.join(", ")}`,
            properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])),
          },
        }
      : {};
  return {
    type: "object",
    properties: {
      plan: { type: "array", items: { type: "string" } },
      current_plan_step: { type: "string" },
      send_to: { type: "string", enum: [...ids, USER] },
      message: { type: "string", minLength: 1 },
      ledger: {
        type: "object",
        properties: Object.fromEntries(LEDGER.map((name) => [name, verdict])),
        required: [...LEDGER],
        additionalProperties: false,
      },
      stop: { anyOf: [{ type: "string", enum: [...STOPS] }, { type: "null" }] },
      ...outputs,
      ...(mayForward ? { forward: { type: "string", enum: ids } } : {}),
    },
    required: ["plan", "current_plan_step", "send_to", "message", "ledger", "stop"],
    additionalProperties: false,
  };
}

function validateDecision(decision: Decision, keys: readonly string[]): string[] {
  const { stop, send_to, ledger } = decision;
  if (send_to !== USER) return stop === "Completed" ? [`stop "Completed" goes with send_to "${USER}".`] : [];
  if (stop === "Completed" && !ledger.is_request_satisfied.answer)
    return [
      'stop "Completed" is for a request that is satisfied, and the ledger says that it is not. To ask the person something, use stop "Clarification"; if it cannot be done, "TaskFailure".',
    ];
  if (asksPerson(decision) || keys.length < 2) return [];
  const missing = keys.filter((key) => decision.outputs?.[key] === undefined);
  return missing.length > 0 ? [`outputs lacks ${missing.join(", ")}.`] : [];
}
