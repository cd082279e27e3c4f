// A browser for the end-to-end tests: an installed one, else Debian's package, else Playwright's.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { root } from "./prepare.mjs";

/** Debian's Chromium without window support: a quarter less work for the same tests. */
const SHELL = "/usr/bin/chromium-headless-shell";
const LOCATIONS = {
  linux: [
    SHELL,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
  ],
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ],
  win32: [process.env.PROGRAMFILES, process.env["PROGRAMFILES(X86)"], process.env.LOCALAPPDATA]
    .filter(Boolean)
    .map((folder) => path.join(folder, "Google/Chrome/Application/chrome.exe")),
};

// Ubuntu's stub, which only asks people to install a snap, exists but doesn't run.
const runs = (file) => spawnSync(file, ["--version"], { stdio: "ignore", timeout: 20_000 }).status === 0;

function findInstalled() {
  const configured = process.env.CHROMIUM_PATH;
  if (configured) return existsSync(configured) ? configured : null;
  const found = (LOCATIONS[process.platform] ?? []).filter((file) => existsSync(file));
  // On Windows, `--version` opens a window.
  return found.find((file) => process.platform === "win32" || runs(file)) ?? null;
}

const isRoot = () => process.getuid?.() === 0;
const isDebian = () =>
  existsSync("/etc/os-release") && /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));

function run(command, args, env = {}) {
  console.log(`  ${command} ${args.join(" ")}`);
  return (
    spawnSync(command, args, {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, ...env },
    }).status === 0
  );
}

/** The environment that makes Playwright use an installed browser; installs one if needed. Null if that fails. */
export function ensureBrowser() {
  const installed = findInstalled();
  const mayInstall = process.platform === "linux" && isRoot() && isDebian();
  // A person's machine uses any browser; CI gets the one made for tests.
  const isPreferred = !!process.env.CHROMIUM_PATH || existsSync(SHELL);
  const suffices = installed && (isPreferred || !process.env.CI || !mayInstall);
  if (suffices) return { CHROMIUM_PATH: installed };
  if (mayInstall) {
    console.log("Installing Chromium for the tests.");
    const quiet = { DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["update", "-qq"], quiet);
    run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell"], quiet);
    const packaged = findInstalled();
    if (packaged) return { CHROMIUM_PATH: packaged };
  }
  console.log("Found no Chromium or Chrome. Installing Chromium for the tests.");
  const withDeps = process.platform === "linux" && isRoot() ? ["--with-deps"] : [];
  const isInstalled = run(process.execPath, [
    "node_modules/@playwright/test/cli.js",
    "install",
    ...withDeps,
    "chromium",
  ]);
  return isInstalled ? { CHROMIUM_PATH: "", TROUPE_BUNDLED_BROWSER: "1" } : null;
}
