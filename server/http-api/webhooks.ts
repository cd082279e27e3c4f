import { createHash } from "node:crypto";
import { guard } from "@/server/access/guard";
import { addressOf, networkOf } from "@/server/access/requests/request-filter";
import { Rejection } from "@/server/domain/errors/rejection";
import { LIMITS } from "@/server/limits";
import type { Services } from "@/server/operations/services";
import type { FireOutcome } from "@/server/triggers/trigger-host";
import { errorResponse, json, rejectionFor } from "./serve";

/** Answers a delivery to the webhook with this key. */
export async function serveHook(
  request: Request,
  key: string,
  services: () => HookServices,
): Promise<Response> {
  const passed = await guard(request, {
    authScheme: "hook",
    maxBytes: LIMITS.hooks.bodyBytes,
    // The key is a password, so the rate limiter keeps only its hash.
    limitedBy: {
      sender: `address:${networkOf(addressOf(request.headers))}`,
      target: `hook:${createHash("sha256").update(key).digest("hex")}`,
    },
  });
  if (passed instanceof Response) return passed;
  if (request.method !== "POST")
    return errorResponse(new Rejection("method_not_allowed", "Allowed methods: POST."), { allow: "POST" });
  try {
    const { triggers, disk, runs } = services();
    const { trigger, outcome } = triggers.receive({
      key,
      headers: request.headers,
      query: new URL(request.url).searchParams,
      body: await passed.request.text(),
    });
    // Acknowledged deliveries survive a power cut.
    await disk.sync();
    const run_id = runOf(outcome);
    const waits = run_id !== null && trigger.config.respond === "result";
    if (!waits || !(await triggers.untilEnd(run_id, LIMITS.hooks.waitMs, request.signal)))
      return json({ run_id }, 202);
    const { final_status, output } = runs.state(run_id)?.run ?? {};
    return json({ run_id, final_status, output: output ?? {} }, final_status === "COMPLETED" ? 200 : 500);
  } catch (error) {
    return errorResponse(rejectionFor(error, "POST /hooks/{key}"));
  }
}

type HookServices = Pick<Services, "triggers" | "disk" | "runs">;

/** Null if the run will start when the server has room for it. Throws Rejection. */
function runOf(outcome: FireOutcome): string | null {
  if (outcome.status === "failed")
    throw new Rejection("start_failed", "The workflow couldn't start. Its trigger history shows why.");
  return outcome.status === "started" ? outcome.run_id : null;
}
