import { spawn } from "node:child_process";
import path from "node:path";
import process from "node:process";

const root = path.resolve(import.meta.dirname, "../..");

/** What a command left: its exit code, what it printed for programs (`out`) and for people (`told`). */
export interface Left {
  code: number | null;
  out: string;
  told: string;
}

/** Runs what follows `npm run workflow --` as a person would who stands in a folder, with the offline model. */
export function inTerminal(folder: string, args: readonly string[]): Promise<Left> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [path.join(root, "scripts/troupe.mjs"), "run", ...args], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        TROUPE_OFFLINE_SPEED: "0",
        OPENAI_API_KEY: "",
        OPENAI_BASE_URL: "",
        INIT_CWD: folder,
      },
    });
    let out = "";
    let told = "";
    child.stdout.on("data", (text) => (out += String(text)));
    child.stderr.on("data", (text) => (told += String(text)));
    child.on("close", (code) => resolve({ code, out, told }));
  });
}
