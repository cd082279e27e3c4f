// What start, dev, test and the others need first: a fitting Node, the packages of the lock file, a build of the sources
// as they are. Only Node's own modules: this runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { userDataFolder } from "./folders.mjs";
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

const [major, minor] = process.versions.node.split(".").map(Number);

/** Refuses a Node that is too old; every package here runs from 20.19 on. */
export function checkNode() {
  if (major < 20 || (major === 20 && minor < 19))
    giveUp(
      `Troupe needs Node 20.19 or newer; this is ${process.version}. Get a newer one from https://nodejs.org.`,
    );
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

/** Runs a program; resolves with its exit code and, where it is piped, its output. */
export function runProgram(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, options);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? (signal ? 1 : 0), output }));
  });
}

/** How npm is called: the one that started us, where there is one, with no search for it and no shell. */
export function npmCommand(args) {
  const cli = process.env.npm_execpath?.replace(/npx-cli\.js$/, "npm-cli.js");
  return cli && /\.c?js$/.test(cli)
    ? [process.execPath, [cli, ...args], {}]
    : ["npm", args, { shell: process.platform === "win32" }];
}

function runNpm(asked, cwd = root) {
  const [command, args, options] = npmCommand(asked);
  const env = { ...process.env, JOBS: process.env.JOBS ?? "max" };
  return (
    spawnSync(command, args, { ...options, cwd, env, stdio: ["ignore", "inherit", "inherit"] }).status ?? 1
  );
}

const lockStamp = path.join(root, "node_modules", ".troupe-lock");

/** What an installation depends on: the lock file, and the Node that native parts are built for. */
function installFingerprint() {
  const lock = createHash("sha256")
    .update(readFileSync(path.join(root, "package-lock.json")))
    .digest("hex");
  return `${lock} ${process.platform}-${process.arch} abi ${process.versions.modules}`;
}

const isRecorded = (fingerprint) => existsSync(lockStamp) && readFileSync(lockStamp, "utf8") === fingerprint;

/** Whether node_modules holds, version by version, what the lock file says: someone ran `npm ci` by hand. */
function holdsTheLock() {
  const hidden = path.join(root, "node_modules", ".package-lock.json");
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(hidden, "utf8")).packages;
  return Object.entries(wanted).every(
    ([name, { version, optional, peer, link }]) =>
      name === "" || link || (present[name] ? present[name].version === version : optional || peer),
  );
}

/** Whether a Node finds its database module. Asked in a process of its own: a wrong one may end what loads it. */
export const opensDatabases = (node = process.execPath) =>
  spawnSync(
    node,
    [
      "--input-type=module",
      "-e",
      'import { Database } from "./db/sqlite.mjs"; new Database(":memory:").close()',
    ],
    { cwd: root, stdio: "ignore" },
  ).status === 0;

const nothingReadyMade = () =>
  `The database module better-sqlite3 has nothing ready-made for ${process.platform}-${process.arch} with Node ${process.version}.\nIt has for Linux, macOS and Windows on x64 and arm64.`;

/**
 * No package runs a script of its own (see .npmrc). The database module brings its binaries along, but for Node 20,
 * where an older one is built here.
 */
function ensureDatabaseModule() {
  if (opensDatabases()) return;
  if (major >= 22) giveUp(nothingReadyMade());
  console.log(`Building the database module for Node ${process.version}. This takes a minute or two.\n`);
  const rebuild = ["rebuild", "better-sqlite3-node20", "--ignore-scripts=false"];
  const code = runNpm(rebuild);
  if (code !== 0 || !opensDatabases())
    giveUp(
      `The database module could not be built for Node ${process.version}.\nIt needs either the network (for a ready-made one) or Python 3, make and a C++ compiler. Then run: npm ${rebuild.join(" ")}\nWith Node 22 or newer nothing has to be built.`,
      code || 1,
    );
}

/**
 * The database module of a package: for Node 22 and newer it is in there, for Node 20 npm gets it at the first start,
 * ready-made or built.
 */
