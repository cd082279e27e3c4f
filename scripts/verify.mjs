// `npm run verify [-- FOLDER] [--run ID]`: whether the logs of all runs are as they were written.

import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { checkNode, giveUp, readEnvFile, root, runNode } from "./prepare.mjs";

checkNode();
readEnvFile();
// It only reads, also beside a running server, whose packages must stay as they are.
if (!existsSync(path.join(root, "node_modules", "tsx")))
  giveUp("Nothing is installed here yet. Run npm start once.");
// npm changes into its own folder: file names are meant from where the person stands.
const env = { TROUPE_CALLED_FROM: process.env.INIT_CWD ?? process.cwd() };
const { code } = await runNode(
  [
    "--conditions=react-server",
    "--import",
    "tsx",
    `${root}/server/cli/verify-main.ts`,
    ...process.argv.slice(2),
  ],
  { env },
);
process.exitCode = code;
