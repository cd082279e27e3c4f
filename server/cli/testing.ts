import path from "node:path";
import { vi } from "vitest";
import { runCommand } from "./commands";

/** What a call in the terminal put out, what it told beside that, and the code it ended with. */
export interface Called {
  code: number;
  out: string;
  err: string;
}

/** Calls `npm run workflow -- ARGS` in this process, as a person would from `folder`, where nobody can answer. */
export async function callWorkflow(args: readonly string[], folder: string): Promise<Called> {
  vi.stubEnv("TROUPE_CALLED_FROM", path.resolve(folder));
  vi.stubEnv("OPENAI_API_KEY", "");
  vi.stubEnv("OPENAI_BASE_URL", "");
  let out = "";
  let err = "";
  const writeErr = (text: string) => void (err += text);
  try {
    const code = await runCommand(args, {
      out: (text) => void (out += text),
      err: writeErr,
      screen: { write: writeErr, colours: false },
      isInteractive: false,
      ask: () => Promise.reject(new Error("Nobody sits there.")),
    });
    return { code, out, err };
  } finally {
    vi.unstubAllEnvs();
  }
}
