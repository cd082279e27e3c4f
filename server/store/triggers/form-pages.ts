import { and, eq } from "drizzle-orm";
import type { Db } from "@/db/open";
import { triggers } from "@/db/schema";
import { TriggerSettings } from "@/server/domain/trigger/trigger";
import { ownJson } from "../own-json";
import { hashOf } from "../tokens";

/** Sites that may embed the form with this key. */
export function frameAncestors(db: Db, key: string): string[] {
  const row = db
    .select({ kind: triggers.kind, config: triggers.config })
    .from(triggers)
    .where(and(eq(triggers.keyHash, hashOf(key)), eq(triggers.kind, "form"), triggers.isEnabled))
    .get();
  const settings = row && TriggerSettings.parse({ kind: row.kind, config: ownJson(row.config) });
  return settings?.kind === "form" ? settings.config.frame_ancestors : [];
}
