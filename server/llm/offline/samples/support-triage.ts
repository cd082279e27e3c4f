import type { Sample } from "./define";

export const supportTriage: Sample = {
  input: {
    message:
      "The export button has done nothing since this morning's update, and our month-end report is due at noon.",
  },
  answers: [
    {
      role: "SupportTriage",
      phrases: ["Sort this customer message"],
      gives: {
        category: "bug",
        urgency: "high",
        summary: "Export has not worked since this morning's update; a month-end report is due at noon.",
      },
    },
    {
      role: "BugReporter",
      phrases: ["Write a bug report"],
      gives: `## Export button does nothing since today's update

**Observed:** The customer presses Export and nothing happens. They first noticed it after this morning's update.

**Expected:** The report is exported.

**Effect:** High. The customer needs the export for a month-end report that is due at noon today.

**Suspected by the customer:** The update. Not confirmed.

**Open questions**
1. Which report, and which format?
2. Which browser, and does a reload help?
3. Does the button fail for everyone in their team?`,
    },
  ],
};

export const supportTriageBilling: Sample = {
  input: {
    message:
      "You charged us for 12 seats in May, but we have had 10 since April. Please correct the invoice.",
  },
  answers: [
    {
      role: "SupportTriage",
      phrases: ["Sort this customer message"],
      gives: {
        category: "billing",
        urgency: "normal",
        summary: "The May invoice has 12 seats; the customer says that they have had 10 since April.",
      },
    },
    {
      role: "SupportWriter",
      phrases: ["about an invoice or a payment"],
      gives: `Hello,

thank you for your message. Our billing team is checking your May invoice, and you will hear the result within one business day.

You were charged for 12 seats and have had 10 since April. To find the difference quickly, please tell us on which day you removed the two seats.

Kind regards
Support`,
    },
  ],
};
