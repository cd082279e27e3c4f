import { tracked } from "@trpc/server";
import { z } from "zod";
import { present } from "@/server/domain/base/must";
import { authorize } from "@/server/operations/operation";
import { runOf } from "@/server/operations/runs/runs";
import { shownOf } from "@/server/runner/lifecycle/redact-events";
import type { Container } from "@/server/services";
import { procedure } from "./trpc";

/** What no operation can be: streams in tRPC's form, which programs have as listRunEvents. */
export const runStreams = {
  /** The run's events after `lastEventId`, then live; frames of streamed text carry the last event's number. */
  follow: procedure
    .input(z.object({ run_id: z.string(), lastEventId: z.string().nullish() }))
    .subscription(({ ctx: { troupe, principal }, input, signal }) => {
      authorize("read", principal);
      // Before the first frame is asked for: a refusal must come as one, not as a stream that broke.
      runOf(troupe, input.run_id);
      return framesOf(troupe, input.run_id, Number(input.lastEventId ?? 0) || 0, signal);
    }),

  /** A part of the log, for runs shown within another one: browsers allow only six streams. */
  events: procedure
    .input(
      z.object({ run_id: z.string(), after: z.int().min(0), limit: z.int().min(1).max(500).default(500) }),
    )
    .query(({ ctx: { troupe, principal }, input: { run_id, after, limit } }) => {
      authorize("read", principal);
      const { status, last_seq } = runOf(troupe, run_id);
      const isStill = status === "held" || status === "finished";
      const events = shownOf(troupe.runs, run_id)(troupe.runs.events(run_id, after, limit, isStill));
      const hasMore = (events.at(-1)?.seq ?? after) < last_seq;
      return { events, hasMore, isOver: isStill && !hasMore };
    }),

  /** A tick whenever any run changes its status. */
  overview: procedure.subscription(async function* ({ ctx, signal }) {
    authorize("read", ctx.principal);
    yield* ctx.troupe.host.watchers.ticks(signal);
  }),
};

async function* framesOf({ host }: Container, runId: string, after: number, signal: AbortSignal | undefined) {
  let last = after;
  for await (const frame of host.follow(runId, last, signal)) {
    if (frame.kind === "events") last = present(frame.events.at(-1), "frame.events.at(-1)").seq;
    yield tracked(String(last), frame);
  }
  // Shutting down is not the end of the run: the browser is to come back.
  if (host.isDraining) throw new DOMException("The server is restarting.", "AbortError");
}
