import type { ToolSources } from "@/server/tools/sources";
import { refusal } from "./trpc";

/** The sources of tools that a Troupe was put together with. */
export function toolSourcesOf(troupe: object): ToolSources {
  if ("toolSources" in troupe && isSources(troupe.toolSources)) return troupe.toolSources;
  throw refusal("PRECONDITION_FAILED", "This Troupe was put together without tools of its own.");
}

// Not instanceof: the start-up code and the routes are separate bundles.
const isSources = (value: unknown): value is ToolSources =>
  value !== null && typeof value === "object" && "customTools" in value && "mcp" in value;
