// A browser for the end-to-end tests: the system's own where there is one, else Debian's package, else Playwright's.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { root } from "./prepare.mjs";

/** Debian's Chromium without anything that draws a window: a quarter less work for the same tests. */
const SHELL = "/usr/bin/chromium-headless-shell";
const KNOWN = {
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

// A stub that only tells people to install a snap is there, but does not run.
const runs = (file) => spawnSync(file, ["--version"], { stdio: "ignore", timeout: 20_000 }).status === 0;

function findInstalled() {
  const asked = process.env.CHROMIUM_PATH;
  if (asked) return existsSync(asked) ? asked : null;
  const found = (KNOWN[process.platform] ?? []).filter((file) => existsSync(file));
  // On Windows `--version` opens a window instead of answering.
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

/**
 * The environment that makes Playwright use a browser that exists, installing one if need be; null if there is none
 * to be had.
 */
export function ensureBrowser() {
  const installed = findInstalled();
  const mayInstall = process.platform === "linux" && isRoot() && isDebian();
  // Whatever a person has will do; a machine that is there to test gets the browser that is made for it.
  const isMadeForIt = !!process.env.CHROMIUM_PATH || existsSync(SHELL);
  const suffices = installed && (isMadeForIt || !process.env.CI || !mayInstall);
  if (suffices) return { CHROMIUM_PATH: installed };
  if (mayInstall) {
    console.log("Getting Chromium for the tests.");
    const quiet = { DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["update", "-qq"], quiet);
    run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell"], quiet);
    const packaged = findInstalled();
    if (packaged) return { CHROMIUM_PATH: packaged };
  }
  console.log("No Chromium or Chrome was found; getting one for the tests.");
  const withDeps = process.platform === "linux" && isRoot() ? ["--with-deps"] : [];
  const got = run(process.execPath, [
    "node_modules/@playwright/test/cli.js",
    "install",
    ...withDeps,
    "chromium",
  ]);
  return got ? { CHROMIUM_PATH: "", TROUPE_BUNDLED_BROWSER: "1" } : null;
}
