import process from "node:process";
import { calledFrom, dataFolder } from "./called";
import { verify } from "./verify";

process.exitCode = verify(
  process.argv.slice(2),
  calledFrom(),
  (line) => process.stdout.write(`${line}\n`),
  dataFolder(),
);
