import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const NAME = "troupe-unit-";

/** Gives all tests one temporary folder and removes it afterwards, with everything that tests and killed processes left there. */
export default function setup() {
  // Each project calls this.
  if (path.basename(os.tmpdir()).startsWith(NAME)) return;
  const folder = mkdtempSync(path.join(os.tmpdir(), NAME));
  for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
