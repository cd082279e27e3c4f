import {
  CircleHelp,
  Eye,
  Radio,
  ShieldAlert,
  ShieldCheck,
  TriangleAlert,
  Unplug,
  UserRoundX,
} from "lucide-react";
import { Badge } from "@/components/ui/badge";
import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import { RISK_LEVELS, type ToolSource, type ToolSpec } from "@/server/domain/tool/tool";

/** The risk data that every tool has. */
export type ToolMarks = Pick<ToolSpec, "risk" | "read_only" | "sink" | "taints"> & {
  destructive?: boolean | undefined;
};

export const SOURCE_LABELS: Record<ToolSource, string> = {
  builtin: "Built-in",
  crew: "Crew tools",
  custom: "Custom",
  operator: "Configured by admin",
  mcp: "MCP server",
};

/** Risk and effects of a tool in one line. */
export const describeMarks = (tool: ToolMarks): string =>
  marksOf(tool)
    .map(({ word }, at) => (at === 0 ? word : word.charAt(0).toLowerCase() + word.slice(1)))
    .join(", ");

/** What a tool does, for the person who approves it. `tool`: undefined if it is not installed. */
export function describeTool(name: string, tool: ToolMarks | undefined): string {
  if (tool) return describeMarks(tool);
  if (CREW_TOOL_NOTES.some((note) => note.name === name)) return "Works only in crews";
  const server = /^mcp:([^/]+)\/\*$/.exec(name)?.[1];
  return server ? `All current and future tools from MCP server ${server}` : "Not installed, effects unknown";
}

function marksOf(tool: ToolMarks) {
  return [
    {
      icon: tool.risk === "UNKNOWN" ? CircleHelp : tool.risk === "LOW" ? ShieldCheck : ShieldAlert,
      show: true,
      word: RISK_LEVELS[tool.risk].title,
      about:
        tool.risk === "UNKNOWN"
          ? "No one has rated this tool. You can require approval for each call."
          : tool.risk === "HIGH"
            ? "A call can cause serious harm. You can require approval for each call."
            : tool.risk === "MEDIUM"
              ? "A call can cause some harm."
              : "A call can cause little harm.",
    },
    { icon: Eye, show: tool.read_only, word: "Read-only", about: "Changes nothing." },
    {
      icon: TriangleAlert,
      show: tool.destructive === true,
      word: "Destructive",
      about: "Its effects can't be undone.",
    },
    {
      icon: Radio,
      show: tool.sink,
      word: "Sends data externally",
      about: "Can send data outside Troupe.",
    },
    {
      icon: UserRoundX,
      show: tool.taints,
      word: "Returns untrusted content",
      about: "Results are untrusted content. Agents that read them may need approval before sending data.",
    },
  ].filter(({ show }) => show);
}

/** Risk and effects of a tool, explained. */
export function MarkList({ tool }: { tool: ToolMarks }) {
  return (
    <ul aria-label="Risk and effects" className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
      {marksOf(tool).map(({ icon: Icon, word, about }) => (
        <li key={word} className="flex gap-2.5">
          <Icon aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-ink-3" />
          <div className="min-w-0">
            <p className="text-[13px] font-medium">{word}</p>
            <p className="text-[13px] text-ink-2">{about}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}

/** The most important marks, in small. */
export function MarkBadges({ tool, unavailable }: { tool: ToolMarks; unavailable?: boolean }) {
  return (
    <>
      {tool.risk === "HIGH" ? (
        <Badge tone="failed" icon={<ShieldAlert aria-hidden="true" />}>
          High risk
        </Badge>
      ) : tool.risk === "UNKNOWN" ? (
        <Badge icon={<CircleHelp aria-hidden="true" />}>Risk unknown</Badge>
      ) : null}
      {tool.sink ? <Badge icon={<Radio aria-hidden="true" />}>Sends data</Badge> : null}
      {tool.taints ? <Badge icon={<UserRoundX aria-hidden="true" />}>Untrusted</Badge> : null}
      {unavailable ? (
        <Badge tone="waiting" icon={<Unplug aria-hidden="true" />}>
          Not available
        </Badge>
      ) : null}
    </>
  );
}
