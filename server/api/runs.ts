import { TRPCError, tracked } from "@trpc/server";
import { z } from "zod";
import { noteAnswer, toolsAskedAbout } from "@/server/domain/audit";
import { KeyReused } from "@/server/domain/key-reused";
import { FinalStatus, limitFault, RaisableLimit, RunConfigChanges } from "@/server/domain/outcome";
import { PlanEdit } from "@/server/domain/plan-edit";
import { answerFaults, notOpen, PersonsAnswer } from "@/server/domain/tool-question";
import { Json, StateKey } from "@/server/domain/values";
import { QueueFull } from "@/server/runner/host";
import { RefusedStart } from "@/server/runner/launch";
import type { RunSummary } from "@/server/store/runs";
import { fileProcedures } from "./files";
import { procedure, refusal, router } from "./trpc";

const ById = z.object({ run_id: z.string() });

/** Runs: start, follow, steer, look back. */
export const runsRouter = router({
  ...fileProcedures,

  start: procedure
    .input(
      z.strictObject({
        workflow_id: z.string(),
        input: z.record(StateKey, Json).default({}),
        config: RunConfigChanges.optional(),
        idempotency_key: z.string().min(1).max(200).optional(),
      }),
    )
    .mutation(({ ctx, input }) => {
      try {
        const started = ctx.troupe.startRun({ ...input, trigger: "editor" });
        if (!started)
          throw new TRPCError({ code: "NOT_FOUND", message: "This workflow does not exist any more." });
        return { run_id: started.run_id };
      } catch (error) {
        if (error instanceof RefusedStart) throw refusal("BAD_REQUEST", error.message, error.detail);
        if (error instanceof KeyReused) throw refusal("CONFLICT", error.message);
        if (error instanceof QueueFull) throw refusal("TOO_MANY_REQUESTS", error.message);
        throw error;
      }
    }),

  list: procedure
    .input(
      z
        .object({
          workflow_id: z.string().optional(),
          status: z
            .array(z.enum(["queued", "running", "waiting", "held", "finished"]))
            .min(1)
            .optional(),
          final_status: FinalStatus.optional(),
          limit: z.number().int().min(1).max(200).default(50),
          before: z.object({ created_at: z.number(), id: z.string() }).optional(),
        })
        .prefault({}),
    )
    .query(({ ctx, input }) => ctx.troupe.runs.list(input)),

  get: procedure.input(ById).query(({ ctx, input }) => ctx.troupe.runs.find(input.run_id) ?? notFound()),

  cancel: procedure.input(ById).mutation(({ ctx, input }) => {
    if (!ctx.troupe.host.cancel(input.run_id, { by: "user", reason: "" }))
      throw refusal("PRECONDITION_FAILED", "This run has already ended.");
    return {};
  }),

  /** Takes up a run again that is held. */
  tryAgain: procedure.input(ById).mutation(({ ctx, input }) => {
    if (!ctx.troupe.host.tryAgain(input.run_id))
      throw refusal("PRECONDITION_FAILED", "This run is not held any more.");
    return {};
  }),

  raiseLimit: procedure
    .input(ById.extend({ limit: RaisableLimit, to: z.number().positive() }))
    .mutation(({ ctx, input }) => {
      const run = notHeld(ctx.troupe.runs.find(input.run_id) ?? notFound());
      const state = run.status === "finished" ? ctx.troupe.runs.state(input.run_id) : null;
      if (run.status === "finished" && !state?.run.resumable?.includes(input.limit))
        throw refusal("PRECONDITION_FAILED", "This run did not stop at that limit.");
      const fault = limitFault(input.limit, input.to);
      if (fault !== null) throw refusal("BAD_REQUEST", fault);
      ctx.troupe.host.raiseLimit(input.run_id, input.limit, input.to, "user");
      return {};
    }),

  /** A person's change of the plan of a crew that is at work; the plan's task must not have begun. */
  editPlan: procedure
    .input(ById.extend({ activation_id: z.string(), edit: PlanEdit }))
    .mutation(({ ctx, input: { run_id, activation_id, edit } }) => {
      notHeld(ctx.troupe.runs.find(run_id) ?? notFound());
      const fault = ctx.troupe.host.editPlan(run_id, activation_id, edit, "user");
      if (fault !== null) throw refusal("CONFLICT", fault);
      return {};
    }),

  /** A person's answer to exactly the question that the fingerprint names. */
  answer: procedure
    .input(
      ById.extend({
        interaction_id: z.string(),
        fingerprint: z.string(),
        ...PersonsAnswer.shape,
      }),
    )
    .mutation(({ ctx, input: { run_id, interaction_id, fingerprint, ...value } }) => {
      const run = notHeld(ctx.troupe.runs.find(run_id) ?? notFound());
      const asked = ctx.troupe.runs.state(run_id)?.interactions[interaction_id]?.requested;
      const tooLate = () => {
        const given = ctx.troupe.host.answered(run_id, interaction_id);
        return refusal("CONFLICT", notOpen(given), given && { answered_by: given.by, answer: given.answer });
      };
      if (ctx.troupe.host.answered(run_id, interaction_id)) throw tooLate();
      const errors = asked ? answerFaults(asked, value) : [];
      if (errors.length > 0)
        throw refusal("BAD_REQUEST", "The answer does not fit what is asked.", { errors });
      if (!ctx.troupe.host.answer(run_id, interaction_id, fingerprint, { ...value, by: "user" }))
        throw tooLate();
      noteAnswer(ctx.note, run, value.answer, toolsAskedAbout(asked));
      return {};
    }),

  remove: procedure.input(ById).mutation(({ ctx, input }) => {
    if (ctx.troupe.host.isLive(input.run_id) || !ctx.troupe.runs.remove(input.run_id))
      throw refusal("PRECONDITION_FAILED", "A run can be deleted once it has ended.");
    return {};
  }),

  /** The run's events after `lastEventId`, then live; frames of streamed text carry the last event's number. */
  follow: procedure.input(ById.extend({ lastEventId: z.string().nullish() })).subscription(async function* ({
    ctx,
    input,
    signal,
  }) {
    if (!ctx.troupe.runs.find(input.run_id)) notFound();
    let last = Number(input.lastEventId ?? 0) || 0;
    for await (const frame of ctx.troupe.host.follow(input.run_id, last, signal)) {
      if (frame.kind === "events") last = frame.events.at(-1)!.seq;
      yield tracked(String(last), frame);
    }
    // Shutting down is not the end of the run: the browser is to come back.
    if (ctx.troupe.host.isDraining) throw new DOMException("The server is restarting.", "AbortError");
  }),

  /** A tick whenever any run changes its status. */
  overview: procedure.subscription(async function* ({ ctx, signal }) {
    yield* ctx.troupe.host.ticks(signal);
  }),
});

function notFound(): never {
  throw new TRPCError({ code: "NOT_FOUND", message: "This run does not exist any more." });
}

function notHeld<T extends RunSummary>(run: T): T {
  if (run.held) throw refusal("PRECONDITION_FAILED", "This run is held. Try it again first, or cancel it.");
  return run;
}
