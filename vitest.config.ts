import path from "node:path";
import { defineConfig } from "vitest/config";

const root = import.meta.dirname;

/**
 * Files that change what the whole process shares (its HTTP servers, its console, the secrets that are blacked out) or
 * start processes: each has one of its own. All others may share a process, and must leave it as they found it.
 */
const ALONE = [
  "server/access/boot.test.ts",
  "server/log.test.ts",
  "server/secrets/*.test.ts",
  "server/runner/log/frames.test.ts",
  "scripts/**/*.test.ts",
];
/** What people see, in a document without a browser: files that leave the page and what it keeps as they found it. */
const SEEN = ["components/**/*.test.tsx"];
/** Files that put another module in the place of one (`vi.mock`), which only holds where nobody has loaded that one yet. */
const SEEN_ALONE = ["components/run/fork/fork-dialog.test.tsx", "components/run/compare/compare.test.tsx"];
const NEVER = [
  "**/node_modules/**",
  ".next*/**",
  "dist/**",
  "e2e/**",
  // Its own packages are there only where somebody installed them: `npm test` runs these with a configuration of their own.
  "packages/**",
  "data/**",
  "test-results/**",
  ".cache/**",
];

const seen = {
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
  // Styles are the browser tests' business.
  css: { postcss: { plugins: [] } },
  test: {
    environment: "node",
    // Long enough that only a hanging test fails: a busy machine may stall any test for many seconds.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // The offline model answers at once in tests; nothing reads the settings of the person who runs them.
    env: { TROUPE_OFFLINE_SPEED: "0", NODE_ENV: "test" },
    restoreMocks: true,
    globalSetup: "server/testing/temporary.ts",
    // One less than there are cores is usual; many of these wait for a second or for another process.
    maxWorkers: "100%",
    projects: [
      {
        ...seen,
        test: {
          ...seen.test,
          name: "seen",
          include: SEEN,
          exclude: [...NEVER, ...SEEN_ALONE],
          isolate: false,
        },
      },
      { ...seen, test: { ...seen.test, name: "seen alone", include: SEEN_ALONE, exclude: NEVER } },
      {
        extends: true,
        test: {
          name: "server",
          include: ["**/*.test.ts"],
          exclude: [...NEVER, ...ALONE],
          pool: "forks",
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "alone", include: ALONE, exclude: NEVER, pool: "forks" },
      },
    ],
  },
});
