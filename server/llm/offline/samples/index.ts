import { defined } from "@/server/domain/base/defined";
import { isText } from "@/server/domain/base/guards";
import type { JsonObject } from "@/server/domain/base/values";
import { isEmptyValue, type Prompt, unquoted } from "../prompt";
import { approval } from "./approval";
import { approvalByPerson } from "./approval-by-person";
import { codeAndReview } from "./code-and-review";
import { consensus } from "./consensus";
import { contractReview } from "./contract-review";
import { dataAnalysis } from "./data-analysis";
import type { Sample, SampleAnswer } from "./define";
import { developmentTeam } from "./development-team";
import { hiringScreen, hiringScreenVote } from "./hiring-screen";
import { incidentReport } from "./incident-report";
import { invoiceCheck, invoiceCheckSmall } from "./invoice-check";
import { parallelViews } from "./parallel-views";
import { plannedCrew } from "./planned-crew";
import { releaseNotes } from "./release-notes";
import { researchAndWrite } from "./research-and-write";
import { researchCrew } from "./research-crew";
import { reviewCycle } from "./review-cycle";
import { supportDesk } from "./support-desk";
import { supportTriage, supportTriageBilling } from "./support-triage";
import { translationReview } from "./translation-review";
import { weeklyBrief } from "./weekly-brief";

const samples: readonly Sample[] = [
  approval,
  approvalByPerson,
  researchAndWrite,
  codeAndReview,
  parallelViews,
  plannedCrew,
  researchCrew,
  dataAnalysis,
  supportDesk,
  consensus,
  reviewCycle,
  developmentTeam,
  contractReview,
  hiringScreen,
  hiringScreenVote,
  incidentReport,
  invoiceCheck,
  invoiceCheckSmall,
  releaseNotes,
  supportTriage,
  supportTriageBilling,
  translationReview,
  weeklyBrief,
];

/** A prepared answer for one prompt: a tool to call, a text, or values by key. */
interface Written {
  call?: NonNullable<SampleAnswer["call"]>;
  gives?: string | JsonObject;
}

/**
 * The prepared answer for a template's suggested input, or null. If the input, a value from an earlier step or the task
 * itself was changed, a placeholder answers instead, so that the change has an effect.
 */
export function writtenFor(prompt: Prompt, offered: readonly { name: string }[]): Written | null {
  for (const sample of samples) {
    if (!isUnchanged(sample, prompt)) continue;
    const found = sample.answers.find(
      ({ role, phrases, call }) =>
        role === prompt.role &&
        phrases.every((phrase) => prompt.all.includes(phrase)) &&
        (call === undefined || isOpen(call.name, prompt, offered)),
    );
    if (!found) continue;
    const { call, gives } = found;
    return {
      ...defined({
        call,
        gives: gives === undefined ? undefined : typeof gives === "function" ? gives(prompt.inputs) : gives,
      }),
    };
  }
  return null;
}

/** Whether a tool is available and has not returned a result yet. */
const isOpen = (tool: string, { messages }: Prompt, offered: readonly { name: string }[]): boolean =>
  offered.some(({ name }) => name === tool) &&
  !messages.some(({ role, content }) => role === "tool" && content.startsWith(`${tool} (`));

/** Whether all values in a prompt come from the sample: its input and its answers. */
function isUnchanged(sample: Sample, { inputs }: Prompt): boolean {
  const { input, open = [] } = sample;
  const entries = Object.entries(inputs).map(([key, value]): [string, string] => [key, value.trim()]);
  if (!entries.some(([key, value]) => input[key] === value)) return false;
  const known = given(sample);
  return entries.every(([key, value]) =>
    key in input ? input[key] === value : open.includes(key) || isEmptyValue(value) || known.has(value),
  );
}

/** The values of a sample's answers, as they appear in later prompts. */
const given = ({ answers }: Sample): Set<string> =>
  new Set(
    answers.flatMap(({ gives = {} }) =>
      (isText(gives) ? [gives] : Object.values(gives)).map((value) =>
        unquoted(isText(value) ? value : JSON.stringify(value)).trim(),
      ),
    ),
  );
