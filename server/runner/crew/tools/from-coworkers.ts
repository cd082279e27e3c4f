import { defined } from "@/server/domain/base/defined";
import type { Json } from "@/server/domain/base/values";
import { isSince } from "@/server/domain/run/edition";
import type { RunToolResult } from "../../agent/task";
import { done } from "../../agent/tools/run-tool";
import type { Crew } from "../crew";

/** What coworkers wrote: as untrusted as anything that the run has read, which may have changed since the reader started. */
export function fromCoworkers({ run: { s } }: Crew, output: Json): RunToolResult {
  const tainted = isSince(s.run, 5) && s.taint_sources.length > 0;
  return { ...done(output), ...defined({ tainted: tainted || undefined }) };
}
