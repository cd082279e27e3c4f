import { z } from "zod";
import type { Flow } from "@/server/domain/base/durable";
import type { JsonObject } from "@/server/domain/base/values";
import { group } from "@/server/domain/text/fence";
import { succeeded } from "@/server/domain/tool/tool";
import { recordCall, taints } from "../node/tool-call";
import type { Agent } from "./agent";

const SEARCH = "search_memory";
const MOST = 5;
/** Maximum length of one memory in the list; the agent retrieves it to read more. Characters. */
const LONGEST = 600;
const LONGEST_QUERY = 1000;

const Found = z.object({
  memories: z.array(
    z.object({ key: z.string(), scope: z.string(), value: z.string(), updated_at: z.string() }),
  ),
});

/**
 * What memory holds on an agent's task, for its first message: found and recorded as the agent's own call of
 * `search_memory`, so it is offered only where the role may search, and carries on what it was tainted with.
 */
export function* recall(agent: Agent): Flow<string> {
  const { run, task } = agent;
  const spec = agent.tool(SEARCH);
  if (!spec || !agent.mayCall || task.continues || spec.unavailable) return "";
  const key = `${agent.path}/recall`;
  const queryText = [task.task, task.goal ?? ""].join("\n").trim();
  if (queryText === "") return "";
  const args: JsonObject = { query: queryText.slice(0, LONGEST_QUERY), k: MOST };
  const { output } = yield* recordCall(
    run,
    {
      about: agent.about,
      call_id: `${run.activationId}/${run.attempt}/${key}`,
      spec,
      args,
      protocol: "native",
    },
    function* () {
      return { output: yield* run.callTool(key, { name: SEARCH, args, agent }) };
    },
  );
  const found = Found.safeParse(output.output);
  if (!succeeded(output) || !found.success || found.data.memories.length === 0) return "";
  if (taints(spec, output)) agent.taint(SEARCH);
  const memories = found.data.memories.map(({ key: name, scope, value, updated_at }) =>
    agent.fences.fence("value", value.length > LONGEST ? `${value.slice(0, LONGEST)} […]` : value, {
      key: name,
      scope,
      from: updated_at.slice(0, 10),
    }),
  );
  return `From memory; it may be outdated or wrong, and retrieve_memory returns the full text of truncated values:\n${group("memory", memories)}`;
}
