import type { Answers } from "@/components/trpc";
import { ON_CRASH, RISK_LEVELS } from "@/server/domain/tool/tool";

export type McpListed = Answers["mcp"]["list"][number];
export type McpTool = McpListed["tools"][number];
export type McpWord = NonNullable<McpTool["fixed"]>;
export type Effect = "reads" | "inside" | "outside";

const effects: Record<Effect, { label: string; hint: string }> = {
  reads: { label: "Read-only", hint: "Changes nothing" },
  inside: {
    label: "Writes internally",
    hint: "Changes stay inside the server's system",
  },
  outside: {
    label: "Sends data externally",
    hint: "Sends, publishes, pays or shares. New destinations need approval",
  },
};
export const EFFECTS = (["reads", "inside", "outside"] as const).map((value) => ({
  value,
  ...effects[value],
}));

export const effectOf = ({ reads, inside }: Pick<McpWord, "reads" | "inside">): Effect =>
  reads ? "reads" : inside ? "inside" : "outside";

/** The local correction of a tool's risk, in one line. */
export function describeOverride(word: McpWord): string {
  const effect = effects[effectOf(word)].label.toLowerCase();
  const content = word.own ? "trusted results" : "untrusted results";
  return [
    effect,
    content,
    ...(word.risk ? [RISK_LEVELS[word.risk].title.toLowerCase()] : []),
    ...(word.on_crash ? [`after a crash: ${ON_CRASH[word.on_crash].title.toLowerCase()}`] : []),
  ].join(", ");
}

/** The hints of a server about its tool, in one line. */
export function describeHints({ read_only, destructive, open_world }: McpTool["hints"]): string {
  const parts = [
    ...(read_only === undefined ? [] : [read_only ? "read-only" : "writes"]),
    // Meaningless for read-only tools.
    ...(destructive === undefined || read_only ? [] : [destructive ? "destructive" : "not destructive"]),
    ...(open_world === undefined
      ? []
      : [open_world ? "reaches external systems" : "stays in its own system"]),
  ];
  return parts.length > 0 ? parts.join(", ") : "none";
}

/** What a person begins with: what the server says it does. Whose words it gives back, no hint of a server tells. */
export function proposalOf({ read_only, open_world }: McpTool["hints"]): McpWord {
  const reads = read_only === true;
  return { reads, inside: !reads && open_world === false, own: false };
}
