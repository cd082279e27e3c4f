import type { Sample } from "./define";

export const approval: Sample = {
  input: { user_request: "Please approve my vacation for next week." },
  answers: [
    {
      role: "ApprovalAgent",
      phrases: ["Review request:"],
      gives: {
        approval_status: "approved",
        approver_comments:
          "One week is within the usual allowance, and the request names the dates. Agree on a handover with your team before you leave.",
      },
    },
    {
      role: "ActionAgent",
      phrases: ["Execute action for approved request:"],
      gives: `Your vacation next week is ready to be booked.

1. **Calendar entry:** five days off, Monday to Friday, visible to the team.
2. **Out-of-office reply:** “Thank you for your message. I am on vacation this week and will reply next Monday. For anything urgent, please write to the team's shared address.”
3. **Note to the team:** “I am off next week. The handover list is in our shared folder by Thursday noon.”

**Still open:** who covers for you. The approver asked for a handover, so please name a colleague.`,
    },
  ],
};
