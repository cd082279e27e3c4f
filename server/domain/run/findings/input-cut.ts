import { type Detector, named, of, placeOf } from "./finding";

const READ_ON = "read_value";

/** A value was too long for a model: it was truncated in the prompt, and the agent never read the rest. */
export const inputCut: Detector = ({ events }) =>
  of(events, "warning").flatMap((warning) => {
    if (warning.payload.code !== "VALUE_CUT" || !warning.activation_id) return [];
    const readOn = of(events, "tool_call_started").some(
      ({ activation_id, seq, payload }) =>
        activation_id === warning.activation_id && seq > warning.seq && payload.tool_name === READ_ON,
    );
    return readOn
      ? []
      : [
          {
            kind: "input_cut",
            ...placeOf(warning),
            said: `${warning.payload.message} The rest was never read.`,
            advice: `Summarize the value in a step before${warning.agent_id ? ` ${named(warning.agent_id)}` : ""}, or choose a model with a larger context window.`,
          },
        ];
  });
