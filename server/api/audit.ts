import { z } from "zod";
import { AUDIT_AREAS, kindsOf } from "@/server/domain/run/audit";
import { procedure, router } from "./trpc";

const PAGE = 10;

/** Who did what that matters for safety, for looking back. There is no changing it. */
export const auditRouter = router({
  /** The newest first; `next` is the cursor of the page after this one, null at the end. */
  list: procedure
    .input(
      z.object({
        area: z.enum(AUDIT_AREAS).optional(),
        cursor: z.number().int().nullish(),
        limit: z.number().int().min(1).max(100).default(PAGE),
      }),
    )
    .query(({ ctx, input: { area, cursor, limit } }) => {
      const { audit, tokens } = ctx.troupe;
      const found = audit.list({
        ...(area ? { kinds: kindsOf(area) } : {}),
        ...(cursor == null ? {} : { before: cursor }),
        // One more than is shown says whether there is a page after it.
        limit: limit + 1,
      });
      const entries = found.slice(0, limit).map((entry) => {
        const token = /^token:(.+)$/.exec(entry.who)?.[1];
        const isOwn = entry.who === `${ctx.principal.kind}:${ctx.principal.id}`;
        return { ...entry, token_name: token === undefined ? null : (tokens.nameOf(token) ?? null), isOwn };
      });
      return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null };
    }),
});
