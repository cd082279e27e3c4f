import { describeUnchecked, uncheckedOfState } from "@/server/domain/agent/unchecked";
import { keySchema } from "@/server/domain/graph/state-check";
import { stateProperties } from "@/server/domain/graph/state-properties";
import type { Check } from "../check";
import { quoted } from "../names";

/** What the schema of the state asks for and nobody checks. */
export function checkStateSchema({ graph, report }: Check): void {
  const schema = graph.global_state_schema;
  if (!schema) return;
  const warn = (field: string, message: string) =>
    report.warning("W_NOT_CHECKED", { kind: "workflow", field }, message);
  for (const [key, own] of Object.entries(stateProperties(graph))) {
    const notes = describeUnchecked(keySchema(own, schema));
    if (notes.length > 0)
      warn(
        `global_state_schema.properties.${key}`,
        `The shape of "${key}" in the state is not checked as it stands. ${notes.join(" ")}`,
      );
  }
  const whole = uncheckedOfState(schema);
  if (whole.length > 0)
    warn(
      "global_state_schema",
      `The state is filled key by key, so only the shapes of its keys are checked, not ${quoted(whole)}. Say it of a key, or check it with an expression.`,
    );
}
