// What start, dev, test and the others need first: the packages in the lock file, and a build of the current sources.
// Imports built-in modules only, since it runs before anything is installed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { userDataFolder } from "./folders.mjs";
import { withLock } from "./lock.mjs";
import { compressStatic } from "./static-files.mjs";

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** Whether this is the folder that scripts/package.mjs makes: built, with its packages, and nothing to install. */
export const isPacked = existsSync(path.join(root, "cli"));
/** Where the person stands: npm changes into its own folder. */
export const calledFrom = isPacked ? process.cwd() : (process.env.INIT_CWD ?? process.cwd());
/** How people start it. */
export const startCommand = isPacked ? "troupe" : "npm start";
/** Where Next.js puts its build. */
export const distDir = () => path.resolve(root, process.env.TROUPE_DIST_DIR || ".next");

/** Ends with a sentence that says what to do. */
export function giveUp(sentence, code = 1) {
  process.stderr.write(`\n  ${sentence.split("\n").join("\n  ")}\n\n`);
  process.exit(code);
}

/** The data folder as an absolute path: what TROUPE_DATA_DIR says, or the clone's own, or the person's. */
export function dataFolder() {
  const given = process.env.TROUPE_DATA_DIR;
  if (isPacked) return given ? path.resolve(calledFrom, given) : userDataFolder();
  return path.resolve(root, given || "data");
}

/**
 * Settings from a file named .env, if there is one; what the environment says already wins. It lies in the clone, or in the
 * data folder of a package: that of the folder where a person happens to stand belongs to something else.
 */
export function readEnvFile() {
  if (isPacked) process.env.TROUPE_DATA_DIR = dataFolder();
  const file = path.join(isPacked ? dataFolder() : root, ".env");
  if (existsSync(file)) process.loadEnvFile(file);
}

/** Runs a Node program of ours or of a package, with its output in view; resolves with its exit code. */
export function runNode(args, { env = {}, quiet = false, node = process.execPath } = {}) {
  return runProgram(node, args, {
    cwd: root,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1", ...env },
    stdio: quiet ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"],
  });
}

/**
 * Runs a program; resolves with its exit code and, if piped, its output. If this process is asked to stop meanwhile, it exits
 * once the program has ended, so that the next start does not conflict with it.
 */
export function runProgram(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, options);
    let output = "";
    let asked = null;
    const stop = (signal) => {
      asked = signal;
      child.kill(signal);
    };
    const signals = ["SIGINT", "SIGTERM"];
    for (const signal of signals) process.on(signal, stop);
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      for (const name of signals) process.off(name, stop);
      if (asked) process.exit(asked === "SIGINT" ? 130 : 143);
      resolve({ code: code ?? (signal ? 1 : 0), output });
    });
  });
}

/** How npm is called: the one that started us, where there is one, with no search for it and no shell. */
export function npmCommand(args) {
  const cli = process.env.npm_execpath?.replace(/npx-cli\.js$/, "npm-cli.js");
  return cli && /\.c?js$/.test(cli)
    ? [process.execPath, [cli, ...args], {}]
    : ["npm", args, { shell: process.platform === "win32" }];
}

