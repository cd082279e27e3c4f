import { eq } from "drizzle-orm";
import type { Db } from "@/db/open";
import { settings } from "@/db/schema";
import { KeptLeases } from "@/server/domain/model/provider-share";

const KEY = "worker_leases";

/** What workers may believe to have of providers' limits, over a restart of the server. */
export function newLeaseStore(db: Db) {
  return {
    load(): KeptLeases {
      const text = db.select().from(settings).where(eq(settings.key, KEY)).get()?.value;
      try {
        return text === undefined ? {} : KeptLeases.parse(JSON.parse(text));
      } catch {
        // Written anew with the next sign of life.
        return {};
      }
    },
    save(leases: KeptLeases): void {
      const value = JSON.stringify(leases);
      db.insert(settings)
        .values({ key: KEY, value })
        .onConflictDoUpdate({ target: settings.key, set: { value } })
        .run();
    },
  };
}
