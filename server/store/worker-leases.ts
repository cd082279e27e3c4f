import type { Db } from "@/db/open";
import { KeptLeases } from "@/server/domain/model/provider-lease";
import { newSettingStore } from "./settings";

const KEY = "worker_leases";

/** What workers may believe to have of providers' limits, over a restart of the server. */
export function newLeaseStore(db: Db) {
  const settings = newSettingStore(db);
  return {
    load(): KeptLeases {
      const text = settings.find(KEY);
      try {
        return text === undefined ? {} : KeptLeases.parse(JSON.parse(text));
      } catch {
        // Rewritten with the next heartbeat.
        return {};
      }
    },
    save(leases: KeptLeases): void {
      settings.set(KEY, JSON.stringify(leases));
    },
  };
}
