import { existsSync } from "node:fs";
import path from "node:path";
import { defineConfig, devices } from "@playwright/test";

const installed = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((file) => existsSync(file));
const executablePath = process.env.TROUPE_BUNDLED_BROWSER
  ? undefined
  : process.env.CHROMIUM_PATH || installed;
export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  // Each worker has one browser, one server and one data folder for all of its tests (e2e/support/app.ts).
  workers: 2,
  fullyParallel: true,
  retries: 0,
  // Generous, because other tests may run on the same machine: only what never happens fails.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  forbidOnly: !!process.env.CI,
  reporter: [
    ["list"],
    ["json", { outputFile: process.env.TROUPE_E2E_REPORT ?? path.join("test-results", "report.json") }],
  ],
  use: {
    ...devices["Desktop Chrome"],
    viewport: { width: 1440, height: 900 },
    // Tracing copies the page at each step, which slows every test down.
    trace: process.env.TROUPE_TRACE ? "retain-on-failure" : "off",
    screenshot: "only-on-failure",
    actionTimeout: 30_000,
    // While an element moves, Playwright scrolls its canvas or menu, which scrolls back, and the click misses. With reduced
    // motion, each change is immediate.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      args: [
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
