import { renameSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { build } from "esbuild";

const root = path.resolve(import.meta.dirname, "../..");

/**
 * Arguments for Node that run a program of the tests, such as "server/testing/server.ts". It is bundled, because translating
 * every module at each start takes seconds.
 */
export async function programOf(file: string): Promise<string[]> {
  const bundle = path.join(root, ".cache", "test-programs", `${path.basename(file, ".ts")}.mjs`);
  // Tests in other processes may use the same program.
  const own = `${bundle}.${process.pid}`;
  await build({
    absWorkingDir: root,
    entryPoints: [file],
    outfile: own,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  renameSync(own, bundle);
  // Allows imports of "server-only".
  return ["--conditions=react-server", bundle];
}
