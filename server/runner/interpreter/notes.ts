import { z } from "zod";
import type { InstallationRules } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { Settlement } from "@/server/domain/base/durable";
import { isObject } from "@/server/domain/base/guards";
import { canonicalJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { cutText } from "@/server/domain/base/sizes";
import type { RunState } from "@/server/domain/run";
import { describeTarget } from "@/server/domain/run/commands/control-labels";
import type { NewEvent } from "@/server/domain/run/events";

/** A question that was open while the server slept or was down is open at least so long afterwards. */
const ANSWER_AFTER_WAKING_MS = 5 * 60_000;

/** What a note of the engine says; read with care, for it comes from the store. */
export const noteOf = ({ result }: Settlement): Note => Note.parse(result.ok ? result.value : {});

const Note = z
  .object({
    worker_id: z.string().optional().catch(undefined),
    rules: z.custom<InstallationRules>(isObject).optional().catch(undefined),
    ms: z.number().optional().catch(undefined),
  })
  .catch({});
type Note = z.infer<typeof Note>;

/** The engine was down: from here on the installation's present rules hold. */
export function recovered(s: RunState, { worker_id = "", rules }: Note, requeued: string[]): NewEvent {
  const { installation = {} } = s.run;
  const now = rules ?? installation;
  const haveChanged = canonicalJson(now) !== canonicalJson(installation);
  return {
    type: "run_recovered",
    payload: { worker_id, requeued, ...defined({ installation: haveChanged ? now : undefined }) },
  };
}

/** Instructions that nobody read, each reported once. */
export function unread({ instructions, run, graph }: RunState): NewEvent[] {
  return instructions.flatMap(({ read_by, target, text }): NewEvent[] => {
    if (read_by.length > 0) return [];
    const whom = describeTarget(target, (id) => graph.nodes[id]?.name || id);
    const message = `No one read the message to ${whom}: ${cutText(text)}`;
    if (run.warnings.includes(message)) return [];
    return [{ type: "warning", payload: { code: "INSTRUCTION_UNREAD", message } }];
  });
}

/** Whoever was to answer could not: questions stay open a little longer. */
export function questionsExtended(s: RunState, now: number): NewEvent[] {
  const expires_at = now + ANSWER_AFTER_WAKING_MS;
  return [...s.asking].flatMap((id): NewEvent[] => {
    const { requested, activation_id, node_id } = must(s.interactions, id);
    if (requested.expires_at >= expires_at) return [];
    return [
      { type: "interaction_extended", node_id, activation_id, payload: { interaction_id: id, expires_at } },
    ];
  });
}
