import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { AUDIT_AREAS, kindsOf } from "@/server/domain/run/audit";
import { operationsOf } from "./operation";

const { query } = operationsOf("Server");

const PAGE = 10;

/** Who did what that matters for safety. There is no changing it. */
export const auditOperations = {
  /** The newest first; `next` is the cursor of the page after this one, null at the end. */
  list: query({
    name: "listAuditEntries",
    summary: "List audit entries, newest first",
    needs: "admin",
    input: z.object({
      area: z.enum(AUDIT_AREAS).optional(),
      cursor: z.number().int().nullish(),
      limit: z.number().int().min(1).max(100).default(PAGE),
    }),
    http: { browserOnly: "the audit log is for people only" },
    run({ audit, tokens }, { area, cursor, limit }, { principal }) {
      const found = audit.list({
        ...defined({ kinds: area && kindsOf(area), before: cursor ?? undefined }),
        // One more than is shown says whether there is a page after it.
        limit: limit + 1,
      });
      const entries = found.slice(0, limit).map((entry) => {
        const token = /^token:(.+)$/.exec(entry.who)?.[1];
        const isOwn = entry.who === `${principal.kind}:${principal.id}`;
        return { ...entry, token_name: token === undefined ? null : (tokens.nameOf(token) ?? null), isOwn };
      });
      return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null };
    },
  }),
};
