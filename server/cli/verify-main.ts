import process from "node:process";
import { verify } from "./verify";

process.exitCode = verify(process.argv.slice(2), process.env.TROUPE_CALLED_FROM ?? process.cwd(), (line) =>
  process.stdout.write(`${line}\n`),
);
