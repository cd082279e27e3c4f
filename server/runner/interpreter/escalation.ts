import { amountText, type Passed, type Threshold, thresholdsOf } from "@/server/domain/agent/escalate";
import { defined } from "@/server/domain/base/defined";
import type { DurableContext, Flow, Settlement } from "@/server/domain/base/durable";
import { entriesOf, isObject } from "@/server/domain/base/guards";
import { LONGEST_INSTRUCTION } from "@/server/domain/run/commands/instructions";
import { isSince } from "@/server/domain/run/edition";
import type { PersonQuestion } from "../node/ports";
import type { Answered } from "../people/ask";
import type { Advice } from "./advice";
import type { Attempts } from "./attempts";
import type { Pauses } from "./pauses";
import { RunAsk } from "./run-ask";
import type { RunLimits } from "./run-limits";
import type { RunLog } from "./run-log";
import type { OpenAttempt, Tasks } from "./tasks";

const NOTHING: Passed = { errors: 0, cost_usd: 0, active_ms: 0 };
const INSTRUCT = "instruct";
/** How much of an error a question quotes; characters. */
const QUOTED = 300;

interface Parts {
  log: RunLog;
  tasks: Tasks;
  attempts: Attempts;
  pauses: Pauses;
  limits: Pick<RunLimits, "activeMs">;
}

/**
 * Asks a person once a run has passed its thresholds (`escalate`), before the next node, attempt, model call or tool
 * call. Each of these waits until the person lets the run continue; then the thresholds that were passed start over.
 */
export class Escalation {
  /** A person, or nobody in time, let the run stop here. */
  stopped: { by: string; reason: string } | null = null;
  private readonly question: RunAsk;
  private asked: readonly Threshold[] = [];
  private askedCount = 0;
  /** What had passed when each threshold was last agreed to. */
  private agreed = NOTHING;
  /** Attempts that were due while the question was open. */
  private kept: { task: OpenAttempt; answer: Settlement }[] = [];

  constructor(
    private readonly parts: Parts,
    engine: { context: DurableContext; advice: Pick<Advice, "expect"> },
  ) {
    this.question = new RunAsk(parts.log, engine);
  }

  get isAsking(): boolean {
    return this.question.isOpen;
  }
  get pending() {
    return this.question.pending;
  }
  waitsFor(key: string): boolean {
    return this.question.waitsFor(key);
  }

  /** A fork begins to count at its own first event. */
  restart(): void {
    this.agreed = NOTHING;
  }

  /** Whether this node's next piece of work must wait; asks if a threshold was passed. */
  holds(node_id: string): boolean {
    if (this.isAsking || this.stopped) return true;
    this.asked = this.passed();
    if (this.asked.length === 0) return false;
    for (const task of this.parts.tasks.all) this.parts.tasks.stopTimeout(task);
    this.question.ask(`escalation/${++this.askedCount}`, node_id, this.ask());
    return true;
  }

  /** Holds a running activation that comes to its next call. */
  *hold(node_id: string, activation_id: string): Flow<void> {
    const { log, tasks } = this.parts;
    while (this.holds(node_id)) {
      if (log.s.activations[activation_id]?.status === "running")
        log.apply({ type: "node_waiting", node_id, activation_id, payload: { for: "human" } });
      yield [tasks.newGate("question")];
    }
  }

  /** Whether an attempt that is due must wait. */
  keeps(task: OpenAttempt, answer: Settlement): boolean {
    const { attempts } = this.parts;
    if (task.retry === undefined || !this.holds(attempts.nodeOf(task.activationId).id)) return false;
    this.kept.push({ task, answer });
    return true;
  }

  receive(answer: Settlement): void {
    this.follow(this.question.receive(answer));
  }
  receiveKept(): void {
    this.follow(this.question.receiveKept());
  }

  private follow(answered: Answered | null): void {
    if (!answered) return;
    const { log, tasks, attempts, pauses } = this.parts;
    const { by, option, value, message, untrusted } = answered;
    if (answered.answer !== "chosen" || option === "stop") {
      const amounts = this.asked.map((of) => amountText(of, this.now[of])).join(", ");
      const who = answered.answer === "expired" ? "no one answered" : "a person stopped it";
      this.stopped = { by, reason: `Stopped after ${amounts}: ${who}.` };
      return;
    }
    this.agreed = { ...this.agreed, ...Object.fromEntries(this.asked.map((of) => [of, this.now[of]])) };
    const written = isObject(value) && typeof value.instruction === "string" ? value.instruction : message;
    if (option === INSTRUCT && written?.trim())
      log.apply({
        type: "instruction_injected",
        payload: { target: { run: true }, text: written, by, ...defined({ untrusted }) },
      });
    for (const task of tasks.all) if (task.flow) attempts.startClock(task.activationId);
    for (const { task, answer } of this.kept.splice(0))
      if (tasks.get(task.activationId) === task && !pauses.isKept(task, answer)) attempts.hand(task, answer);
    for (const { task, key } of tasks.openGates("question"))
      attempts.resume(task, { key, result: { ok: true, value: null }, at: log.at });
  }

  private get now(): Passed {
    const { log, limits } = this.parts;
    return { errors: log.errors.count, cost_usd: log.s.totals.cost_usd, active_ms: limits.activeMs };
  }

  /** The thresholds that were passed since a person last agreed to them. */
  private passed(): Threshold[] {
    const { run } = this.parts.log.s;
    if (!run.config.escalate || !isSince(run, 5)) return [];
    const { now, agreed } = this;
    return entriesOf(thresholdsOf(run.config.escalate)).flatMap(([of, most]) =>
      most !== undefined && now[of] - agreed[of] >= most ? [of] : [],
    );
  }

  private ask(): Omit<PersonQuestion, "about" | "mode"> {
    const { log } = this.parts;
    const { now } = this;
    const errors = log.errors.newest.map(
      (error) => `- \`${error.replace(/[`\s]+/g, " ").slice(0, QUOTED)}\``,
    );
    const { to = [] } = log.s.run.config.escalate ?? {};
    return {
      kind: "escalation",
      title: `Continue after ${this.asked.map((of) => amountText(of, now[of])).join(", ")}?`,
      why: `So far: ${entriesOf(now)
        .map(([of, amount]) => amountText(of, amount))
        .join(", ")} of running time.`,
      ...(errors.length > 0 ? { body: ["Latest errors:", ...errors].join("\n") } : {}),
      ...(to.length > 0 ? { required_expertise: to } : {}),
      options: [
        { label: "Continue", value: "continue" },
        { label: "Message agents", value: INSTRUCT },
        { label: "Stop the run", value: "stop" },
      ],
      response_schema: {
        type: "object",
        properties: {
          instruction: {
            type: "string",
            title: "Instruction",
            description: "For all agents, with “Instruct”",
            maxLength: LONGEST_INSTRUCTION,
          },
        },
      },
    };
  }
}
