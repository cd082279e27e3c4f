import { brief, type Detector, named, of, placeOf } from "./finding";

/** One correction is nothing unusual; more are. */
const MANY = 2;

/** An agent's answers didn't match the requested schema more than once in a row. */
export const wrongForm: Detector = ({ agents }) =>
  [...agents.values()].flatMap((own) => {
    const invalid = of(own, "output_parsed").filter(({ payload }) => !payload.ok);
    const last = invalid.at(-1);
    if (!last || invalid.length < MANY) return [];
    return [
      {
        kind: "wrong_form" as const,
        ...placeOf(last),
        said: `${named(last.agent_id)} answered in the wrong format ${invalid.length} times: ${brief(last.payload.errors[0] ?? "it could not be read", 160).replace(/\.$/, "")}.`,
        advice: "Ask for fewer outputs at once, describe each, or choose a model that follows schemas.",
      },
    ];
  });
