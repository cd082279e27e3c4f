import { RaisableLimit } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { Cancelled, type Durable, type DurableContext, type Settlement } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { commandError, RunCommand, tooLateEvent } from "@/server/domain/run/commands/command";
import { canGoOn } from "@/server/domain/run/commands/command-errors";
import { overrideNext } from "@/server/domain/run/commands/override";
import { waitersFor } from "@/server/domain/run/commands/signals";
import { memberChanged } from "@/server/domain/run/commands/team-edit";
import { isSince } from "@/server/domain/run/edition";
import type { RunEvent } from "@/server/domain/run/events";
import { complete } from "@/server/domain/run/schedule/outcomes";
import type { Sender } from "@/server/domain/run/started-by";
import { type Attempts, planEditSignal } from "./attempts";
import { Command, limitRaised, planEdited, type SkipCommand, signalKey, stateEdited } from "./commands";
import type { Escalation } from "./escalation";
import { limitsAskEverywhere, openLimitQuestion, raisedNow } from "./limits";
import type { Pauses } from "./pauses";
import { notFitting, Repeating } from "./repeating";
import type { RunLimits } from "./run-limits";
import type { RunLog } from "./run-log";
import type { Tasks } from "./tasks";

interface Parts {
  log: RunLog;
  tasks: Tasks;
  attempts: Attempts;
  pauses: Pauses;
  limits: RunLimits;
  escalation: Escalation;
}

/** What people tell a run on its way, and what the run that it repeats was told. Each is taken in between two answers. */
export class CommandHandler {
  /** The next command. */
  control: Durable;
  /** It failed, and continues only if a person retries the node. */
  isOver = false;
  repeating: Repeating;
  private controls = 1;
  /** What its failure stopped. */
  private stopped: readonly string[] = [];

  constructor(
    private readonly ctx: Pick<DurableContext, "signal" | "abandon">,
    created: RunEvent,
    private readonly parts: Parts,
  ) {
    this.control = ctx.signal("control#1");
    this.repeating = new Repeating(parts.log.s, created);
  }

  /** What a fork of this run comes to is its own. */
  stopRepeating(): void {
    this.repeating = new Repeating(this.parts.log.s);
  }

  /** The run has failed. True if it can continue when a person retries the node. */
  runFailed(stopped: readonly string[]): boolean {
    this.stopped = stopped;
    this.isOver = canGoOn(this.parts.log.s);
    return this.isOver;
  }

  /** A person's command to the run. */
  receive(answer: Settlement): void {
    this.control = this.ctx.signal(`control#${++this.controls}`);
    if (!isSince(this.parts.log.s.run, 3)) return this.applyCommand(answer);
    this.parts.log.commandId = answer.key;
    this.applyCommand(answer);
    // A newer server may have sent it, or its subject no longer exists.
    if (this.parts.log.commandId !== null)
      this.parts.log.apply(tooLateEvent("This run can't do that, or no longer can."));
  }

  private applyCommand(answer: Settlement): void {
    if (!answer.result.ok) return;
    const value = Command.parse(answer.result.value);
    const sender = { by: value.by ?? "user", ...defined({ untrusted: value.untrusted }) };
    if (value.kind === "edit_plan") return this.editPlan(value, sender);
    if (value.kind === "raise_limit") return this.raiseLimit(value, sender.by);
    const read = RunCommand.safeParse(answer.result.value);
    if (!read.success) return;
    // The run may have gone on since the person saw it.
    const rejection = commandError(this.parts.log.a, this.parts.log.s, read.data);
    if (rejection === null) this.follow(read.data, sender);
    else this.parts.log.apply(tooLateEvent(rejection));
  }

  /** Gives the run what a person told the one that it repeats, where it has come to that place. True if it did. */
  repeat(): boolean {
    const repeated = this.repeating.take(!this.parts.tasks.areMoving);
    if (!repeated) return false;
    const { command, by, untrusted } = repeated;
    const sender = { by, ...defined({ untrusted }) };
    if (command.kind === "cancel") throw new Cancelled(by, command.reason, this.parts.log.at);
    if (command.kind === "edit_plan") this.editPlan(command, sender);
    else if (command.kind === "raise_limit") this.raiseLimit(command, by);
    else {
      const rejection = commandError(this.parts.log.a, this.parts.log.s, command);
      if (rejection === null) this.follow(command, sender);
      else this.parts.log.applyAll(notFitting(repeated, rejection));
    }
    return true;
  }