/** Runs npm silently; if it fails, gives up with its output and this advice. */
async function runNpm(asked, advice) {
  const [command, args, options] = npmCommand(asked);
  const { code, output } = await runProgram(command, args, {
    ...options,
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (code !== 0) giveUp(`${output.trim()}\n\n${advice}`, code);
}

const lockStamp = path.join(root, "node_modules", ".troupe-lock");

const lockHash = () =>
  createHash("sha256")
    .update(readFileSync(path.join(root, "package-lock.json")))
    .digest("hex");

/** Whether node_modules contains exactly the versions in the lock file. */
function holdsTheLock(withTools) {
  const hidden = path.join(root, "node_modules", ".package-lock.json");
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(hidden, "utf8")).packages;
  return Object.entries(wanted).every(
    ([name, { version, optional, peer, link, dev, devOptional }]) =>
      name === "" ||
      link ||
      (present[name]
        ? present[name].version === version
        : optional || peer || ((dev || devOptional) && !withTools)),
  );
}

/** Held while a start installs or builds: other starts in this folder wait. */
const startLock = path.join(root, ".starting");

/**
 * Installs missing packages of the lock file: those needed to build and run, and with `tools` also those for tests and checks.
 * A packed Troupe contains everything.
 */
export async function ensureInstalled({ tools = false } = {}) {
  if (!isInstalled(tools))
    await withLock(startLock, async () => {
      if (!isInstalled(tools)) await install(tools);
    });
  const driver = path.join(
    root,
    "node_modules",
    "better-sqlite3",
    "prebuilds",
    `${process.platform}-${process.arch}.node`,
  );
  if (!existsSync(driver))
    giveUp(
      `Troupe does not run on ${process.platform}-${process.arch}: SQLite comes for Linux, macOS and Windows on x64 and arm64.`,
    );
}

async function install(tools) {
  // npm writes this file last: without it, packages may be half unpacked, and `install` would take them as complete.
  const isFirst = !existsSync(path.join(root, "node_modules", ".package-lock.json"));
  // `ci` deletes what is there, which a running server may be using.
  const command = isFirst ? ["ci"] : ["install", "--no-save"];
  if (!holdsTheLock(tools))
    await timedStep(tools && !isFirst ? "Installing the test tools" : "Installing packages", () =>
      runNpm(
        [
          ...command,
          tools ? "--include=dev" : "--omit=dev",
          "--engine-strict=false",
          "--no-audit",
          "--no-fund",
          "--loglevel=error",
          "--fetch-retries=1",
        ],
        "The installation failed; npm says why above. Check the network, then run the same command again.",
      ),
    );
  writeFileSync(lockStamp, `${lockHash()}${tools ? " tools" : ""}`);
}

/** Whether `ensureInstalled` has nothing to do. */
function isInstalled(tools) {
  if (isPacked) return true;
  const stamp = existsSync(lockStamp) ? readFileSync(lockStamp, "utf8") : "";
  return stamp === `${lockHash()} tools` || (!tools && stamp === lockHash());
}

/** What the server is built from. */
const SOURCES = [
  "app",
  "components",
  "server",
  "db",
  "examples",
  "public",
  "instrumentation.ts",
  "proxy.ts",
  "next.config.mjs",
  "postcss.config.mjs",
  "tsconfig.json",
  "package-lock.json",
];
const isSource = (name) => !/\.test\.tsx?$|\.md$|^\.DS_Store$/.test(name);

/** All sources as paths relative to the root, sorted. */
function sourceFiles() {
  const walk = (relative) =>
    readdirSync(path.join(root, relative), { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const inside = `${relative}/${entry.name}`;
        if (entry.isDirectory()) return walk(inside);
        return isSource(entry.name) ? [inside] : [];
      });
  return SOURCES.filter((source) => existsSync(path.join(root, source))).flatMap((source) =>
    /\.[a-z]+$/.test(source) ? [source] : walk(source),
  );
}

const hashOver = (files, contentOf) => {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(file)
      .update("\0")
      .update(contentOf(path.join(root, file)))
      .update("\0");
  return hash.digest("hex");
};

/** A hash over sizes and times of all sources: quick, but different after a checkout of the same sources. */
const sourcesLook = (files) =>
  hashOver(files, (file) => {
    const { size, mtimeMs } = statSync(file);
    return `${size} ${mtimeMs}`;
  });

/** A hash over the content of all sources. */
export const sourcesHash = (files = sourceFiles()) => hashOver(files, (file) => readFileSync(file));

const buildStamp = () => path.join(distDir(), "troupe-sources.json");

/** Whether the build matches the current sources; reads them only if a size or time has changed. */
export function isBuilt() {
  if (isPacked) return true;
  const stamp = buildStamp();
  if (!existsSync(path.join(distDir(), "BUILD_ID")) || !existsSync(stamp)) return false;
  const files = sourceFiles();
  const built = JSON.parse(readFileSync(stamp, "utf8"));
  const look = sourcesLook(files);
  if (built.look === look) return true;
  if (built.hash !== sourcesHash(files)) return false;
  writeFileSync(stamp, JSON.stringify({ ...built, look }));
  return true;
}

/** Where the build puts copies of the package files that it uses. */
export const standaloneDir = () => path.join(distDir(), "standalone");

/** Builds the server if the sources have changed since the last build, or if the copies for packing are missing. */
export async function ensureBuilt({ standalone = false } = {}) {
  const isThere = () => isBuilt() && (!standalone || existsSync(standaloneDir()));
  if (isThere()) return;
  await withLock(startLock, async () => {
    if (isThere()) return;
    await timedStep("Building the app", async () => {
      while (!(await build(standalone))) await new Promise((resolve) => setTimeout(resolve, 5_000));
    });
  });
}

/** Builds once; false if a build that a killed start left behind is still running. */
async function build(standalone) {
  const files = sourceFiles();
  const stamp = { hash: sourcesHash(files), look: sourcesLook(files) };
  const { code, output } = await runNode(["node_modules/next/dist/bin/next", "build"], {
    env: {
      NODE_ENV: "production",
      // A type error in a test must not stop a person's start; `npm test` checks the types.
      SKIP_TYPECHECK: "1",
      TROUPE_STANDALONE: standalone ? "1" : "",
    },
    quiet: true,
  });
  if (/Another next build process is already running/.test(output)) return false;
  if (code !== 0)
    giveUp(
      `${output.trim()}\n\nThe build failed; the reason is above. If you changed no sources, delete node_modules and run the same command again.`,
      code,
    );
  await compressStatic(distDir());
  writeFileSync(buildStamp(), JSON.stringify(stamp));
  return true;
}

let stepsDone = Number(process.env.TROUPE_STEPS_DONE ?? 0);

/** Runs one step of a first start, and reports its title and duration. Not on stdout, where commands print results. */
async function timedStep(title, work) {
  const began = Date.now();
  const say = (end) =>
    process.stderr.write(
      `  ${stepsDone + 1}. ${title} (${((Date.now() - began) / 1000).toFixed(0)} s)${end}`,
    );
  const clock = process.stderr.isTTY ? setInterval(say, 1000, "\r") : undefined;
  if (clock) say("\r");
  else process.stderr.write(`  ${stepsDone + 1}. ${title} ...\n`);
  await work();
  clearInterval(clock);
  say("\n");
  stepsDone += 1;
  // Read by a newer Node if it continues this start.
  process.env.TROUPE_STEPS_DONE = String(stepsDone);
}

/** The data folder as an absolute path, made if it is missing; ends with a sentence if it cannot be written. */
export function ensureDataDir() {
  const dir = dataFolder();
  const probe = path.join(dir, `.probe-${process.pid}`);
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(probe, "");
    unlinkSync(probe);
  } catch (error) {
    giveUp(
      `Troupe cannot write to its data folder ${dir} (${error.code}).\nMake the folder writable for this user, or set TROUPE_DATA_DIR to another one.`,
      73,
    );
  }
  process.env.TROUPE_DATA_DIR = dir;
  return dir;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Address and port from the environment; ends with a sentence if they cannot be used. */
export function readAddress() {
  const host = (process.env.HOST || "127.0.0.1").replace(/^\[|\]$/g, "");
  const port = Number(process.env.PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    giveUp(`PORT=${process.env.PORT} is not a port; use a number from 1 to 65535.`, 78);
  const local = LOOPBACK.test(host);
  if (!local && !process.env.TROUPE_PASSWORD)
    giveUp(
      `HOST=${host} would open Troupe to other machines, and nothing would ask them who they are.\nSet TROUPE_PASSWORD as well (for a container: docker run -e TROUPE_PASSWORD=...), or leave HOST out to serve this machine only.`,
      78,
    );
  process.env.HOST = host;
  process.env.PORT = String(port);
  const shown = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return { host, port, local, url: `http://${shown}:${port}` };
}
