import { createHash } from "node:crypto";
import { isSince } from "@/server/domain/run/edition";
import { FENCES, FENCES_BEFORE_3, type Fences } from "@/server/domain/text/fence";
import type { AgentRuntime } from "@/server/runner/node/ports";

/** The format of values in the prompts of a run. */
export const fencesOf = (run: { edition?: number }): Fences => (isSince(run, 3) ? FENCES : FENCES_BEFORE_3);

/**
 * Ids for the tasks of an agent. No data written before the run can contain them; forks and replays have the same ones,
 * since they ask what their original asked. An agent of a node keeps its id, so that prompt caches match the beginning
 * of its next task.
 */
export const taskIdOf = ({ s, node }: AgentRuntime, agent_id: string): string | undefined =>
  isSince(s.run, 3)
    ? createHash("sha256")
        .update([s.run.prompt_seed ?? "", node.id, agent_id].join("\n"))
        .digest("hex")
        .slice(0, 12)
    : undefined;
