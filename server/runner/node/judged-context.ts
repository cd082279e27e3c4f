import type { ConfirmationPolicy, RoleDefinition } from "@/server/domain/agent/role";
import { textsIn } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import type { Interaction, RunState } from "@/server/domain/run";
import type { Payloads } from "@/server/domain/run/events";
import { typedTexts } from "@/server/domain/run/questions/tool-question";
import { trustedInput } from "@/server/domain/run/started-by";
import { textHash } from "@/server/domain/text/text-hash";
import type { Context } from "@/server/tools/policy";
import { addedPhrases, UserProvidedText } from "@/server/tools/user-provided-text";
import { READ_VALUE } from "../agent/prompt/given";

// What a run knows by which `server/tools/policy.ts` judges a call: who wrote what, what was read, what people agreed to.

/** Tools whose results anybody can read in the web. */
const PUBLIC_TOOLS: ReadonlySet<string> = new Set(["web_search", "code_search", "browse_url"]);
/** Tools that bring nothing into a run that was not in it before. */
const OWN_TOOLS: ReadonlySet<string> = new Set([
  ...["calculator", "current_time", "run_javascript", "store_memory"],
  ...["create_artifact", "file_write", "file_read", "read_artifact"],
  ...["finish", "reject_task", READ_VALUE, ...CREW_TOOL_NOTES.map(({ name }) => name)],
]);

/** Texts of trusted people in answers. When they decline a call, text quoted from it doesn't count: "not to eve@…". */
function personTexts(interactions: readonly Interaction[]): string[] {
  const rejected = interactions.map(({ requested, answered }) => {
    const { calls = [requested] } = requested;
    if (answered?.answer === "reject") return calls;
    return calls.filter((_call, at) => answered?.calls !== undefined && !answered.calls.includes(at));
  });
  const repeated = rejected.flatMap((calls) => calls.flatMap(({ args }) => textsIn(args ?? null))).join("\n");
  return interactions.flatMap(({ requested, answered }, at) => {
    if (!answered || answered.untrusted) return [];
    const { message, content, value } = answered;
    const texts = [
      ...(message ? [message] : []),
      // Of a draft, what the person wrote; a form is theirs.
      ...(typeof value === "string" ? addedPhrases(value, requested.draft ?? "") : textsIn(value ?? null)),
      ...(requested.asks && content ? typedTexts(requested.asks, content) : []),
    ];
    return must(rejected, at).length === 0 ? texts : texts.flatMap((text) => addedPhrases(text, repeated));
  });
}

/** What decides whether a person must agree to a call: the installation's word, the run's, and the role's. */
export function policiesOf({ run }: RunState, role?: RoleDefinition): ConfirmationPolicy[] {
  const { parent, installation, config } = run;
  const all = [
    installation?.confirmation,
    ...(parent?.confirmation ?? []),
    config.confirmation,
    role?.confirmation,
  ];
  return all.filter((policy): policy is ConfirmationPolicy => policy !== undefined);
}

/** Whether a person has approved this tool for the rest of the run. */
export const isApproved = (s: RunState, name: string): boolean =>
  approvedForGood(s).some(({ tool_name }) => tool_name === name);

/** The calls that a person approved for the rest of the run. */
function approvedForGood({
  interactions,
}: RunState): Pick<Payloads["interaction_requested"], "tool_name" | "destinations">[] {
  const approved: Pick<Payloads["interaction_requested"], "tool_name" | "destinations">[] = [];
  for (const { requested, answered } of Object.values(interactions)) {
    if (answered?.answer !== "approve_always") continue;
    const { calls } = answered;
    if (requested.calls) approved.push(...requested.calls.filter((_call, at) => calls?.includes(at) ?? true));
    else approved.push(requested);
  }
  return approved;
}

/** Whole texts that people gave this run: its trusted input, answers and instructions. */
export const personsTexts = ({ run, input, interactions, told }: RunState): Set<string> => {
  const foreign = new Set(run.foreign?.texts);
  return new Set([
    ...textsIn(run.variables),
    ...textsIn(trustedInput(run.origin, input)).filter((text) => !foreign.has(textHash(text))),
    ...personTexts(Object.values(interactions)),
    ...told,
  ]);
};

/** What `judge` is to know of a run, for an agent of this role or for the node itself. */
export function judgedContext(
  s: RunState,
  node: WorkflowNode,
  taint_sources: readonly string[],
  role?: RoleDefinition,
): Context {
  const foreign = new Set(s.run.foreign?.texts);
  /** The texts in a value that a person wrote; an input may be what a file has filled in. */
  const persons = (value: unknown) =>
    textsIn(value).filter((text) => foreign.size === 0 || !foreign.has(textHash(text)));
  const made = Object.values(s.tool_calls).filter(({ status }) => status === "completed");
  return {
    taint_sources,
    own: new UserProvidedText([
      ...persons(trustedInput(s.run.origin, s.input)),
      ...textsIn(s.run.variables),
      ...persons(node),
      ...persons(role),
      ...(s.run.foreign?.allowed ?? []),
      ...(s.run.installation?.destinations ?? []),
      ...personTexts(Object.values(s.interactions)),
      ...s.told,
      ...Object.values(s.plan_changes).flatMap((changes) =>
        changes.flatMap(({ words = [], untrusted }) => (untrusted ? [] : words)),
      ),
      ...approvedForGood(s).flatMap(({ destinations = [] }) =>
        destinations.flatMap(({ kind, value }) => (kind === "words" || kind === "call" ? [] : value)),
      ),
    ]),
    read: made.map(({ tool_name, output = null }) => ({
      source: tool_name,
      text: typeof output === "string" ? output : JSON.stringify(output),
      is_public: PUBLIC_TOOLS.has(tool_name),
    })),
    private_sources: [...new Set(made.map(({ tool_name }) => tool_name))].filter(
      (name) => !PUBLIC_TOOLS.has(name) && !OWN_TOOLS.has(name),
    ),
  };
}
