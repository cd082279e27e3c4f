import { existsSync, mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { defineConfig, devices } from "@playwright/test";

const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) =>
  existsSync(file),
);
const executablePath = process.env.TROUPE_BUNDLED_BROWSER
  ? undefined
  : process.env.CHROMIUM_PATH || installed;
const port = Number(process.env.TROUPE_E2E_PORT ?? 3222);

// Workers read this file again: what the first reading decides is handed down.
process.env.TROUPE_E2E_DATA ??= mkdtempSync(path.join(os.tmpdir(), "troupe-e2e-"));
process.env.TROUPE_E2E_PORT = String(port);

/** The token that specs use for the HTTP API. */
process.env.TROUPE_E2E_TOKEN ??= "e2e-token-that-no-one-else-knows";

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  // One server, one database, two cores.
  workers: 1,
  fullyParallel: false,
  retries: 0,
  timeout: 90_000,
  expect: { timeout: 10_000 },
  forbidOnly: !!process.env.CI,
  reporter: [
    ["list"],
    ["json", { outputFile: process.env.TROUPE_E2E_REPORT ?? path.join("test-results", "report.json") }],
  ],
  use: {
    ...devices["Desktop Chrome"],
    viewport: { width: 1440, height: 900 },
    baseURL: `http://127.0.0.1:${port}`,
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
    actionTimeout: 10_000,
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
  webServer: {
    command: `"${process.execPath}" scripts/start.mjs --serve-only`,
    url: `http://127.0.0.1:${port}/api/v1/health`,
    env: {
      PORT: String(port),
      HOST: "127.0.0.1",
      TROUPE_DATA_DIR: process.env.TROUPE_E2E_DATA,
      TROUPE_API_TOKEN: process.env.TROUPE_E2E_TOKEN,
      TROUPE_OFFLINE_SPEED: process.env.TROUPE_OFFLINE_SPEED ?? "4",
      // The tests never spend anyone's money, and never meet anyone's settings.
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
      TROUPE_PASSWORD: "",
      TROUPE_START_LINK: "",
      TROUPE_PUBLIC_URL: "",
    },
    reuseExistingServer: false,
    timeout: 60_000,
    gracefulShutdown: { signal: "SIGTERM", timeout: 5_000 },
    stdout: "ignore",
    stderr: "pipe",
  },
});
