// `npm run pack`: Troupe as one file that npm installs and npx starts. On the way it makes dist/app, a folder that runs
// wherever there is Node: the build, the files of packages that it uses, and the commands as plain JavaScript. The container
// holds that folder; `--folder` makes it alone.
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import process from "node:process";
import { ensureNode } from "./nodes.mjs";
import {
  calledFrom,
  distDir,
  ensureBuilt,
  ensureInstalled,
  giveUp,
  npmCommand,
  root,
  runProgram,
  standaloneDir,
} from "./prepare.mjs";

const dist = path.join(root, "dist");
const inApp = (...names) => path.join(dist, "app", ...names);
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/** Loaded by a thread from a file of ours, which the build does not look into. */
const OF_THREADS = ["@jitl/quickjs-wasmfile-release-sync", "quickjs-emscripten-core"];

const OWN_FILES = [
  "LICENSE",
  "next.config.mjs",
  "public",
  "db/migrations",
  "server/tools/sandbox/worker.mjs",
  "server/tools/operator/runner.py",
  "server/tools/operator/session.py",
  "server/store/watchdog-worker.mjs",
  ...[
    "troupe",
    "start",
    "nodes",
    "lock",
    "supervise",
    "serve",
    "prepare",
    "folders",
    "http-server",
    "static-files",
  ].map((name) => `scripts/${name}.mjs`),
];

await ensureNode(ensureInstalled);
await ensureInstalled();
await ensureBuilt({ standalone: true });
rmSync(dist, { recursive: true, force: true });
takeBuild();
takePackages();
takeOwnFiles();
await bundleCommands();
writeLicences();
if (process.argv[2] !== "--folder") {
  await describePackage();
  await pack();
}

/** The server that Next.js built; without what only a debugger or the next build reads. */
function takeBuild() {
  const traced = path.join(standaloneDir(), path.relative(root, distDir()));
  // Of a worker the bundler also keeps the source, which nothing asks for.
  const isNeeded = (file) =>
    !/\.(?:map|tsx?|nft\.json)$/.test(file) && path.basename(file) !== "node_modules";
  cpSync(traced, inApp(".next"), { recursive: true, filter: isNeeded });
  cpSync(path.join(distDir(), "static"), inApp(".next", "static"), { recursive: true, filter: isNeeded });
  writeOutNames(path.join(traced, "node_modules"));
  forgetThisMachine();
}

/** The build calls packages by names that links lead from, and a package of npm holds no links. */
function writeOutNames(links) {
  const names = readdirSync(links).flatMap((name) =>
    name.startsWith("@") ? readdirSync(path.join(links, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  rewrite(inApp(".next", "server"), (text) =>
    names.reduce((all, name) => all.replaceAll(name, name.replace(/-[0-9a-f]{16}$/, "")), text),
  );
}

/** Nobody needs to know in which folder it was built. */
function forgetThisMachine() {
  rewrite(inApp(".next"), (text) => text.replaceAll(root, "/troupe"));
}

function rewrite(folder, change) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.(?:js|json)$/.test(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    const before = readFileSync(file, "utf8");
    const after = change(before);
    if (after !== before) writeFileSync(file, after);
  }
}

/** Those files of packages that the build uses, for every system and not only this one. */
function takePackages() {
  cpSync(path.join(standaloneDir(), "node_modules"), inApp("node_modules"), { recursive: true });
  const home = path.join("node_modules", "better-sqlite3", "prebuilds");
  cpSync(path.join(root, home), inApp(home), { recursive: true });
  const wanted = [...OF_THREADS];
  for (const name of wanted) {
    const from = path.join(root, "node_modules", name);
    const code = (file) => !/\.(?:map|[cm]?ts)$/.test(file) && !file.endsWith(`${path.sep}node_modules`);
    cpSync(from, inApp("node_modules", name), { recursive: true, filter: code });
    wanted.push(...Object.keys(readJson(path.join(from, "package.json")).dependencies ?? {}));
  }
}

function takeOwnFiles() {
  for (const file of OWN_FILES) cpSync(path.join(root, file), inApp(file), { recursive: true });
  const { name, version, license } = readJson(path.join(root, "package.json"));
  const described = { name, version, license, private: true, type: "module" };
  writeFileSync(inApp("package.json"), `${JSON.stringify(described, null, 2)}\n`);
}

/** The programs that scripts/troupe.mjs starts, the thread that reads imports, and the chunks they share. */
async function bundleCommands() {
  await esbuild({
    entryPoints: {
      workflow: "server/cli/workflow.ts",
      "verify-main": "server/cli/verify-main.ts",
      "backup-main": "server/cli/backup-main.ts",
      "import-worker": "server/interop/import/thread.ts",
    },
    outdir: inApp("cli"),
    splitting: true,
    target: "node22",
    // The one under which "server-only" may be imported.
    conditions: ["react-server", "module"],
    external: ["better-sqlite3", ...builtinModules],
    // Its other form asks for its parts by names that no bundler can follow.
    alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
    // Packages of the older kind ask for Node's own modules by this.
    banner: {
      js: 'import { createRequire as newRequire } from "node:module"; const require = newRequire(import.meta.url);',
    },
  });
}

/** Bundles programs for Node, each with what it imports. */
async function esbuild(options) {
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: root,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "warning",
    ...options,
  });
}

