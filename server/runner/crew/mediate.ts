import type { AgentConfig } from "@/server/domain/agent/role";
import type { Flow } from "@/server/domain/base/durable";
import { present } from "@/server/domain/base/must";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import type { ChatMessage } from "@/server/domain/run/events";
import { concernsRun, errorOf } from "../agent/call-model";
import type { Crew } from "./crew";
import { plannerOf } from "./planner";
import { textOf, valueOf } from "./values";

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

interface Decision {
  plan: string[];
  current_plan_step: string;
  send_to: string;
  message: string;
  ledger: Record<(typeof LEDGER)[number], { answer: boolean; reason: string }>;
  stop: (typeof STOPS)[number] | null;
  outputs?: JsonObject;
}

/**
 * A manager mediates: in every round it sends one message to one worker, who replies to it alone. Workers never talk
 * to each other; what all should know stands on the board (TaskWeaver). The manager keeps a ledger of progress; too
 * many rounds without any lead to a new plan, and then to a person (Magentic-One).
 */
export function* mediate(crew: Crew): Flow<JsonObject> {
  const { run, config } = crew;
  const manager = plannerOf(config);
  const workers = config.agents.filter((agent) => agent !== manager);
  if (workers.length === 0)
    throw new NodeFailure("CONFIG", `${crew.name} has a manager and nobody to send. Add an agent.`);
  crew.writeBoard(manager.agent_id, `Request: ${crew.goal}`);
  let history: readonly ChatMessage[] = [];
  /** What the manager and each worker said to each other. */
  const talks = new Map<string, readonly ChatMessage[]>();
  let told = opening(crew, workers);
  let plan: string[] = [];
  let stalls = 0;
  let replans = 0;
  for (let round = 1; round <= config.max_rounds; round++) {
    run.emit({ type: "round_started", payload: { round } });
    const managed = yield* crew.work(manager, {
      task_id: `round-${round}`,
      purpose: "manage",
      may_use_tools: false,
      task: told,
      output_keys: [],
      answer_schema: decisionSchema(workers, crew.request.output_keys),
      check: (value) => faultsOf(value as unknown as Decision, crew.request.output_keys),
      inputs: round === 1 ? { goal: crew.goal, ...run.input } : {},
      history,
      ...(config.manager?.llm_config ? { llm_config: config.manager.llm_config } : {}),
    });
    const decision = managed.output as unknown as Decision;
    history = managed.transcript;
    if (decision.plan.join("\n") !== plan.join("\n")) {
      plan = decision.plan;
      crew.writeBoard(
        manager.agent_id,
        `Request: ${crew.goal}\nPlan:\n${plan.map((step) => `- ${step}`).join("\n")}`,
      );
    }
    const { ledger } = decision;
    const isStalled = !ledger.is_progress_being_made.answer || ledger.is_in_loop.answer;
    stalls = isStalled && round > 1 ? stalls + 1 : Math.max(0, stalls - 1);
    run.emit({
      type: "ledger_updated",
      agent_id: manager.agent_id,
      payload: { ledger, current_step: decision.current_plan_step, stalls, replans },
    });

    if (decision.stop === "Clarification" || decision.stop === "AdditionalInformation") {
      crew.post(manager.agent_id, USER, decision.message, "question");
      const answer = yield* run.ask(`round-${round}/question`, {
        about: { agent_id: manager.agent_id },
        kind: "escalation",
        title: `${manager.agent_id} needs to know something`,
        why: decision.message,
      });
      if (answer.answer === "reject" || answer.answer === "expired")
        throw new NodeFailure(
          answer.answer === "reject" ? "HUMAN_REJECTED" : "HUMAN_TIMEOUT",
          `${crew.name} had a question that was not answered: ${decision.message}`,
        );
      const advice = answer.message ?? "Go on as you think best.";
      crew.post(USER, manager.agent_id, advice, "answer");
      told = `${USER} answers: ${advice}`;
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
    if (stalls >= config.max_stalls) {
      if (replans >= config.max_replans)
        throw new NodeFailure(
          "STUCK",
          `${crew.name} made no progress, also after ${replans} new plans: ${ledger.is_progress_being_made.reason}`,
          { user_action: "edit_graph" },
        );
      replans++;
      stalls = 0;
      crew.post(
        manager.agent_id,
        manager.agent_id,
        "There was no progress; the plan is made anew.",
        "feedback",
      );
      told =
        "There was no progress. Write down anew what is known and what is not, and make another plan that avoids what did not work.";
      continue;
    }

    const worker = present(crew.member(decision.send_to), "crew.member(decision.send_to)");
    crew.post(manager.agent_id, worker.agent_id, decision.message, "post");
    const talk = talks.get(worker.agent_id) ?? [];
    const reply = yield* replyOf(crew, worker, decision.message, round, talk);
    crew.post(worker.agent_id, manager.agent_id, reply, "reply");
    talks.set(worker.agent_id, [
      ...talk,
      { role: "user", content: decision.message },
      { role: "assistant", content: reply },
    ]);
    told = `${worker.agent_id} replies:\n${reply}`;
  }
  throw new NodeFailure(
    "MAX_ITERATIONS",
    `${crew.name} was not done after ${config.max_rounds} rounds, which is its limit.`,
    { user_action: "edit_graph" },
  );
}

/** A worker's reply; its failure is told to the manager, who may find another way. */
function* replyOf(
  crew: Crew,
  worker: AgentConfig,
  message: string,
  round: number,
  history: readonly ChatMessage[],
): Flow<string> {
  try {
    const result = yield* crew.work(worker, {
      task_id: `round-${round}`,
      task: message,
      output_keys: [],
      inputs: crew.run.input,
      history,
    });
    return textOf(valueOf(result.output));
  } catch (error) {
    const cause = errorOf(error);
    if (concernsRun(cause) || cause.code === "CONFIG") throw error;
    return `I could not do it: ${cause.message}`;
  }
}

function opening(crew: Crew, workers: readonly AgentConfig[]): string {
  const team = workers.map((worker) => `- ${crew.describe(worker)}`).join("\n");
  return `Lead this team to the goal: ${crew.goal}\nYou do no work of your own. In each round send one message to one of them; it replies to you alone, and knows nothing but what you two have said and the board, so tell it everything that it needs.\n${team}\nKeep the ledger honest. Once the request is satisfied, send the whole answer to "${USER}" with stop "Completed".`;
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

function faultsOf(decision: Decision, keys: readonly string[]): string[] {
  if (decision.send_to !== USER) {
    return decision.stop === "Completed" ? [`stop "Completed" goes with send_to "${USER}".`] : [];
  }
  if (decision.stop !== "Completed" || keys.length < 2) return [];
  const missing = keys.filter((key) => decision.outputs?.[key] === undefined);
  return missing.length > 0 ? [`outputs lacks ${missing.join(", ")}.`] : [];
}
