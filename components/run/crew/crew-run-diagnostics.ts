import { countOf } from "@/components/display/format";
import { withoutDemoMark } from "@/components/display/one-line";
import { person } from "@/components/run/timeline/sentence-parts";
import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import type { AgentView, RunState } from "@/server/domain/run";
import { NO_SUCH_TOOL } from "@/server/domain/tool/tool";
import type { CrewScene } from "./members";

type Verdict = RunState["criteria"][string][number];

/** Something that went wrong, as of the cursor. */
export interface CrewRunDiagnostic {
  key: string;
  /** failed: it ended work; warning: the crew got over it, or something is missing. */
  status: "failed" | "warning";
  text: string;
}

/** Roles may name these for other kinds of crews, so this crew may lack them. */
const OF_CREWS: ReadonlySet<string> = new Set(CREW_TOOL_NOTES.map(({ name }) => name));

const FAILED: ReadonlySet<AgentView["status"]> = new Set(["failed", "rejected"]);

/**
 * What went wrong with a crew's members: retried model calls, loops without progress, missing tools, failures, results
 * that a person sent back, and unmet success criteria.
 */
export function crewRunDiagnostics(scene: CrewScene, criteria: readonly Verdict[]): CrewRunDiagnostic[] {
  const { agents, plan } = scene;
  const all = [
    ...agents.flatMap((agent) => agentDiagnostics(agent, scene)),
    ...(plan?.tasks ?? []).flatMap(({ task_id }) => sentBack(task_id, agents)),
    ...unmet(criteria),
  ];
  return all.map((one) => ({ ...one, text: withoutDemoMark(one.text) }));
}

function agentDiagnostics(agent: AgentView, { calls, plan }: CrewScene): CrewRunDiagnostic[] {
  const { key, agent_id, task_id, nudges = 0, status, error } = agent;
  const withheld = agent.withheld.filter(
    ({ tool_name, reason }) => reason !== NO_SUCH_TOOL || !OF_CREWS.has(tool_name),
  );
  const hasTask = plan?.tasks.some((task) => task.task_id === task_id);
  const who = `${person(agent_id)}${hasTask ? ` (${task_id})` : ""}`;
  const own = calls.filter((call) => call.agent_id === agent_id && call.task_id === task_id);
  const retries = own.filter(({ attempt }) => attempt > 1).length;
  const why = own.findLast((call) => call.status === "failed")?.error?.message;
  const diagnostics: CrewRunDiagnostic[] = [];
  const add = (id: string, text: string, severity: CrewRunDiagnostic["status"] = "warning") =>
    diagnostics.push({ key: `${key} ${id}`, status: severity, text: `${who}${text}` });
  if (retries > 0)
    add("again", `: model call retried ${countOf(retries, "time")}${why ? `. Last error: ${why}` : ""}`);
  if (nudges > 0)
    add("stuck", ` got stuck in a loop and was asked to change its approach ${countOf(nudges, "time")}`);
  if (withheld.length > 0)
    add(
      "without",
      ` has no access to ${withheld.map(({ tool_name, reason }) => `${tool_name} (${reason.replace(/\.$/, "")})`).join(", ")}`,
    );
  if (FAILED.has(status))
    add(
      "failed",
      ` ${status === "rejected" ? "rejected the task" : "failed"}${error ? `: ${error.message}` : ""}`,
      "failed",
    );
  return diagnostics;
}

function sentBack(taskId: string, agents: CrewScene["agents"]): CrewRunDiagnostic[] {
  const revisions = agents.filter((agent) => agent.task_id?.startsWith(`${taskId}.r`)).length;
  if (revisions === 0) return [];
  const text = `A person sent the result of ${taskId} back ${countOf(revisions, "time")}`;
  return [{ key: `${taskId} review`, status: "warning", text }];
}

/** The criteria that were not met when last checked. */
function unmet(criteria: readonly Verdict[]): CrewRunDiagnostic[] {
  const newest = new Map(criteria.map((one) => [one.criterion, one]));
  return [...newest.values()]
    .filter(({ met }) => !met)
    .map(({ criterion, evidence }) => ({
      key: `criterion ${criterion}`,
      status: "failed",
      text: `Not met: ${criterion}${evidence ? `. ${evidence}` : ""}`,
    }));
}
