import type { Sample } from "./define";

const VOTE = "Vote on this proposal, by what your role cares for:";
const AGAIN = "Vote again:";

export const consensus: Sample = {
  input: { goal: "Open the library on Sunday afternoons, for three months as a trial" },
  answers: [
    {
      role: "Planner",
      phrases: ["Put the goal into one decision"],
      gives: {
        decision:
          "The library opens on Sundays from 1 to 5 p.m. for three months; visits are counted, and the council decides afterwards.",
        rationale:
          "Sunday is when families and people who work have time. A trial with a fixed end and counted visits costs little and gives a real basis for the decision.",
      },
    },
    {
      role: "Planner",
      phrases: [VOTE, AGAIN],
      gives: {
        vote: "approve",
        reasoning:
          "I keep my vote. The analyst's point can be met at once: the target goes into the announcement, before the first Sunday.",
        confidence: 0.9,
      },
    },
    {
      role: "Researcher",
      phrases: [VOTE, AGAIN],
      gives: {
        vote: "approve",
        reasoning:
          "I keep my vote. A target such as 80 visits per Sunday can be set from the Saturday counts that exist.",
        confidence: 0.85,
      },
    },
    {
      role: "Analyst",
      phrases: [VOTE, AGAIN],
      gives: {
        vote: "approve",
        reasoning:
          "I change my vote. Counted visits and a fixed end limit what can go wrong, and the chair wants the target announced beforehand. Staffing remains the weak point: two volunteers per Sunday have to be found first.",
        confidence: 0.7,
      },
    },
    {
      role: "Writer",
      phrases: [VOTE, AGAIN],
      gives: {
        vote: "approve",
        reasoning:
          "I keep my vote. A target makes the story easier to tell: people see what their visit counts for.",
        confidence: 0.9,
      },
    },
    {
      role: "Planner",
      phrases: [VOTE],
      gives: {
        vote: "approve",
        reasoning: "The proposal is small, has an end, and says how the result is measured.",
        confidence: 0.8,
      },
    },
    {
      role: "Researcher",
      phrases: [VOTE],
      gives: {
        vote: "approve",
        reasoning:
          "Towns that tried it report other visitors than during the week: families and people who work. A trial of a few months is the usual way to find out.",
        confidence: 0.8,
      },
    },
    {
      role: "Analyst",
      phrases: [VOTE],
      gives: {
        vote: "reject",
        reasoning:
          "Visits are counted, but no number says what counts as success. And nobody is named who works on Sundays; without that, the trial fails for the wrong reason.",
        confidence: 0.7,
      },
    },
    {
      role: "Writer",
      phrases: [VOTE],
      gives: {
        vote: "approve",
        reasoning:
          "For a family with two working parents, Sunday afternoon is the only time to go together. Nobody loses anything in three months.",
        confidence: 0.85,
      },
    },
  ],
};
