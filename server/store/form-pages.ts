import { and, eq } from "drizzle-orm";
import type { Db } from "@/db/open";
import { triggers } from "@/db/schema";
import { TriggerSettings } from "@/server/domain/trigger/trigger";
import { ownJson } from "./own-json";
import { hashOf } from "./tokens";

/** Who sent a form page, as keyed hashes. */
export interface Visitor {
  visitor: string;
  address: string;
}

/** What the pages of forms need to know besides their triggers. */
export function newFormPages(db: Db) {
  const started = db.$client.prepare<
    [Visitor & { id: string; since: number }],
    { runs: number; cost_usd: number }
  >(
    `select count(*) as runs, coalesce(sum(r.cost_usd), 0) as cost_usd
     from trigger_fires f left join runs r on r.id = f.run_id
     where f.trigger_id = @id and f.planned_at >= @since and (f.visitor = @visitor or f.address = @address)`,
  );
  return {
    /** How many runs of a form a visitor, or anyone at the same address, started since then, and their cost until now. */
    startedBy: (id: string, { visitor, address }: Visitor, since: number) =>
      started.get({ id, visitor, address, since }) ?? { runs: 0, cost_usd: 0 },

    /** The sites that may embed the page with this key. */
    frameAncestors(key: string): string[] {
      const row = db
        .select({ kind: triggers.kind, config: triggers.config })
        .from(triggers)
        .where(and(eq(triggers.keyHash, hashOf(key)), eq(triggers.kind, "form"), triggers.isEnabled))
        .get();
      const settings = row && TriggerSettings.parse({ kind: row.kind, config: ownJson(row.config) });
      return settings?.kind === "form" ? settings.config.frame_ancestors : [];
    },
  };
}
