import { globSync } from "node:fs";
import path from "node:path";
import base from "../../vitest.config.ts";

/** Tests that start programs: a mutant is active only in the process of the tests, so they can't detect it. */
const EXCLUDED = [
  "server/cli/workflow.test.ts",
  "server/http-api/freeze.test.ts",
  "server/http-api/triggers/service-kill.test.ts",
  "server/triggers/schedule-process.test.ts",
  "server/runner/durable/power-cut.test.ts",
  "server/runner/lifecycle/recovery-process.test.ts",
  // Measures how long the thread is blocked, and instrumented code is slower.
  "server/runner/node/budget.test.ts",
  "server/tools/mcp/**",
  "server/tools/operator/**",
  "server/tools/sandbox/**",
  "scripts/**",
  "bench/**",
  // These read the sources, which are instrumented here.
  "server/access/static-rules.test.ts",
  "server/boundaries.test.ts",
  "server/readme.test.ts",
  "server/domain/nodes/readme-example.test.ts",
];
/** The tests to run, if not all: see run.mjs. */
const selected = JSON.parse(process.env.TROUPE_MUTANTS_TESTS ?? "[]");
const others =
  selected.length === 0
    ? []
    : globSync(["server/**/*.test.ts", "components/**/*.test.{ts,tsx}"]).filter(
        (file) => !selected.some((pattern) => path.matchesGlob(file, pattern)),
      );

export default {
  ...base,
  test: {
    ...base.test,
    projects: base.test.projects.map((project) => ({
      ...project,
      test: { ...project.test, exclude: [...project.test.exclude, ...EXCLUDED, ...others] },
    })),
  },
};
