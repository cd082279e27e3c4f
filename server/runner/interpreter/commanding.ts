import { RaisableLimit } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { Cancelled, type Durable, type DurableContext, type Settlement } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { commandError, RunCommand, tooLateEvent } from "@/server/domain/run/commands/command";
import { overrideNext } from "@/server/domain/run/commands/override";
import { waitersFor } from "@/server/domain/run/commands/signals";
import { memberChanged } from "@/server/domain/run/commands/team-edit";
import { isSince } from "@/server/domain/run/edition";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";
import { complete } from "@/server/domain/run/schedule/outcomes";
import type { Effects } from "../node/ports";
import { planEditSignal } from "./attempts";
import { Command, limitRaised, planEdited, type SkipCommand, signalKey, stateEdited } from "./commands";
import { LimitAsking } from "./limit-asking";
import { limitsAskEverywhere, openLimitQuestion, raisedNow, raisedTo } from "./limit-question";
import { limitValue } from "./limits";
import { Pausing } from "./pausing";
import { notFitting, Repeating } from "./repeating";

/** What people tell a run on its way: commands, and their word at a limit. Each is taken in between two answers. */
export abstract class Commanding extends Pausing {
  protected control: Durable;
  private controls = 1;
  /** It failed, and goes on only if a person tries the node again. */
  protected isOver = false;
  /** What its failure stopped. */
  protected stopped: readonly string[] = [];
  protected readonly limitAsking = new LimitAsking(this);
  /** What people told the run that this one repeats. */
  protected repeating: Repeating;
  /** The command that is being applied, until an event carries its id. */
  private commandId: string | null = null;

  constructor(ctx: DurableContext<RunEvent>, created: RunEvent, effects: Effects) {
    super(ctx, created, effects);
    this.control = ctx.signal("control#1");
    this.repeating = new Repeating(this.s, created);
  }

  override apply(event: NewEvent): void {
    const id = this.commandId;
    this.commandId = null;
    super.apply(id === null ? event : { ...event, command_id: id });
  }

  /** Whether people told the run something that it has not come to. */
  protected get hasPendingCommand(): boolean {
    return [this.control, ...this.advice.pending].some(({ key }) => this.ctx.isSent(key));
  }

  /** A person's command to the run. */
  protected command(answer: Settlement): void {
    this.control = this.ctx.signal(`control#${++this.controls}`);
    if (!isSince(this.s.run, 3)) return this.applyCommand(answer);
    this.commandId = answer.key;
    this.applyCommand(answer);
    // A newer server may have sent it, or what it is about is gone.
    if (this.commandId !== null) this.apply(tooLateEvent("This run cannot do that, or no longer."));
  }

  private applyCommand(answer: Settlement): void {
    if (!answer.result.ok) return;
    const value = Command.parse(answer.result.value);
    const by = value.by ?? "user";
    if (value.kind === "edit_plan") return this.editPlan(value, by);
    if (value.kind === "raise_limit") return this.raiseLimit(value, by);
    const read = RunCommand.safeParse(answer.result.value);
    if (!read.success) return;
    // The run may have gone on since the person saw it.
    const rejection = commandError(this.a, this.s, read.data);
    if (rejection === null) this.follow(read.data, by);
    else this.apply(tooLateEvent(rejection));
  }

  /** Gives the run what a person told the one that it repeats, where it has come to that place. True if it did. */
  protected repeat(): boolean {
    const repeated = this.repeating.take(!this.tasks.areMoving);
    if (!repeated) return false;
    const { command, by } = repeated;
    if (command.kind === "cancel") throw new Cancelled(by, command.reason, this.at);
    if (command.kind === "edit_plan") this.editPlan(command, by);
    else if (command.kind === "raise_limit") this.raiseLimit(command, by);
    else {
      const rejection = commandError(this.a, this.s, command);
      if (rejection === null) this.follow(command, by);
      else this.applyAll(notFitting(repeated, rejection));
    }
    return true;
  }

  private follow(command: RunCommand, by: string): void {
    switch (command.kind) {
      case "pause":
        return this.pauseAt(by, "person", { point: "anywhere" }, command.now);
      case "resume":
        return this.continueRun(by, "resume");
      case "step":
        return this.continueRun(by, "step", command.granularity);
      case "set_breakpoints":
        return this.apply({ type: "breakpoints_set", payload: { breakpoints: command.breakpoints, by } });
      case "edit_state":
        this.changing(command, by);
        return this.apply(stateEdited(this.s, command, by));
      case "override_next":
        return this.applyAll(overrideNext(this.a, this.s, command, by));
      case "override_agent":
        return this.chooseAgent(command, by);
      case "signal":
        return this.signal(command, by);
      case "retry_node":
        return this.retry(command.activation_id, by);
      case "inject": {
        const { target, text } = command;
        return this.apply({ type: "instruction_injected", payload: { target, text, by } });
      }
      case "skip_node":
        return this.skip(command, by);
      case "edit_team":
        return this.applyAll(memberChanged(this.s, command, by));
      default:
        return command satisfies never;
    }
  }

