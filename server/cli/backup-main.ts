import process from "node:process";
import { backup, restore } from "./backup";
import { calledFrom, dataFolder } from "./called";

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => process.exit(code));
const [command, ...args] = process.argv.slice(2);
process.exitCode = await (command === "restore" ? restore : backup)(args, {
  dataDir: dataFolder(),
  calledFrom: calledFrom(),
  print: (line) => process.stdout.write(`${line}\n`),
});
