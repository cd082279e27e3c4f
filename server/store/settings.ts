import { eq } from "drizzle-orm";
import type { Db } from "@/db/open";
import { settings } from "@/db/schema";

/** Small facts that outlive a restart, by name. */
export interface SettingStore {
  find(key: string): string | undefined;
  set(key: string, value: string): void;
  remove(key: string): boolean;
}

export function newSettingStore(db: Db): SettingStore {
  return {
    find: (key) => db.select().from(settings).where(eq(settings.key, key)).get()?.value,
    set: (key, value) => {
      db.insert(settings)
        .values({ key, value })
        .onConflictDoUpdate({ target: settings.key, set: { value } })
        .run();
    },
    remove: (key) => db.delete(settings).where(eq(settings.key, key)).run().changes > 0,
  };
}
