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
  name: z.string(),
  workflow: WorkflowGraph.extend({ description: z.string() }),
  roles: z.array(RoleDefinition),
  tests: z.array(ScenarioTest),
});

/** A template from a workflow file of the folder `examples`; `key` is the name of its folder. */
function fromFile(key: string, file: unknown): Template {
  const { name, workflow, roles, tests } = WorkflowFile.parse(file);
  return { key, title: name, description: workflow.description, graph: workflow, roles, tests };
}

/** The workflows of the folder `examples`, by name. */
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
