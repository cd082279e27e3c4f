import { tracked } from "@trpc/server";
import { z } from "zod";
import { present } from "@/server/domain/base/must";
import { runOf } from "@/server/operations/runs/runs";
import type { Services } from "@/server/operations/services";
import { shownOf } from "@/server/runner/lifecycle/redact-events";
import { procedure } from "./trpc";

/** What no operation can be: streams in tRPC's form, which programs have as listRunEvents. */
export const runStreams = {
  /** The run's events after `lastEventId`, then live; frames of streamed text carry the last event's number. */
  follow: procedure("read")
    .input(z.object({ run_id: z.string(), lastEventId: z.string().nullish() }))
    .subscription(({ ctx: { troupe, services }, input, signal }) => {
      // Before the first frame is asked for: a refusal must come as one, not as a stream that broke.
      runOf(services, input.run_id);
      const isDraining = () => troupe.host.isDraining;
      return framesOf(services, input.run_id, {
        after: Number(input.lastEventId ?? 0) || 0,
        signal,
        isDraining,
      });
    }),

  /** A part of the log, for runs shown within another one: browsers allow only six streams. */
  events: procedure("read")
    .input(
      z.object({ run_id: z.string(), after: z.int().min(0), limit: z.int().min(1).max(500).default(500) }),
    )
    .query(({ ctx: { services }, input: { run_id, after, limit } }) => {
      const { status, last_seq } = runOf(services, run_id);
      const isStill = status === "held" || status === "finished";
      const events = shownOf(services.runs, run_id)(services.runs.events(run_id, after, limit, isStill));
      const hasMore = (events.at(-1)?.seq ?? after) < last_seq;
      return { events, hasMore, isOver: isStill && !hasMore };
    }),

  /** A tick whenever any run changes its status. */
  overview: procedure("read").subscription(async function* ({ ctx, signal }) {
    yield* ctx.troupe.host.watchers.ticks(signal);
  }),
};

async function* framesOf(
  { host }: Services,
  runId: string,
  {
    after,
    signal,
    isDraining,
  }: { after: number; signal: AbortSignal | undefined; isDraining: () => boolean },
) {
  let last = after;
  for await (const frame of host.follow(runId, last, signal)) {
    if (frame.kind === "events") last = present(frame.events.at(-1), "frame.events.at(-1)").seq;
    yield tracked(String(last), frame);
  }
  // Shutting down is not the end of the run: the browser is to come back.
  if (isDraining()) throw new DOMException("The server is restarting.", "AbortError");
}
