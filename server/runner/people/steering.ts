import type { RaisableLimit } from "@/server/domain/agent/outcome";
import { parseJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import type { RunCommand } from "@/server/domain/run/commands/command";
import { editPlan, type PlanEdit } from "@/server/domain/run/commands/plan-edit";
import { GivenAnswer, type PersonsAnswer } from "@/server/domain/run/questions/tool-question";
import type { Sender } from "@/server/domain/run/started-by";
import type { RunStore } from "@/server/store/runs/runs";
import type { Clock } from "../durable/clock";
import type { LiveRuns } from "../lifecycle/live-runs";
import type { RunExecutor } from "../lifecycle/run-executor";
import type { CommandWaiters, Heard } from "./command-waiters";

interface Parts {
  store: Pick<RunStore, "command" | "find" | "openChildren" | "sent" | "signal" | "state">;
  waiters: CommandWaiters;
  clock: Clock;
  live: LiveRuns;
  runs: Pick<RunExecutor, "deliver">;
}

/** A command that is in the log of commands, and what its run made of it. */
export interface CommandResult {
  /** The event that it causes carries it. */
  command_id: string;
  heard: Heard;
}

/** People's commands to runs: validated, stored, then delivered. A run processes them even after a restart. */
export class Steering {
  constructor(private readonly parts: Parts) {}

  raiseLimit(runId: string, limit: RaisableLimit, to: number, by: string): Promise<CommandResult> {
    return this.keep(runId, { kind: "raise_limit", limit, to, by });
  }

  command(
    runId: string,
    command: RunCommand,
    by: string,
    untrusted?: Sender["untrusted"],
  ): Promise<CommandResult> {
    // Child runs pause and continue with their parent.
    if (command.kind === "pause" || command.kind === "resume")
      for (const id of this.parts.store.openChildren(runId)) void this.command(id, command, by, untrusted);
    return this.keep(runId, parseJson(JSON.stringify({ ...command, by, untrusted })));
  }

  /** Throws Rejection. */
  editPlan(runId: string, activationId: string, edit: PlanEdit, sender: Sender): Promise<CommandResult> {
    const { store } = this.parts;
    const run = store.find(runId);
    const state = run && run.status !== "finished" ? store.state(runId) : undefined;
    const crew = state?.crews[activationId];
    const plan = state?.plans[activationId];
    if (!run || !crew || !plan || crew.status !== "running")
      throw new Rejection("plan_not_changed", "This crew is no longer running.");
    const edited = editPlan(plan, crew, edit);
    if (!edited.ok) throw new Rejection("plan_not_changed", edited.message);
    return this.keep(runId, { kind: "edit_plan", activation_id: activationId, edit, ...sender });
  }

  private async keep(runId: string, value: Json): Promise<CommandResult> {
    const { store, waiters, clock, live, runs } = this.parts;
    const command_id = store.command(runId, value, clock.now());
    for (;;) {
      const final = store.find(runId)?.final_status ?? null;
      // Nothing resumes a run that completed or was cancelled; any other is taken up again for this.
      if (final === "COMPLETED" || final === "CANCELLED") return { command_id, heard: "ended" };
      if (final === "ERROR") await live.gone(runId);
      const followed = waiters.wait(runId, command_id);
      runs.deliver(runId, command_id, value);
      const heard = await followed;
      // It may have come when the run was about to end, or to be held.
      if (heard !== "ended" || final !== null) return { command_id, heard };
    }
  }

  /**
   * False if the question is no longer open, or the fingerprint names another one: an answer counts for exactly one
   * question, once. An answer that nothing waited for is stored, marked late, if its run has ended.
   */
  answer(
    runId: string,
    interactionId: string,
    fingerprint: string,
    value: PersonsAnswer & { by: string; untrusted?: true },
  ): boolean {
    const { store, clock, live, runs } = this.parts;
    const interaction = store.state(runId)?.interactions[interactionId];
    if (interaction?.status !== "open" || interaction.requested.fingerprint !== fingerprint) return false;
    // A run that has not noticed yet that it slept leaves the question open for longer, and so does one taken up again.
    const { mode, expires_at } = interaction.requested;
    const name = `answer:${interactionId}`;
    if (mode === "advisory" && store.find(runId)?.status === "finished")
      return store.signal(runId, name, { ...value, late: true }, clock.now());
    const asking = live.get(runId)?.engine;
    if (mode !== "advisory" && expires_at <= clock.now() && asking && !asking.hasSlept) return false;
    if (!store.signal(runId, name, value, clock.now())) return false;
    runs.deliver(runId, name, value);
    return true;
  }

  /** Who answered a question, even if the run hasn't processed that yet; null if nobody did. */
  answered(runId: string, interactionId: string): GivenAnswer | null {
    const { store } = this.parts;
    const kept = store.sent(runId, `answer:${interactionId}`);
    const taken = store.state(runId)?.interactions[interactionId]?.answered;
    return GivenAnswer.safeParse(taken ?? kept).data ?? null;
  }
}
