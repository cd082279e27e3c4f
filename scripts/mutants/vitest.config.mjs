import base from "../../vitest.config.ts";

/** Tests that start programs: a change on purpose is switched on in the process of the tests only, so they cannot notice it. */
const IN_OTHER_PROCESSES = [
  "server/cli/workflow.test.ts",
  "server/http-api/freeze.test.ts",
  "server/runner/power-cut.test.ts",
  "server/runner/recovery-process.test.ts",
  // This one measures how long the thread is held, and changed code is slower.
  "server/runner/budget.test.ts",
  "server/tools/mcp/**",
  "server/tools/operator/**",
  "server/tools/sandbox/**",
  // These read the sources themselves, which look different here.
  "server/access/static-rules.test.ts",
  "server/boundaries.test.ts",
];
const { projects: _, ...usual } = base.test;

export default {
  ...base,
  test: {
    ...usual,
    include: ["server/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...IN_OTHER_PROCESSES],
  },
};
