import approvalAnswers from "./approval/answers.json";
import approval from "./approval/workflow.json";
import approvalByPersonAnswers from "./approval-by-person/answers.json";
import approvalByPerson from "./approval-by-person/workflow.json";
import codeAndReviewAnswers from "./code-and-review/answers.json";
import codeAndReview from "./code-and-review/workflow.json";
import consensusAnswers from "./consensus/answers.json";
import consensus from "./consensus/workflow.json";
import contractReviewAnswers from "./contract-review/answers.json";
import contractReview from "./contract-review/workflow.json";
import dataAnalysisAnswers from "./data-analysis/answers.json";
import dataAnalysis from "./data-analysis/workflow.json";
import developmentTeamAnswers from "./development-team/answers.json";
import developmentTeam from "./development-team/workflow.json";
import hiringScreenAnswers from "./hiring-screen/answers.json";
import hiringScreen from "./hiring-screen/workflow.json";
import incidentReportAnswers from "./incident-report/answers.json";
import incidentReport from "./incident-report/workflow.json";
import invoiceCheckAnswers from "./invoice-check/answers.json";
import invoiceCheck from "./invoice-check/workflow.json";
import parallelViewsAnswers from "./parallel-views/answers.json";
import parallelViews from "./parallel-views/workflow.json";
import plannedCrewAnswers from "./planned-crew/answers.json";
import plannedCrew from "./planned-crew/workflow.json";
import releaseNotesAnswers from "./release-notes/answers.json";
import releaseNotes from "./release-notes/workflow.json";
import researchAndWriteAnswers from "./research-and-write/answers.json";
import researchAndWrite from "./research-and-write/workflow.json";
import researchCrewAnswers from "./research-crew/answers.json";
import researchCrew from "./research-crew/workflow.json";
import reviewCycleAnswers from "./review-cycle/answers.json";
import reviewCycle from "./review-cycle/workflow.json";
import supportDeskAnswers from "./support-desk/answers.json";
import supportDesk from "./support-desk/workflow.json";
import supportTriageAnswers from "./support-triage/answers.json";
import supportTriage from "./support-triage/workflow.json";
import ticketSummariesAnswers from "./ticket-summaries/answers.json";
import ticketSummaries from "./ticket-summaries/workflow.json";
import translationReviewAnswers from "./translation-review/answers.json";
import translationReview from "./translation-review/workflow.json";
import weeklyBriefAnswers from "./weekly-brief/answers.json";
import weeklyBrief from "./weekly-brief/workflow.json";

/** The files of every example by folder: the workflow as the app exports it, and what the demo model answers in it. */
export const exampleFiles = {
  approval: { workflow: approval, answers: approvalAnswers },
  "approval-by-person": { workflow: approvalByPerson, answers: approvalByPersonAnswers },
  "code-and-review": { workflow: codeAndReview, answers: codeAndReviewAnswers },
  consensus: { workflow: consensus, answers: consensusAnswers },
  "contract-review": { workflow: contractReview, answers: contractReviewAnswers },
  "data-analysis": { workflow: dataAnalysis, answers: dataAnalysisAnswers },
  "development-team": { workflow: developmentTeam, answers: developmentTeamAnswers },
  "hiring-screen": { workflow: hiringScreen, answers: hiringScreenAnswers },
  "incident-report": { workflow: incidentReport, answers: incidentReportAnswers },
  "invoice-check": { workflow: invoiceCheck, answers: invoiceCheckAnswers },
  "parallel-views": { workflow: parallelViews, answers: parallelViewsAnswers },
  "planned-crew": { workflow: plannedCrew, answers: plannedCrewAnswers },
  "release-notes": { workflow: releaseNotes, answers: releaseNotesAnswers },
  "research-and-write": { workflow: researchAndWrite, answers: researchAndWriteAnswers },
  "research-crew": { workflow: researchCrew, answers: researchCrewAnswers },
  "review-cycle": { workflow: reviewCycle, answers: reviewCycleAnswers },
  "support-desk": { workflow: supportDesk, answers: supportDeskAnswers },
  "support-triage": { workflow: supportTriage, answers: supportTriageAnswers },
  "ticket-summaries": { workflow: ticketSummaries, answers: ticketSummariesAnswers },
  "translation-review": { workflow: translationReview, answers: translationReviewAnswers },
  "weekly-brief": { workflow: weeklyBrief, answers: weeklyBriefAnswers },
};
