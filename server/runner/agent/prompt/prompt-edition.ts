import { createHash } from "node:crypto";
import { isSince } from "@/server/domain/run/edition";
import { FENCES, FENCES_BEFORE_3, type Fences } from "@/server/domain/text/fence";
import type { AgentRuntime } from "@/server/runner/node/ports";

/** How values stand in the prompts of a run. */
export const fencesOf = (run: { edition?: number }): Fences => (isSince(run, 3) ? FENCES : FENCES_BEFORE_3);

/**
 * Names the tasks of an agent. No data that was written before the run can name it, and forks and replays have the same, since
 * they ask what their original asked. It stays the same for an agent of a node, so that caches know the beginning of its
 * next task.
 */
export const taskIdOf = ({ s, node }: AgentRuntime, agent_id: string): string | undefined =>
  isSince(s.run, 3)
    ? createHash("sha256")
        .update([s.run.prompt_seed ?? "", node.id, agent_id].join("\n"))
        .digest("hex")
        .slice(0, 12)
    : undefined;
