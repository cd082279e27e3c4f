import { globSync } from "node:fs";
import path from "node:path";
import base from "../../vitest.config.ts";

/** Tests that start programs: a change on purpose is switched on in the process of the tests only, so they cannot notice it. */
const IN_OTHER_PROCESSES = [
  "server/cli/workflow.test.ts",
  "server/http-api/freeze.test.ts",
  "server/runner/power-cut.test.ts",
  "server/runner/lifecycle/recovery-process.test.ts",
  // This one measures how long the thread is held, and changed code is slower.
  "server/runner/budget.test.ts",
  "server/tools/mcp/**",
  "server/tools/operator/**",
  "server/tools/sandbox/**",
  "scripts/**",
  "bench/**",
  // These read the sources themselves, which look different here.
  "server/access/static-rules.test.ts",
  "server/boundaries.test.ts",
  "server/domain/nodes/readme-example.test.ts",
];
/** Where only some tests are to be asked: see run.mjs. */
const asked = JSON.parse(process.env.TROUPE_MUTANTS_TESTS ?? "[]");
const others =
  asked.length === 0
    ? []
    : globSync(["server/**/*.test.ts", "components/**/*.test.{ts,tsx}"]).filter(
        (file) => !asked.some((pattern) => path.matchesGlob(file, pattern)),
      );

export default {
  ...base,
  test: {
    ...base.test,
    projects: base.test.projects.map((project) => ({
      ...project,
      test: { ...project.test, exclude: [...project.test.exclude, ...IN_OTHER_PROCESSES, ...others] },
    })),
  },
};
