// `npm run pack`: packs Troupe into one file that npm installs and npx starts. The intermediate folder dist/app runs wherever
// Node does: it has the build, the package files that it uses, and the commands as plain JavaScript. The container contains
// that folder; `--folder` stops there.
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

/** Packages that worker threads load; the build doesn't trace them. */
const THREAD_PACKAGES = ["@jitl/quickjs-wasmfile-release-sync", "quickjs-emscripten-core"];

const OWN_FILES = [
  "LICENSE",
  "next.config.mjs",
  "public",
  "db/migrations",
  "docs",
  "GLOSSARY.md",
  "SECURITY.md",
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
copyBuild();
copyPackages();
copyOwnFiles();
await bundleCommands();
writeLicenses();
if (process.argv[2] !== "--folder") {
  await describePackage();
  await pack();
}

/** Copies the build, without files that only a debugger or the next build reads. */
function copyBuild() {
  const traced = path.join(standaloneDir(), path.relative(root, distDir()));
  // The bundler also keeps the sources of workers, which nothing reads.
  const isNeeded = (file) =>
    !/\.(?:map|tsx?|nft\.json)$/.test(file) && path.basename(file) !== "node_modules";
  cpSync(traced, inApp(".next"), { recursive: true, filter: isNeeded });
  cpSync(path.join(distDir(), "static"), inApp(".next", "static"), { recursive: true, filter: isNeeded });
  resolveAliases(path.join(traced, "node_modules"));
  removeBuildPath();
}

/** The build imports packages through symlinks with hashed names, and npm packages can't contain symlinks. */
function resolveAliases(links) {
  const names = readdirSync(links).flatMap((name) =>
    name.startsWith("@") ? readdirSync(path.join(links, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  rewrite(inApp(".next", "server"), (text) =>
    names.reduce((all, name) => all.replaceAll(name, name.replace(/-[0-9a-f]{16}$/, "")), text),
  );
}

/** Removes the path of the build machine. */
function removeBuildPath() {
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

/** Copies the package files that the build uses, for every platform. */
function copyPackages() {
  cpSync(path.join(standaloneDir(), "node_modules"), inApp("node_modules"), { recursive: true });
  const home = path.join("node_modules", "better-sqlite3", "prebuilds");
  cpSync(path.join(root, home), inApp(home), { recursive: true });
  const wanted = [...THREAD_PACKAGES];
  for (const name of wanted) {
    const from = path.join(root, "node_modules", name);
    const code = (file) => !/\.(?:map|[cm]?ts)$/.test(file) && !file.endsWith(`${path.sep}node_modules`);
    cpSync(from, inApp("node_modules", name), { recursive: true, filter: code });
    wanted.push(...Object.keys(readJson(path.join(from, "package.json")).dependencies ?? {}));
  }
}

function copyOwnFiles() {
  for (const file of OWN_FILES) cpSync(path.join(root, file), inApp(file), { recursive: true });
  const { name, version, license } = readJson(path.join(root, "package.json"));
  const described = { name, version, license, private: true, type: "module" };
  writeFileSync(inApp("package.json"), `${JSON.stringify(described, null, 2)}\n`);
}

/** Bundles the programs that scripts/troupe.mjs starts and the import thread, with shared chunks. */
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
    // Allows imports of "server-only".
    conditions: ["react-server", "module"],
    external: ["better-sqlite3", ...builtinModules],
    // The CommonJS form requires its parts by names that no bundler can resolve.
    alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
    // CommonJS packages require Node's built-in modules.
    banner: {
      js: 'import { createRequire as newRequire } from "node:module"; const require = newRequire(import.meta.url);',
    },
  });
}

/** Bundles programs for Node with their imports. */
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

/** The licenses of all packages in the build, which must be distributed with it. */
function writeLicenses() {
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
 * Creates the folder that npm packs: the application as one archive, and the program that unpacks it. It has no
 * dependencies, because the archive contains them.
 */
async function describePackage() {
  const { name, version, description, license, type, engines } = readJson(path.join(root, "package.json"));
  const app = `app-${readFileSync(inApp(".next", "BUILD_ID"), "utf8").trim()}`;
  renameSync(inApp(), path.join(dist, app));
  const { code, output } = await runProgram("tar", ["-czf", `${app}.tar.gz`, app], {
    cwd: dist,
    stdio: "pipe",
  });
  if (code !== 0) giveUp(`tar could not create the archive:\n${output}`);
  renameSync(path.join(dist, app), inApp());
  await esbuild({ entryPoints: { [name]: "scripts/unpack.mjs" }, outdir: dist });
  const program = `${name}.mjs`;
  const files = [program, `${app}.tar.gz`];
  const described = { name, version, description, license, type, engines, bin: { [name]: program }, files };
  writeFileSync(path.join(dist, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
  for (const file of ["README.md", "LICENSE"]) cpSync(path.join(root, file), path.join(dist, file));
}

/** Packs it into the user's working folder. */
async function pack() {
  const [npm, args, options] = npmCommand([
    "pack",
    dist,
    "--pack-destination",
    calledFrom,
    "--loglevel=error",
  ]);
  const { code, output } = await runProgram(npm, args, { ...options, cwd: root });
  if (code !== 0) giveUp(`npm could not create the package:\n${output}`);
  const file = path.join(calledFrom, output.trim().split("\n").at(-1));
  // A relative path, because npm would try to execute an absolute one.
  console.log(
    `${file}: ${(statSync(file).size / 1_000_000).toFixed(1)} MB. Start it with: npx ./${path.basename(file)}`,
  );
}
