import { Rejection } from "@/server/domain/errors/rejection";
import { LIMITS } from "@/server/limits";
import type { Services } from "@/server/operations/services";
import type { FireOutcome } from "@/server/triggers/trigger-host";
import { json, serveKeyed } from "../serve";

/** Answers a delivery to the webhook with this key. */
export const serveHook = (request: Request, key: string, services: () => HookServices): Promise<Response> =>
  serveKeyed(
    request,
    { kind: "hook", key, authScheme: "hook", maxBytes: LIMITS.hooks.bodyBytes },
    async (read) => {
      const { triggers, disk, runs } = services();
      const { trigger, outcome } = triggers.receive({
        key,
        headers: request.headers,
        query: new URL(request.url).searchParams,
        body: await read.text(),
      });
      // Acknowledged deliveries survive a power cut.
      await disk.sync();
      const run_id = runOf(outcome);
      const waits = run_id !== null && trigger.config.respond === "result";
      if (!waits || !(await triggers.untilEnd(run_id, LIMITS.hooks.waitMs, request.signal)))
        return json({ run_id }, 202);
      const { final_status, output } = runs.state(run_id)?.run ?? {};
      return json({ run_id, final_status, output: output ?? {} }, final_status === "COMPLETED" ? 200 : 500);
    },
  );

type HookServices = Pick<Services, "triggers" | "disk" | "runs">;

/** Null if the run will start when the server has room for it. Throws Rejection. */
function runOf(outcome: FireOutcome): string | null {
  if (outcome.status === "failed")
    throw new Rejection("start_failed", "The workflow couldn't start. Its trigger history shows why.");
  return outcome.status === "started" ? outcome.run_id : null;
}
