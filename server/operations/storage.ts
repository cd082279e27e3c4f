import { z } from "zod";
import { errorMessage } from "@/server/domain/base/guards";
import { log } from "@/server/log";
import { KeepRules } from "@/server/store/runs/retention";
import { operationsOf } from "./operation";
import { StorageState } from "./settings-schemas";

const { mutation, query } = operationsOf("Storage");

const Outdated = z.object({
  outdated: z.int().meta({ description: "Finished runs that the rules do not keep" }),
});

/** What the data folder holds, and how much of finished runs is kept. */
export const storageOperations = {
  get: query({
    name: "getStorage",
    summary: "What lies in the data folder, and how much of finished runs is kept",
    needs: "read",
    input: z.void(),
    output: StorageState,
    http: { route: "GET /storage", success: "Sizes in bytes, and the rules" },
    run: ({ retention }) => ({
      sizes: retention.sizes(),
      rules: retention.rules(),
      outdated: retention.countOutdated(),
    }),
  }),

  save: mutation({
    name: "replaceStorageRules",
    summary: "Says how much of finished runs is kept",
    about:
      "Every rule is replaced; null is no limit. What they do not keep is deleted at the next sweep, which comes by itself.",
    needs: "admin",
    input: KeepRules,
    output: Outdated,
    audits: ["kept_runs_changed"],
    http: { route: "PUT /storage/rules", success: "The rules hold" },
    run({ retention }, rules, { note }) {
      retention.save(rules);
      const { days, runs, workflows } = rules;
      note("kept_runs_changed", { days, runs, workflows: Object.keys(workflows).length });
      return { outdated: retention.countOutdated() };
    },
  }),

  sweep: mutation({
    name: "sweepStorage",
    summary: "Begins to delete what the rules do not keep; that goes on by itself",
    needs: "admin",
    input: z.void(),
    output: Outdated,
    http: { route: "POST /storage/sweep", status: 202, success: "It has begun" },
    run({ retention }) {
      const outdated = retention.countOutdated();
      retention.sweep().catch((error: unknown) => {
        log("warn", "Old runs could not be deleted.", {
          error: errorMessage(error),
        });
      });
      return { outdated };
    },
  }),
};
