import { isText } from "@/server/domain/base/guards";
import { isRaw } from "@/server/domain/base/lenient-reader";
import { claimEach, type UnsupportedFormat } from "../format";
import { rawsOf } from "../values";

/** Roboco's other files, besides teams and plans: recognized by name only, with a hint where their content belongs. */

/** One turn of an agent: words, and the calls that it made. */
const taskStep: UnsupportedFormat = {
  id: "roboco-task-step",
  label: "a TaskStep, a record of one agent turn",
  instead:
    "A record can't be executed. Import tasks as a plan.json, and teams as a team file; GET /api/v1/runs/{id}/agents returns what Troupe agents did.",
  recognise: claimEach(({ value }) =>
    isRaw(value) && value.step_id !== undefined && rawsOf(value.parts).some(({ type }) => isText(type))
      ? 2
      : null,
  ),
};

export const ROBOCO: readonly UnsupportedFormat[] = [taskStep];
