import path from "node:path";
import { defineConfig } from "vitest/config";

const root = import.meta.dirname;

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
    include: ["**/*.test.ts", "**/*.test.tsx"],
    exclude: ["**/node_modules/**", ".next*/**", "e2e/**", "data/**", "test-results/**"],
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // The offline model answers at once in tests; nothing reads the settings of the person who runs them.
    env: { TROUPE_OFFLINE_SPEED: "0", NODE_ENV: "test" },
    restoreMocks: true,
  },
});
