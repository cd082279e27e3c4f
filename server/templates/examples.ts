import { z } from "zod";
import consensus from "@/examples/consensus/workflow.json";
import contractReview from "@/examples/contract-review/workflow.json";
import dataAnalysis from "@/examples/data-analysis/workflow.json";
import developmentTeam from "@/examples/development-team/workflow.json";
import hiringScreen from "@/examples/hiring-screen/workflow.json";
import incidentReport from "@/examples/incident-report/workflow.json";
import invoiceCheck from "@/examples/invoice-check/workflow.json";
import plannedCrew from "@/examples/planned-crew/workflow.json";
import releaseNotes from "@/examples/release-notes/workflow.json";
import reviewCycle from "@/examples/review-cycle/workflow.json";
import supportDesk from "@/examples/support-desk/workflow.json";
import supportTriage from "@/examples/support-triage/workflow.json";
import translationReview from "@/examples/translation-review/workflow.json";
import weeklyBrief from "@/examples/weekly-brief/workflow.json";
import { RoleDefinition } from "@/server/domain/agent/role";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import type { Template } from "./define";

const WorkflowFile = z.object({
  workflow: WorkflowGraph,
  roles: z.array(RoleDefinition),
  tests: z.array(ScenarioTest),
});

/** A template from a workflow file in `examples/`; `key` is its folder. The file is parsed on first use: every start loads this. */
function fromFile(key: string, file: { name: string; workflow: { description: string } }): Template {
  let parsed: z.output<typeof WorkflowFile> | undefined;
  const contents = () => (parsed ??= WorkflowFile.parse(file));
  return {
    key,
    title: file.name,
    description: file.workflow.description,
    get graph() {
      return contents().workflow;
    },
    get roles() {
      return contents().roles;
    },
    get tests() {
      return contents().tests;
    },
  };
}

/** The workflows in `examples/`. */
export const examples = {
  consensus: fromFile("consensus", consensus),
  contractReview: fromFile("contract-review", contractReview),
  dataAnalysis: fromFile("data-analysis", dataAnalysis),
  developmentTeam: fromFile("development-team", developmentTeam),
  hiringScreen: fromFile("hiring-screen", hiringScreen),
  incidentReport: fromFile("incident-report", incidentReport),
  invoiceCheck: fromFile("invoice-check", invoiceCheck),
  plannedCrew: fromFile("planned-crew", plannedCrew),
  releaseNotes: fromFile("release-notes", releaseNotes),
  reviewCycle: fromFile("review-cycle", reviewCycle),
  supportDesk: fromFile("support-desk", supportDesk),
  supportTriage: fromFile("support-triage", supportTriage),
  translationReview: fromFile("translation-review", translationReview),
  weeklyBrief: fromFile("weekly-brief", weeklyBrief),
};
