import type { InputError } from "@/components/forms/schema/input-fields";
import { toApiError } from "@/components/trpc";
import { isObject, isText, listOf, recordOf } from "@/server/domain/base/guards";
import type { ReportedProblem } from "./start/launch-problems";

/**
 * Why a run or an answer was not taken: in a sentence, by the fields of what was sent, and by places of the workflow.
 */
export function readRejection(error: unknown): {
  message: string;
  errors: InputError[];
  problems: ReportedProblem[];
} {
  const { message, detail } = toApiError(error);
  const { errors, problems } = recordOf(detail);
  return {
    message,
    errors: listOf(errors).filter(isInputError),
    problems: listOf(problems).filter(isReportedProblem),
  };
}

const isInputError = (value: unknown): value is InputError =>
  isObject(value) && isText(value.key) && isText(value.message);

const isReportedProblem = (value: unknown): value is ReportedProblem =>
  isObject(value) &&
  (value.severity === "error" || value.severity === "warning") &&
  isText(value.code) &&
  isText(value.message) &&
  isObject(value.at) &&
  isText(value.at.kind);
