import { tracked } from "@trpc/server";
import { z } from "zod";
import { present } from "@/server/domain/base/must";
import { bisectOperations } from "@/server/operations/bisect";
import { controlOperations } from "@/server/operations/control";
import { forkOperations } from "@/server/operations/forks";
import { pastOperations } from "@/server/operations/past";
import { runOf, runOperations } from "@/server/operations/runs";
import { shareOperations } from "@/server/operations/share";
import { steeringOperations } from "@/server/operations/steering";
import { teamOperations } from "@/server/operations/team";
import type { Container } from "@/server/services";
import { procedures } from "./expose";
import { procedure, router } from "./trpc";

/** Runs: start, follow, steer, look back. */
export const runsRouter = router({
  ...procedures({
    ...runOperations,
    ...pastOperations,
    ...shareOperations,
    ...steeringOperations,
    ...controlOperations,
    ...teamOperations,
    ...forkOperations,
    ...bisectOperations,
  }),

  /** The run's events after `lastEventId`, then live; frames of streamed text carry the last event's number. */
  follow: procedure
    .input(z.object({ run_id: z.string(), lastEventId: z.string().nullish() }))
    .subscription(({ ctx: { troupe }, input, signal }) => {
      // Before the first frame is asked for: a refusal must come as one, not as a stream that broke.
      runOf(troupe, input.run_id);
      return framesOf(troupe, input.run_id, Number(input.lastEventId ?? 0) || 0, signal);
    }),

  /** A tick whenever any run changes its status. */
  overview: procedure.subscription(async function* ({ ctx, signal }) {
    yield* ctx.troupe.host.ticks(signal);
  }),
});

async function* framesOf({ host }: Container, runId: string, after: number, signal: AbortSignal | undefined) {
  let last = after;
  for await (const frame of host.follow(runId, last, signal)) {
    if (frame.kind === "events") last = present(frame.events.at(-1), "frame.events.at(-1)").seq;
    yield tracked(String(last), frame);
  }
  // Shutting down is not the end of the run: the browser is to come back.
  if (host.isDraining) throw new DOMException("The server is restarting.", "AbortError");
}
