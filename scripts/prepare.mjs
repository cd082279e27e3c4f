// What all scripts need first: the packages in the lock file, a build of the current sources, and settings.
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
/** Whether this is the folder that scripts/package.mjs creates: built, with all packages. */
export const isPacked = existsSync(path.join(root, "cli"));
/** The user's working folder; npm changes into the package's. */
export const calledFrom = isPacked ? process.cwd() : (process.env.INIT_CWD ?? process.cwd());
/** The command that starts the server. */
export const startCommand = isPacked ? "troupe" : "npm start";
/** Where Next.js puts its build. */
export const distDir = () => path.resolve(root, process.env.TROUPE_DIST_DIR || ".next");

/** Prints a message that says what to do, and exits. */
export function giveUp(message, code = 1) {
  process.stderr.write(`\n  ${message.split("\n").join("\n  ")}\n\n`);
  process.exit(code);
}

/** The data folder as an absolute path: TROUPE_DATA_DIR, else `data` in the clone, else the user's folder. */
export function dataFolder() {
  const configured = process.env.TROUPE_DATA_DIR;
  if (isPacked) return configured ? path.resolve(calledFrom, configured) : userDataFolder();
  return path.resolve(root, configured || "data");
}

/**
 * Loads .env, if it exists. The environment takes precedence. The file is in the clone, or in the data folder of an
 * installed package: an .env in the working folder belongs to something else.
 */
export function readEnvFile() {
  if (isPacked) process.env.TROUPE_DATA_DIR = dataFolder();
  const file = path.join(isPacked ? dataFolder() : root, ".env");
  if (existsSync(file)) process.loadEnvFile(file);
}

/** Runs a Node program and shows its output, unless `quiet`. Resolves with its exit code. */
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
    let stopSignal = null;
    const stop = (signal) => {
      stopSignal = signal;
      child.kill(signal);
    };
    const signals = ["SIGINT", "SIGTERM"];
    for (const signal of signals) process.on(signal, stop);
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      for (const name of signals) process.off(name, stop);
      if (stopSignal) process.exit(stopSignal === "SIGINT" ? 130 : 143);
      resolve({ code: code ?? (signal ? 1 : 0), output });
    });
  });
}

/** How to run npm: the npm that started this process, else the one on the PATH. */
export function npmCommand(args) {
  const cli = process.env.npm_execpath?.replace(/npx-cli\.js$/, "npm-cli.js");
  return cli && /\.c?js$/.test(cli)
    ? [process.execPath, [cli, ...args], {}]
    : ["npm", args, { shell: process.platform === "win32" }];
}

/** Runs npm silently. If it fails, exits with its output and this advice. */
async function runNpm(npmArgs, advice) {
  const [command, args, options] = npmCommand(npmArgs);
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
function matchesLock(withTools) {
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

/** Held while a start installs or builds. Other starts in this folder wait. */
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
      `Troupe doesn't run on ${process.platform}-${process.arch}. SQLite is available for Linux, macOS and Windows, on x64 and arm64.`,
    );
}

