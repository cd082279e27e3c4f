import { initTRPC, TRPCError } from "@trpc/server";
import { ZodError } from "zod";
import { auditName, type Principal } from "@/server/access/principal";
import { recordOf } from "@/server/domain/base/guards";
import { issueTexts } from "@/server/domain/base/issues/issue-text";
import type { JsonObject } from "@/server/domain/base/values";
import type { AuditKind } from "@/server/domain/run/audit";
import { servicesFor } from "@/server/operations/limited/limited";
import { authorize, type Needs } from "@/server/operations/operation";
import { REJECTIONS, rejectionOf } from "@/server/operations/rejections";
import type { Container } from "@/server/services";

export interface Context {
  troupe: Container;
  /** Null only before a password was given; every procedure but the public ones refuses it. */
  principal: Principal | null;
}

const t = initTRPC.context<Context>().create({
  sse: { ping: { enabled: true, intervalMs: 5_000 }, client: { reconnectAfterInactivityMs: 15_000 } },
  errorFormatter: ({ shape, error }) => {
    // The words of an unexpected error may hold anything; people get a code and an id, the log gets the rest.
    const unexpected = error.code === "INTERNAL_SERVER_ERROR";
    return {
      ...shape,
      message: unexpected ? "Internal error. See the server log." : shape.message,
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        path: shape.data.path,
        detail: unexpected ? null : (recordOf(error.cause).detail ?? null),
      },
    };
  },
});

export const router = t.router;

const known = t.procedure.use(async ({ ctx, type, next }) => {
  if (!ctx.principal) throw new TRPCError({ code: "UNAUTHORIZED", message: "Sign in first." });
  const { troupe, principal } = ctx;
  const note = (kind: AuditKind, detail?: JsonObject) =>
    void troupe.audit.append({ kind, who: auditName(principal), ...(detail && { detail }) });
  const result = await next({ ctx: { ...ctx, principal, note } });
  if (!result.ok) throw refusalOf(result.error);
  if (type === "mutation") await troupe.disk.sync();
  return result;
});

/**
 * The only builder of procedures. Refuses callers without a session, token or scope, and explains invalid input in a sentence.
 * `ctx.services`: limited to what the caller may see. `ctx.note` writes to the audit. A mutation answers once its changes are on disk.
 */
export const procedure = (needs: Needs) =>
  known.use(({ ctx, next }) => {
    authorize(needs, ctx.principal);
    return next({ ctx: { ...ctx, services: servicesFor(ctx.troupe, ctx.principal) } });
  });

/** A rejection in tRPC's terms, and an input that does not fit in words; any other error as it is. */
function refusalOf(error: TRPCError): TRPCError {
  if (error.code === "BAD_REQUEST" && error.cause instanceof ZodError)
    return refusal("BAD_REQUEST", `Invalid input. ${issueTexts(error.cause).join("; ")}.`);
  if (error.code !== "INTERNAL_SERVER_ERROR") return error;
  const rejection = rejectionOf(error.cause);
  if (!rejection) return error;
  const { code, message, details, editor } = rejection;
  return refusal(REJECTIONS[code][1], message, editor ? { ...details, ...editor } : details);
}

/** Makes an error that carries data for the browser, such as the other tab's version on a conflict. */
export function refusal(code: TRPCError["code"], message: string, detail?: unknown): TRPCError {
  return new TRPCError({ code, message, cause: Object.assign(new Error(message), { detail }) });
}