  /** What a person said about the limit that kept the run from starting a node. */
  protected atLimit(answer: Settlement): void {
    if (this.isPaused && answer.key !== `answer:${this.limitAsking.id}`) return this.limitAsking.keep(answer);
    const decided = this.limitAsking.receive(answer);
    if (!decided) return;
    const { limit, answered } = decided;
    const to = raisedTo(answered, limit, this.s);
    if (to === null) this.limitAsking.stopAt(limit);
    else if (to > (limitValue(limit, this.s) ?? 0)) this.raiseNow(limit, to, answered.by);
  }

  protected override continueRun(...how: Parameters<Pausing["continueRun"]>): void {
    super.continueRun(...how);
    const kept = this.limitAsking.takeKept();
    if (kept) this.atLimit(kept);
  }

  /** Every node that waits for this signal goes on. */
  private signal({ name, data }: { name: string; data: Json }, by: string): void {
    const waiting = waitersFor(this.s, name);
    this.apply({ type: "signal_received", payload: { name, data, by } });
    for (const id of waiting) {
      const key = signalKey(id);
      const task = this.tasks.suspend(key);
      if (!task) continue;
      this.tasks.settled(key);
      this.resume(task, { key, result: { ok: true, value: data }, at: this.at });
    }
  }

  private chooseAgent(
    { activation_id, agent_id }: { activation_id: string; agent_id: string },
    by: string,
  ): void {
    const { node_id } = must(this.s.activations, activation_id);
    this.apply({ type: "next_overridden", node_id, activation_id, payload: { agent_id, by } });
  }

  /** Lets a node that failed begin anew, and a run that failed with it go on, with whatever that stopped. */
  private retry(id: string, by: string): void {
    const task = this.tasks.get(id);
    if (task) this.tasks.release(task);
    const again = (activation_id: string, more: { along?: true } = {}) => {
      const { node_id } = must(this.s.activations, activation_id);
      this.apply({ type: "node_retried", node_id, activation_id, payload: { by, ...more } });
    };
    if (!this.isOver) return again(id);
    this.isOver = false;
    this.limit = null;
    this.apply({ type: "run_resumed", payload: { by } });
    for (const other of this.stopped) again(other, { along: true });
    again(id);
  }

  /** Ends an activation with the output that a person gives; what it had under way is given up. */
  private skip({ activation_id, output, labels }: SkipCommand, by: string): void {
    const task = this.tasks.get(activation_id);
    if (task) this.tasks.release(task);
    const { node_id } = must(this.s.activations, activation_id);
    const given = { output, ...defined({ labels }) };
    this.apply({ type: "node_skipped_by", node_id, activation_id, payload: { ...given, by } });
    this.abandonCalls(activation_id);
    this.applyAll(complete(this.a, this.s, activation_id, given, this.at));
  }

  protected editPlan(command: Command, by: string): void {
    const edited = planEdited(this.s, command, by);
    if (!edited) return;
    this.apply(edited.event);
    const key = planEditSignal(command.activation_id ?? "");
    const task = edited.isChanged && this.tasks.ring(key);
    if (task) this.resume(task, { key, result: { ok: true, value: null }, at: this.at });
  }

  private raiseLimit(command: Command, by: string): void {
    const events = limitRaised(this.s, command, by);
    if (!events) return;
    this.applyAll(events);
    if (limitsAskEverywhere(this.s)) this.answerByRaising(command, by);
    this.openLimits();
  }

  /** Whoever was asked about that limit need not answer any more: it was raised at another place. */
  private answerByRaising({ limit }: Command, by: string): void {
    const read = RaisableLimit.safeParse(limit);
    const asked = read.success ? openLimitQuestion(this.s, read.data) : undefined;
    if (!read.success || !asked) return;
    const key = `answer:${asked.id}`;
    const value = raisedNow(read.data, this.s, by);
    const answer: Settlement = { key, result: { ok: true, value }, at: this.at };
    this.ctx.abandon({ key });
    if (this.limitAsking.waitsFor(key)) return this.atLimit(answer);
    const task = this.tasks.settled(key);
    if (task) this.resume(task, answer);
  }

  /** Whoever waits at a limit goes on. */
  protected openLimits(): void {
    this.isLimitOpened = false;
    this.limit = null;
    this.limitAsking.forget();
    for (const { task, key } of this.tasks.openGates("limit")) {
      if (!task.timeout && !this.isPaused) this.armTimeout(task);
      this.resume(task, { key, result: { ok: true, value: null }, at: this.at });
    }
  }
}
