import { spawn } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { ensureEnginePackage } from "../scripts/engine-package.mjs";
import type { Figure } from "./table";

const root = path.resolve(import.meta.dirname, "..");

/** Runs on workers beside runs in the server; nothing where the engine's package cannot be installed here. */
export async function measureCluster(): Promise<Figure[]> {
  const why = await ensureEnginePackage("server");
  if (why !== null) {
    console.log(`Runs on Restate are not measured: ${why}`);
    return [];
  }
  const child = spawn(
    process.execPath,
    [
      "--conditions=react-server",
      "--expose-gc",
      "--import",
      "tsx",
      path.join(root, "packages/engine-restate/bench.ts"),
    ],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.on("exit", resolve));
  if (code !== 0) throw new Error("Runs on Restate could not be measured.");
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "[]") as Figure[];
}
