import path from "node:path";
import { defineConfig } from "vitest/config";

const root = path.resolve(import.meta.dirname, "../..");

// A separate configuration, because these tests start Restate and workers.
export default defineConfig({
  root: import.meta.dirname,
  resolve: { alias: { "@": root, "server-only": path.join(root, "server/testing/empty.ts") } },
  test: {
    environment: "node",
    include: ["*.test.ts"],
    globalSetup: path.join(root, "server/testing/temporary.ts"),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Generous, for machines under load.
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
    pool: "forks",
    env: { TROUPE_OFFLINE_SPEED: "0", NODE_ENV: "test" },
  },
});