  private follow(command: RunCommand, sender: Sender): void {
    const { by } = sender;
    switch (command.kind) {
      case "pause":
        return this.parts.pauses.pauseAt(by, "person", { point: "anywhere" }, command.now);
      case "resume":
        return this.continueRun(by, "resume");
      case "step":
        return this.continueRun(by, "step", command.granularity);
      case "set_breakpoints":
        return this.parts.log.apply({
          type: "breakpoints_set",
          payload: { breakpoints: command.breakpoints, by },
        });
      case "edit_state":
        this.parts.attempts.changing(command, by);
        return this.parts.log.apply(stateEdited(this.parts.log.s, command, sender));
      case "override_next":
        return this.parts.log.applyAll(overrideNext(this.parts.log.a, this.parts.log.s, command, by));
      case "override_agent":
        return this.chooseAgent(command, by);
      case "signal":
        return this.signal(command, sender);
      case "retry_node":
        return this.retry(command.activation_id, by);
      case "inject": {
        const { target, text } = command;
        return this.parts.log.apply({ type: "instruction_injected", payload: { target, text, ...sender } });
      }
      case "skip_node":
        return this.skip(command, sender);
      case "edit_team":
        return this.parts.log.applyAll(memberChanged(this.parts.log.s, command, sender));
      default:
        return command satisfies never;
    }
  }

  private continueRun(...how: Parameters<Pauses["continueRun"]>): void {
    this.parts.pauses.continueRun(...how);
    this.parts.limits.receiveKept();
    this.parts.escalation.receiveKept();
  }

  /** Resumes every node that waits for this signal. */
  private signal({ name, data }: { name: string; data: Json }, sender: Sender): void {
    const waiting = waitersFor(this.parts.log.s, name);
    this.parts.log.apply({ type: "signal_received", payload: { name, data, ...sender } });
    for (const id of waiting) {
      const key = signalKey(id);
      const task = this.parts.tasks.suspend(key);
      if (!task) continue;
      this.parts.tasks.settled(key);
      this.parts.attempts.resume(task, { key, result: { ok: true, value: data }, at: this.parts.log.at });
    }
  }

  private chooseAgent(
    { activation_id, agent_id }: { activation_id: string; agent_id: string },
    by: string,
  ): void {
    const { node_id } = must(this.parts.log.s.activations, activation_id);
    this.parts.log.apply({ type: "next_overridden", node_id, activation_id, payload: { agent_id, by } });
  }

  /** Retries a failed node; a run that failed with it resumes, including the nodes that this stopped. */
  private retry(id: string, by: string): void {
    const task = this.parts.tasks.get(id);
    if (task) this.parts.tasks.release(task);
    const again = (activation_id: string, more: { along?: true } = {}) => {
      const { node_id } = must(this.parts.log.s.activations, activation_id);
      this.parts.log.apply({ type: "node_retried", node_id, activation_id, payload: { by, ...more } });
    };
    if (!this.isOver) return again(id);
    this.isOver = false;
    this.parts.limits.reached = null;
    this.parts.log.apply({ type: "run_resumed", payload: { by } });
    for (const other of this.stopped) again(other, { along: true });
    again(id);
  }

  /** Ends an activation with a person's output and aborts its running work. */
  private skip({ activation_id, output, labels }: SkipCommand, sender: Sender): void {
    const task = this.parts.tasks.get(activation_id);
    if (task) this.parts.tasks.release(task);
    const { node_id } = must(this.parts.log.s.activations, activation_id);
    const given = { output, ...defined({ labels }) };
    this.parts.log.apply({
      type: "node_skipped_by",
      node_id,
      activation_id,
      payload: { ...given, ...sender },
    });
    this.parts.attempts.abandonCalls(activation_id);
    this.parts.log.applyAll(
      complete(this.parts.log.a, this.parts.log.s, activation_id, given, this.parts.log.at),
    );
  }

  editPlan(command: Command, sender: Sender): void {
    const edited = planEdited(this.parts.log.s, command, sender);
    if (!edited) return;
    this.parts.log.apply(edited.event);
    const key = planEditSignal(command.activation_id ?? "");
    const task = edited.isChanged && this.parts.tasks.ring(key);
    if (task)
      this.parts.attempts.resume(task, { key, result: { ok: true, value: null }, at: this.parts.log.at });
  }

  private raiseLimit(command: Command, by: string): void {
    const events = limitRaised(this.parts.log.s, command, by);
    if (!events) return;
    this.parts.log.applyAll(events);
    if (limitsAskEverywhere(this.parts.log.s)) this.answerByRaising(command, by);
    this.parts.limits.open();
  }

  /** Closes the question about this limit: it was raised by other means. */
  private answerByRaising({ limit }: Command, by: string): void {
    const read = RaisableLimit.safeParse(limit);
    const asked = read.success ? openLimitQuestion(this.parts.log.s, read.data) : undefined;
    if (!read.success || !asked) return;
    const key = `answer:${asked.id}`;
    const value = raisedNow(read.data, this.parts.log.s, by);
    const answer: Settlement = { key, result: { ok: true, value }, at: this.parts.log.at };
    this.ctx.abandon({ key });
    if (this.parts.limits.waitsFor(key)) return this.parts.limits.receive(answer);
    const task = this.parts.tasks.settled(key);
    if (task) this.parts.attempts.resume(task, answer);
  }
}
