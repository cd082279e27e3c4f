import { z } from "zod";
import { errorMessage } from "@/server/domain/base/guards";
import { log } from "@/server/log";
import { KeepRules } from "@/server/store/runs/retention";
import { operationsOf } from "./operation";
import { StorageState } from "./settings-schemas";

const { mutation, query } = operationsOf("Storage");

const Outdated = z.object({
  outdated: z.int().meta({ description: "Number of finished runs that the retention rules would delete" }),
});

/** What the data folder holds, and how much of finished runs is kept. */
export const storageOperations = {
  get: query({
    name: "getStorage",
    summary: "Get storage sizes and retention rules",
    needs: "read",
    input: z.void(),
    output: StorageState,
    http: { route: "GET /storage", success: "Sizes in bytes, and the retention rules" },
    run: ({ retention }) => ({
      sizes: retention.sizes(),
      rules: retention.rules(),
      outdated: retention.countOutdated(),
    }),
  }),

  save: mutation({
    name: "replaceStorageRules",
    summary: "Set the retention rules for finished runs",
    about:
      "Replaces all rules; null means no limit. Runs beyond the limits are deleted at the next automatic cleanup.",
    needs: "admin",
    input: KeepRules,
    output: Outdated,
    audits: ["kept_runs_changed"],
    http: { route: "PUT /storage/rules", success: "Saved" },
    run({ retention }, rules, { note }) {
      retention.save(rules);
      const { days, runs, workflows } = rules;
      note("kept_runs_changed", { days, runs, workflows: Object.keys(workflows).length });
      return { outdated: retention.countOutdated() };
    },
  }),

  sweep: mutation({
    name: "sweepStorage",
    summary: "Delete old runs now, according to the retention rules",
    needs: "admin",
    input: z.void(),
    output: Outdated,
    http: { route: "POST /storage/sweep", status: 202, success: "Started; continues in the background" },
    run({ retention }) {
      const outdated = retention.countOutdated();
      retention.sweep().catch((error: unknown) => {
        log("warn", "Old runs couldn't be deleted.", {
          error: errorMessage(error),
        });
      });
      return { outdated };
    },
  }),
};
