import { z } from "zod";
import { taskPrompt } from "@/server/domain/agent/prompt";
import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { JsonObject, type JsonSchema } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { leaderOf } from "@/server/domain/crew/leader";
import { NodeFailure } from "@/server/domain/nodes";
import type { ChatMessage } from "@/server/domain/run/events";
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
        throw new NodeFailure("REJECTED", `${manager.agent_id} gives up: ${decision.message}`, {
          user_action: "edit_graph",
        });
      if (decision.send_to === USER) {
        crew.post(manager.agent_id, USER, decision.message, "reply");
        return crew.outputs(decision.outputs ?? decision.message);
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
      answer_schema: decisionSchema(this.workers, output_keys),
      check: (value) => validateDecision(Decision.parse(value), output_keys),
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
    crew.post(manager.agent_id, manager.agent_id, "No progress; replanning.", "feedback");
    this.prompt =
      "There was no progress. Write down anew what is known and what is not, and make another plan that avoids what did not work.";
  }

  /** Sends the manager's message to a worker; the reply is the manager's next message. */
  private *send({ send_to, message }: Decision, round: number): Flow<void> {
    const { crew, manager, talks } = this;
    const goOn = `Go on with round ${round + 1} of at most ${this.config.max_rounds}.`;
    const worker = crew.takeNext() ?? crew.member(send_to);
    if (!worker || worker.agent_id === manager.agent_id) {
      this.prompt = `${send_to} is not in your team any more and was told nothing.\n${goOn}`;
      return;
    }
    crew.post(manager.agent_id, worker.agent_id, message, "post");
    const history = talks.get(worker.agent_id) ?? [];
    const { by, reply, asked } = yield* replyOf(crew, worker, {
      manager: manager.agent_id,
      message,
      round,
      history,
    });
    crew.post(by, manager.agent_id, reply, "reply");
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
  crew.post(manager.agent_id, USER, question, "question");
  const answer = yield* askForCrew(crew, `round-${round}/question`, {
    about: { agent_id: manager.agent_id },
    kind: "escalation",
    title: `${manager.agent_id} has a question`,
    why: question,
  });
  if (answer.answer === "reject" || answer.answer === "expired")
    throw new NodeFailure(
      answer.answer === "reject" ? "HUMAN_REJECTED" : "HUMAN_TIMEOUT",
      `${crew.name} had an unanswered question: ${question}`,
    );
  const advice = answer.message ?? "Go on as you think best.";
  crew.post(USER, manager.agent_id, advice, "answer");
  return `${USER} answers:\n${crew.fences.fence("answer", advice)}`;
}

/** Tells a manager how the team changed since the last round; empty if it didn't. */
function newTeam(crew: Crew, before: readonly AgentConfig[], now: readonly AgentConfig[]): string {
  const who = (team: readonly AgentConfig[]) => team.map(({ agent_id, role_name }) => [agent_id, role_name]);
  if (JSON.stringify(who(before)) === JSON.stringify(who(now))) return "";
  const team = now.map((agent) => `- ${crew.describe(agent)}`).join("\n");
  return `\nA person changed your team. These are its members now:\n${team}`;
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
        how: `${manager} leads your team: it asks you, and it alone reads your answers. What all should know stands on the board.`,
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

/** The manager's instructions: what it can do in a round, and what each field of its answer means. */
function howToLead({ config, request: { output_keys } }: Crew): string {
  return `How you lead: you do no work of your own. In each round you send one message to one member. It answers you alone, and knows nothing but the goal, the inputs, the board and what you two have said: tell it everything else that it needs. Its answer comes to you in <reply>; you then send the next message, until the request is met.

Your answers have these fields:
- plan: the steps to the goal, each with the member who does it. It stands on the board. Repeat it word for word while it holds.
- current_plan_step: the step that your message is about.
- send_to: the id of a member, or "${USER}", who is the person that asked.
- message: what you tell the one you send to, in full. ${USER} sees nothing but this.
- ledger: how things stand, each with the reason. is_request_satisfied: all that was asked for is there. is_in_loop: the same goes to and fro. is_progress_being_made: the last reply brought the goal nearer; true in the first round. After ${config.max_stalls} rounds without progress you have to make another plan.
- stop: null as long as a member has something to do. With send_to "${USER}" it says why:
  "Completed": the request is met, and message is the whole answer.
  "Clarification": you cannot go on without knowing what is meant, and message is the question. The person's answer comes to you in <answer>, and you go on.
  "AdditionalInformation": the same for something that only the person can give.
  "TaskFailure": it cannot be done, and message says why. This ends the work.
  "SecurityRisks": it would do harm, and message says which. This ends the work.${output_keys.length > 1 ? `\n- outputs: with "Completed", one value for each of ${output_keys.join(", ")}.` : ""}`;
}

function decisionSchema(workers: readonly AgentConfig[], keys: readonly string[]): JsonSchema {
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
      send_to: { type: "string", enum: [...workers.map(({ agent_id }) => agent_id), USER] },
      message: { type: "string", minLength: 1 },
      ledger: {
        type: "object",
        properties: Object.fromEntries(LEDGER.map((name) => [name, verdict])),
        required: [...LEDGER],
        additionalProperties: false,
      },
      stop: { anyOf: [{ type: "string", enum: [...STOPS] }, { type: "null" }] },
      ...outputs,
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
