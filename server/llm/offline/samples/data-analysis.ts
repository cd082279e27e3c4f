import type { JsonObject } from "@/server/domain/base/values";
import type { Sample } from "./define";

const LEAD = "Lead your team to the goal.";

const plan = [
  "interpreter: rank the months and compute total, mean and spread",
  "analyst: say what the differences mean, and what six months cannot show",
  "writer: answer the question in a few sentences with a table",
];

/** One round of the manager. */
const round = (
  step: string,
  send_to: string,
  message: string,
  progress: string,
  stop: string | null = null,
): JsonObject => ({
  plan,
  current_plan_step: step,
  send_to,
  message,
  ledger: {
    is_request_satisfied: {
      answer: stop !== null,
      reason:
        stop === null ? "The question is not answered yet." : "The answer names months and differences.",
    },
    is_in_loop: { answer: false, reason: "Each step was asked for once." },
    is_progress_being_made: { answer: true, reason: progress },
  },
  stop,
});

const answer = `**March and June sell best, with 210 and 205.** April follows with 180. February is the weakest month with 95.

| Month | Sales | Against the mean of 161.7 |
|---|---:|---:|
| March | 210 | +48.3 |
| June | 205 | +43.3 |
| April | 180 | +18.3 |
| May | 160 | −1.7 |
| January | 120 | −41.7 |
| February | 95 | −66.7 |

The best month sells 2.2 times as much as the weakest, a difference of 115. March and June together make up 43 % of the total of 970, and the second quarter is 28 % above the first.

**Keep in mind:** six months show no season. Whether March and June are always strong can only be seen with data from more than one year.`;

export const dataAnalysis: Sample = {
  input: {
    goal: "Which months sell best, and how much do they differ?",
    data: "jan 120, feb 95, mar 210, apr 180, may 160, jun 205",
  },
  answers: [
    {
      role: "Manager",
      phrases: [LEAD, '<reply from="writer">'],
      gives: round("Answer the person", "User", answer, "All three have replied.", "Completed"),
    },
    {
      role: "Manager",
      phrases: [LEAD, '<reply from="analyst">'],
      gives: round(
        plan[2] ?? "",
        "writer",
        "Answer the question in a few sentences: best and weakest months, the difference, a table against the mean of 161.7, and the analyst's caution about six months.",
        "Figures and their meaning are known.",
      ),
    },
    {
      role: "Manager",
      phrases: [LEAD, '<reply from="interpreter">'],
      gives: round(
        plan[1] ?? "",
        "analyst",
        "March has 210 and February 95; the mean is 161.7 and the spread about 42. What do the differences mean, and what do six months not show?",
        "The figures are computed.",
      ),
    },
    {
      role: "Manager",
      phrases: [LEAD],
      gives: round(
        plan[0] ?? "",
        "interpreter",
        "Rank the six months by sales. Compute total, mean, range and standard deviation, and compare the two quarters.",
        "The work begins.",
      ),
    },
    {
      role: "CodeInterpreter",
      phrases: ["Rank the six months by sales."],
      gives: `Total 970, mean 161.7, range 115 (95 to 210), standard deviation 42.3. First quarter 425, second quarter 545: +28 %. Check: 425 + 545 = 970.

| Rank | Month | Sales |
|---:|---|---:|
| 1 | March | 210 |
| 2 | June | 205 |
| 3 | April | 180 |
| 4 | May | 160 |
| 5 | January | 120 |
| 6 | February | 95 |`,
    },
    {
      role: "Analyst",
      phrases: ["What do the differences mean, and what do six months not show?"],
      gives: `- **Two strong months, not one.** March and June are within 5 of each other and make up 43 % of all sales.
- **The start of the year is weak.** January and February are 42 and 67 below the mean.
- **The trend is positive:** the second quarter is 28 % above the first, although it has no month as strong as March.
- **Careful:** six months show no season. March may be a one-time effect, such as a campaign; a second year would tell.`,
    },
    {
      role: "Writer",
      phrases: ["Answer the question in a few sentences:"],
      gives: answer,
    },
  ],
};