function ensurePackedDatabaseModule() {
  const packages = path.join(root, "node_modules");
  if (major >= 22) {
    const built = path.join(
      packages,
      "better-sqlite3",
      "prebuilds",
      `${process.platform}-${process.arch}.node`,
    );
    if (!existsSync(built)) giveUp(nothingReadyMade());
    return;
  }
  const home = path.join(packages, "better-sqlite3-node20");
  const binary = path.join("build", "Release", "better_sqlite3.node");
  if (existsSync(path.join(home, binary))) return;
  console.log(`Getting the database module for Node ${process.version}. This happens once.\n`);
  const { version } = JSON.parse(readFileSync(path.join(home, "package.json"), "utf8"));
  const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-"));
  try {
    writeFileSync(path.join(folder, "package.json"), '{"allowScripts":{"better-sqlite3":true}}');
    const install = [
      "install",
      `better-sqlite3@${version}`,
      "--ignore-scripts=false",
      "--no-audit",
      "--no-fund",
    ];
    if (runNpm([...install, "--loglevel=error"], folder) !== 0) throw new Error("npm says why above");
    mkdirSync(path.dirname(path.join(home, binary)), { recursive: true });
    copyFileSync(path.join(folder, "node_modules", "better-sqlite3", binary), path.join(home, binary));
  } catch (error) {
    giveUp(
      `There is no database module for Node ${process.version} (${error.message}).\nWith Node 22 or newer nothing has to be fetched or built.`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs what the lock file says, unless that is there already; a package has everything. */
export function ensureInstalled() {
  if (isPacked) return ensurePackedDatabaseModule();
  const fingerprint = installFingerprint();
  if (isRecorded(fingerprint)) return;
  if (!holdsTheLock()) {
    console.log("Installing what package-lock.json lists. This happens once and takes a few minutes.\n");
    const code = runNpm([
      "ci",
      "--include=dev",
      "--engine-strict=false",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ]);
    if (code !== 0)
      giveUp(
        "The installation did not finish; npm says why above. With the network back, run the same command again.",
        code,
      );
  }
  ensureDatabaseModule();
  writeFileSync(lockStamp, fingerprint);
}

/** What the server is built from. */
const SOURCES = [
  "app",
  "components",
  "server",
  "db",
  "public",
  "instrumentation.ts",
  "proxy.ts",
  "next.config.mjs",
  "postcss.config.mjs",
  "tsconfig.json",
  "package-lock.json",
];
const isSource = (name) => !/\.test\.tsx?$|\.md$|^\.DS_Store$/.test(name);

/** A hash over the content of all sources. */
export function sourcesHash() {
  const hash = createHash("sha256");
  const add = (relative) => {
    hash
      .update(relative)
      .update("\0")
      .update(readFileSync(path.join(root, relative)))
      .update("\0");
  };
  const walk = (relative) => {
    const entries = readdirSync(path.join(root, relative), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory()) walk(`${relative}/${entry.name}`);
      else if (isSource(entry.name)) add(`${relative}/${entry.name}`);
    }
  };
  for (const source of SOURCES) {
    const at = path.join(root, source);
    if (!existsSync(at)) continue;
    if (/\.[a-z]+$/.test(source)) add(source);
    else walk(source);
  }
  return hash.digest("hex");
}

const buildStamp = () => path.join(distDir(), "troupe-sources");

export function isBuilt(hash = sourcesHash()) {
  const stamp = buildStamp();
  return (
    existsSync(path.join(distDir(), "BUILD_ID")) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash
  );
}

/** Builds the server if the sources changed since the last build. */
export async function ensureBuilt() {
  const hash = sourcesHash();
  if (isBuilt(hash)) return { built: false };
  console.log(
    "Building, because this is the first start or the sources changed. This takes a minute or so.\n",
  );
  rmSync(buildStamp(), { force: true });
  const { code, output } = await runNode(["node_modules/next/dist/bin/next", "build"], {
    // A wrong type in a test must not stop a person's start; `npm test` checks the types.
    env: { NODE_ENV: "production", SKIP_TYPECHECK: "1" },
    quiet: true,
  });
  if (code !== 0) {
    console.error(output);
    giveUp("The build failed; the reason is above.", code);
  }
  await compressStatic(distDir());
  writeFileSync(buildStamp(), hash);
  return { built: true };
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
