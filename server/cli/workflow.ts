import process from "node:process";
import { runCommand } from "./commands";
import { processStdio } from "./output/stdio";

// What was printed must be out before the process ends, also through a pipe.
runCommand(process.argv.slice(2), processStdio()).then(
  (code) => {
    process.exitCode = code;
    process.stdout.write("", () => process.exit(code));
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
