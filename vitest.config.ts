import path from "node:path";
import { defineConfig } from "vitest/config";

const root = import.meta.dirname;

/**
 * Test files that change process-wide state (HTTP servers, console, redacted secrets) or start processes: each gets its own
 * process. All others may share one, and must restore what they change.
 */
const ISOLATED = [
  "server/access/boot.test.ts",
  "server/log.test.ts",
  "server/secrets/*.test.ts",
  "server/runner/log/frames.test.ts",
  "scripts/**/*.test.ts",
];
/** Component tests in a simulated document. They share it, so they must restore the page and its storage. */
const COMPONENTS = ["components/**/*.test.tsx"];
/** Files with `vi.mock`, which only works before the mocked module is loaded. */
const COMPONENTS_ISOLATED = [
  "components/run/fork/fork-dialog.test.tsx",
  "components/run/compare/compare.test.tsx",
  "components/run/start/launch-dialog.test.tsx",
];
const EXCLUDED = [
  "**/node_modules/**",
  ".next*/**",
  "dist/**",
  "e2e/**",
  // Its dependencies may not be installed: `npm test` runs these with a separate configuration.
  "packages/**",
  "data/**",
  "test-results/**",
  ".cache/**",
];

const components = {
  extends: true as const,
  resolve: {
    alias: {
      "next/navigation": path.join(root, "components/testing/navigation.ts"),
      "next/link": path.join(root, "components/testing/link.tsx"),
      "next/dynamic": path.join(root, "components/testing/dynamic.tsx"),
    },
  },
  test: {
    environment: "happy-dom",
    setupFiles: ["components/testing/setup.ts"],
    pool: "forks" as const,
  },
};

export default defineConfig({
  resolve: {
    alias: {
      "@": root,
      "server-only": path.join(root, "server/testing/empty.ts"),
    },
  },
  // Browser tests cover styles.
  css: { postcss: { plugins: [] } },
  test: {
    environment: "node",
    // Long enough that only a hanging test fails: a busy machine may stall any test for many seconds.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // The offline model answers at once, and tests ignore the developer's own settings.
    env: { TROUPE_OFFLINE_SPEED: "0", NODE_ENV: "test" },
    restoreMocks: true,
    globalSetup: "server/testing/temporary.ts",
    // More than Vitest's default of cores minus one: many tests wait for a timer or another process.
    maxWorkers: "100%",
    projects: [
      {
        ...components,
        test: {
          ...components.test,
          name: "components",
          include: COMPONENTS,
          exclude: [...EXCLUDED, ...COMPONENTS_ISOLATED],
          isolate: false,
        },
      },
      {
        ...components,
        test: {
          ...components.test,
          name: "components isolated",
          include: COMPONENTS_ISOLATED,
          exclude: EXCLUDED,
        },
      },
      {
        extends: true,
        test: {
          name: "server",
          include: ["**/*.test.ts"],
          exclude: [...EXCLUDED, ...ISOLATED],
          pool: "forks",
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "isolated", include: ISOLATED, exclude: EXCLUDED, pool: "forks" },
      },
    ],
  },
});