/** The licences of all packages that are in the build, which ask to be passed on with it. */
function writeLicences() {
  const { packages } = readJson(path.join(root, "package-lock.json"));
  const texts = Object.entries(packages)
    .filter(([place, { dev, link }]) => place !== "" && !dev && !link && existsSync(path.join(root, place)))
    .map(([place, { version, license }]) => {
      const folder = path.join(root, place);
      const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
      const text = file
        ? readFileSync(path.join(folder, file), "utf8").trim()
        : `License: ${license ?? "unknown"}`;
      return `${place.replace(/^.*node_modules\//, "")} ${version}\n\n${text}\n`;
    });
  writeFileSync(inApp("THIRD-PARTY-LICENSES.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
}

/**
 * The folder that npm packs: the application as one archive, and the program that unpacks it. It names no packages to install:
 * the application has them.
 */
async function describePackage() {
  const { name, version, description, license, type, engines } = readJson(path.join(root, "package.json"));
  const app = `app-${readFileSync(inApp(".next", "BUILD_ID"), "utf8").trim()}`;
  renameSync(inApp(), path.join(dist, app));
  const { code, output } = await runProgram("tar", ["-czf", `${app}.tar.gz`, app], {
    cwd: dist,
    stdio: "pipe",
  });
  if (code !== 0) giveUp(`tar could not pack it:\n${output}`);
  renameSync(path.join(dist, app), inApp());
  await esbuild({ entryPoints: { [name]: "scripts/unpack.mjs" }, outdir: dist });
  const program = `${name}.mjs`;
  const files = [program, `${app}.tar.gz`];
  const described = { name, version, description, license, type, engines, bin: { [name]: program }, files };
  writeFileSync(path.join(dist, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
  for (const file of ["README.md", "LICENSE"]) cpSync(path.join(root, file), path.join(dist, file));
}

/** Packs it into the folder where the person stands. */
async function pack() {
  const [npm, args, options] = npmCommand([
    "pack",
    dist,
    "--pack-destination",
    calledFrom,
    "--loglevel=error",
  ]);
  const { code, output } = await runProgram(npm, args, { ...options, cwd: root });
  if (code !== 0) giveUp(`npm could not pack it:\n${output}`);
  const file = path.join(calledFrom, output.trim().split("\n").at(-1));
  // Not its full path: npm would try to execute that.
  console.log(
    `${file}: ${(statSync(file).size / 1_000_000).toFixed(1)} MB. Start it: npx ./${path.basename(file)}`,
  );
}
