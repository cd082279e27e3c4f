// `npm run verify [-- FOLDER] [--run ID]`: whether the logs of all runs are as they were written.
import process from "node:process";
import { checkNode, ensureInstalled, readEnvFile, root, runNode } from "./prepare.mjs";

checkNode();
readEnvFile();
ensureInstalled();
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
