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
  builtin: "Comes with Troupe",
  crew: "Crew tools",
  custom: "Written here",
  operator: "Declared by the operator",
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
  if (CREW_TOOL_NOTES.some((note) => note.name === name)) return "Works within its crew";
  const server = /^mcp:([^/]+)\/\*$/.exec(name)?.[1];
  return server
    ? `Everything that the MCP server ${server} offers, also later`
    : "Not here yet: what it will do is unknown";
}

function marksOf(tool: ToolMarks) {
  return [
    {
      icon: tool.risk === "UNKNOWN" ? CircleHelp : tool.risk === "LOW" ? ShieldCheck : ShieldAlert,
      show: true,
      word: RISK_LEVELS[tool.risk].title,
      about:
        tool.risk === "UNKNOWN"
          ? "Nobody here has said how much harm a call can do; people can be asked before each."
          : tool.risk === "HIGH"
            ? "A call can do real harm; people can be asked before each."
            : tool.risk === "MEDIUM"
              ? "A call can do some harm."
              : "A call does little harm.",
    },
    { icon: Eye, show: tool.read_only, word: "Reads only", about: "It changes nothing." },
    {
      icon: TriangleAlert,
      show: tool.destructive === true,
      word: "Cannot be undone",
      about: "What it does stays done.",
    },
    {
      icon: Radio,
      show: tool.sink,
      word: "Can send data out",
      about: "It can carry data out of this installation.",
    },
    {
      icon: UserRoundX,
      show: tool.taints,
      word: "Brings in content of strangers",
      about:
        "Nobody here vouches for its results; an agent that has read them may be asked about before it sends anything out.",
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
      {tool.sink ? <Badge icon={<Radio aria-hidden="true" />}>Sends out</Badge> : null}
      {tool.taints ? <Badge icon={<UserRoundX aria-hidden="true" />}>Strangers</Badge> : null}
      {unavailable ? (
        <Badge tone="waiting" icon={<Unplug aria-hidden="true" />}>
          Not available
        </Badge>
      ) : null}
    </>
  );
}
