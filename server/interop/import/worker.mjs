// The thread that reads imports, from a clone: the sources as they are, by tsx. A package has it bundled (scripts/package.mjs).
import { register } from "tsx/esm/api";

register();
await import("./thread.ts");
