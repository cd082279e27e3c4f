import { log } from "@/server/access/log";
import { KeepRules } from "@/server/store/retention";
import { procedure, router } from "./trpc";

/** What lies in the data folder, and how much of finished runs is kept. */
export const storageRouter = router({
  get: procedure.query(({ ctx: { troupe } }) => ({
    sizes: troupe.retention.sizes(),
    rules: troupe.retention.rules(),
    outdated: troupe.retention.countOutdated(),
  })),

  save: procedure.input(KeepRules).mutation(({ ctx: { troupe }, input }) => {
    troupe.retention.save(input);
    return { outdated: troupe.retention.countOutdated() };
  }),

  /** Begins to delete what the rules do not keep; that goes on by itself. */
  sweep: procedure.mutation(({ ctx: { troupe } }) => {
    const outdated = troupe.retention.countOutdated();
    troupe.retention.sweep().catch((error: unknown) => {
      log("warn", "Old runs could not be deleted.", {
        error: error instanceof Error ? error.message : String(error),
      });
    });
    return { outdated };
  }),
});