async function install(tools) {
  // npm writes this file last. Without it, packages may be incomplete, and `npm install` wouldn't notice.
  const isFirst = !existsSync(path.join(root, "node_modules", ".package-lock.json"));
  // `npm ci` deletes installed packages, which a running server may be using.
  const command = isFirst ? ["ci"] : ["install", "--no-save"];
  if (!matchesLock(tools))
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
        "The installation failed; see npm's output above. Check the network, then run the same command again.",
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

/** A hash of sizes and times of all sources: fast, but changes with each checkout of the same sources. */
const sourcesFingerprint = (files) =>
  hashOver(files, (file) => {
    const { size, mtimeMs } = statSync(file);
    return `${size} ${mtimeMs}`;
  });

/** A hash of the content of all sources. */
export const sourcesHash = (files = sourceFiles()) => hashOver(files, (file) => readFileSync(file));

const buildStamp = () => path.join(distDir(), "troupe-sources.json");

/** Whether the build matches the current sources; reads them only if a size or time has changed. */
export function isBuilt() {
  if (isPacked) return true;
  const stamp = buildStamp();
  if (!existsSync(path.join(distDir(), "BUILD_ID")) || !existsSync(stamp)) return false;
  const files = sourceFiles();
  const built = JSON.parse(readFileSync(stamp, "utf8"));
  const fingerprint = sourcesFingerprint(files);
  if (built.fingerprint === fingerprint) return true;
  if (built.hash !== sourcesHash(files)) return false;
  writeFileSync(stamp, JSON.stringify({ hash: built.hash, fingerprint }));
  return true;
}

/** Where the build copies the package files that it uses. */
export const standaloneDir = () => path.join(distDir(), "standalone");

/** Builds the server if the sources have changed since the last build, or if the copies for packing are missing. */
export async function ensureBuilt({ standalone = false } = {}) {
  const isComplete = () => isBuilt() && (!standalone || existsSync(standaloneDir()));
  if (isComplete()) return;
  await withLock(startLock, async () => {
    if (isComplete()) return;
    await timedStep("Building the app", async () => {
      while (!(await build(standalone))) await new Promise((resolve) => setTimeout(resolve, 5_000));
    });
  });
}

/** Builds once. Returns false while a build of a killed start is still running. */
async function build(standalone) {
  const files = sourceFiles();
  const stamp = { hash: sourcesHash(files), fingerprint: sourcesFingerprint(files) };
  const { code, output } = await runNode(["node_modules/next/dist/bin/next", "build"], {
    env: {
      NODE_ENV: "production",
      // A type error in a test must not prevent a start. `npm test` checks types.
      SKIP_TYPECHECK: "1",
      TROUPE_STANDALONE: standalone ? "1" : "",
    },
    quiet: true,
  });
  if (/Another next build process is already running/.test(output)) return false;
  if (code !== 0)
    giveUp(
      `${output.trim()}\n\nThe build failed; see above. If you didn't change the sources, delete node_modules and run the same command again.`,
      code,
    );
  await compressStatic(distDir());
  writeFileSync(buildStamp(), JSON.stringify(stamp));
  return true;
}

let stepsDone = Number(process.env.TROUPE_STEPS_DONE ?? 0);

/** Runs one step of a first start and prints its duration to stderr, because commands print results to stdout. */
async function timedStep(title, work) {
  const began = Date.now();
  const print = (end) =>
    process.stderr.write(
      `  ${stepsDone + 1}. ${title} (${((Date.now() - began) / 1000).toFixed(0)} s)${end}`,
    );
  const clock = process.stderr.isTTY ? setInterval(print, 1000, "\r") : undefined;
  if (clock) print("\r");
  else process.stderr.write(`  ${stepsDone + 1}. ${title} ...\n`);
  await work();
  clearInterval(clock);
  print("\n");
  stepsDone += 1;
  // Read by a newer Node if it continues this start.
  process.env.TROUPE_STEPS_DONE = String(stepsDone);
}

/** Creates the data folder if needed and returns its absolute path. Exits with a message if it isn't writable. */
export function ensureDataDir() {
  const dir = dataFolder();
  const probe = path.join(dir, `.probe-${process.pid}`);
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(probe, "");
    unlinkSync(probe);
  } catch (error) {
    giveUp(
      `Troupe can't write to its data folder ${dir} (${error.code}).\nMake the folder writable for this user, or set TROUPE_DATA_DIR to another folder.`,
      73,
    );
  }
  process.env.TROUPE_DATA_DIR = dir;
  return dir;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Address and port from the environment. Exits with a message if they are invalid. */
export function readAddress() {
  const host = (process.env.HOST || "127.0.0.1").replace(/^\[|\]$/g, "");
  const port = Number(process.env.PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    giveUp(`Invalid PORT=${process.env.PORT}. Use a number from 1 to 65535.`, 78);
  const local = LOOPBACK.test(host);
  if (!local && !process.env.TROUPE_PASSWORD)
    giveUp(
      `HOST=${host} lets other machines connect, which requires a password.\nSet TROUPE_PASSWORD (in a container: docker run -e TROUPE_PASSWORD=...), or remove HOST to serve this machine only.`,
      78,
    );
  process.env.HOST = host;
  process.env.PORT = String(port);
  const displayHost =
    host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return { host, port, local, url: `http://${displayHost}:${port}` };
}
