import type { Interaction } from "@/server/domain/run";

/** What questions of now say of the time after which nobody is waited for; older ones say nothing, and mean no. */
interface Terms {
  on_timeout?: string;
  mode?: string;
}

const WORDS: Readonly<Record<string, string>> = {
  reject: "it counts as a no",
  approve: "it counts as a yes",
  default: "the answer that was set for this case is taken",
  fail: "the step that asks fails",
  escalate: "the next person is asked",
  continue: "the run goes on without an answer",
};

/** What happens if nobody answers, as the end of a sentence. */
export function consequenceOf(requested: Interaction["requested"]): string {
  const { on_timeout = "reject", mode }: Interaction["requested"] & Terms = requested;
  if (mode === "advisory") return "nothing stops: the run goes on meanwhile";
  if (requested.kind === "question" && on_timeout === "reject")
    return "the tool is told that nobody answered";
  return WORDS[on_timeout] ?? "it counts as a no";
}
