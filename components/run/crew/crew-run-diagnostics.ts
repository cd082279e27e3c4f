import { countOf } from "@/components/display/format";
import { withoutDemoMark } from "@/components/display/one-line";
import { person } from "@/components/run/timeline/sentence-parts";
import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import type { AgentView, RunState } from "@/server/domain/run";
import { NO_SUCH_TOOL } from "@/server/domain/tool/tool";
import type { CrewScene } from "./members";

type Verdict = RunState["criteria"][string][number];

/** Something that did not go as it was to go, as of the cursor. */
export interface CrewRunDiagnostic {
  key: string;
  /** failed: it ended work; warning: it was got over, or something is missing. */
  status: "failed" | "warning";
  text: string;
}

/** A role may name these for crews of another kind: that this one lacks them is no trouble. */
const OF_CREWS: ReadonlySet<string> = new Set(CREW_TOOL_NOTES.map(({ name }) => name));

const FAILED: ReadonlySet<AgentView["status"]> = new Set(["failed", "rejected"]);

/**
 * What went wrong with a crew's members: retried model calls, loops without progress, missing tools, failures, results
 * that a person sent back, and unmet success criteria.
 */
export function crewRunDiagnostics(
  { agents, calls, plan }: CrewScene,
  criteria: readonly Verdict[],
): CrewRunDiagnostic[] {
  const taskOf = (id: string | undefined) =>
    plan?.tasks.find(({ task_id }) => task_id === id)?.task_id ?? undefined;
  const at = (id: string | undefined) => (taskOf(id) ? ` at ${taskOf(id)}` : "");
  const members = agents.flatMap(
    ({ key, agent_id, task_id, nudges = 0, status, error, ...rest }): CrewRunDiagnostic[] => {
      const withheld = rest.withheld.filter(
        ({ tool_name, reason }) => reason !== NO_SUCH_TOOL || !OF_CREWS.has(tool_name),
      );
      const who = `${person(agent_id)}${at(task_id)}`;
      const again = calls.filter(
        (call) => call.agent_id === agent_id && call.task_id === task_id && call.attempt > 1,
      );
      const why = calls.findLast(
        (call) => call.agent_id === agent_id && call.task_id === task_id && call.status === "failed",
      )?.error?.message;
      return [
        ...(again.length > 0
          ? [
              {
                key: `${key} again`,
                status: "warning" as const,
                text: `${who}: the model was asked again ${countOf(again.length, "time")}${why ? `, because: ${why}` : ""}`,
              },
            ]
          : []),
        ...(nudges > 0
          ? [
              {
                key: `${key} stuck`,
                status: "warning" as const,
                text: `${who} went round in circles and was told so ${countOf(nudges, "time")}`,
              },
            ]
          : []),
        ...(withheld.length > 0
          ? [
              {
                key: `${key} without`,
                status: "warning" as const,
                text: `${who} works without ${withheld.map(({ tool_name, reason }) => `${tool_name} (${reason.replace(/\.$/, "")})`).join(", ")}`,
              },
            ]
          : []),
        ...(FAILED.has(status)
          ? [
              {
                key: `${key} failed`,
                status: "failed" as const,
                text: `${who} ${status === "rejected" ? "says that it cannot be done" : "failed"}${error ? `: ${error.message}` : ""}`,
              },
            ]
          : []),
      ];
    },
  );
  const sentBack = (plan?.tasks ?? []).flatMap(({ task_id }): CrewRunDiagnostic[] => {
    const again = agents.filter((agent) => agent.task_id?.startsWith(`${task_id}.r`));
    return again.length > 0
      ? [
          {
            key: `${task_id} review`,
            status: "warning",
            text: `A person sent the result of ${task_id} back ${countOf(again.length, "time")}`,
          },
        ]
      : [];
  });
  const newest = new Map(criteria.map((one) => [one.criterion, one]));
  const unmet = [...newest.values()].flatMap(({ criterion, met, evidence }): CrewRunDiagnostic[] =>
    met
      ? []
      : [
          {
            key: `criterion ${criterion}`,
            status: "failed",
            text: `Not met: ${criterion}${evidence ? `. ${evidence}` : ""}`,
          },
        ],
  );
  return [...members, ...sentBack, ...unmet].map((one) => ({ ...one, text: withoutDemoMark(one.text) }));
}
