import type { Given, Sample } from "./define";

const noteOf = ({ comment }: Given, intro: string) =>
  comment?.trim() ? `\n\n${intro} “${comment.trim()}”` : "";

export const approvalByPerson: Sample = {
  input: { user_request: "Please approve 5000 dollars for a new desk." },
  open: ["comment"],
  answers: [
    {
      role: "ApprovalAgent",
      phrases: ["Review request:"],
      gives: {
        approval_status: "rejected",
        approver_comments:
          "5,000 dollars is far above the price of a good desk, and the request gives no reason and no quote. A height-adjustable desk costs about 700 dollars; please ask again with an offer.",
      },
    },
    {
      role: "ActionAgent",
      phrases: ["Execute action for approved request:"],
      gives: (given) => `The order for the new desk is ready to be sent.

1. **Purchase request:** one desk, up to 5,000 dollars, cost center “Office equipment”.
2. **Quotes:** three suppliers to ask, answers due within a week; the lowest suitable offer wins.
3. **Delivery:** to your workplace; the old desk goes to the furniture pool.${noteOf(given, "Condition noted with the approval:")}

**Still open:** the model. Please send the dimensions, and whether it should be height-adjustable.`,
    },
    {
      role: "NotificationAgent",
      phrases: ["Notify user of rejection for:"],
      gives: (given) => `Hello,

your request for 5,000 dollars for a new desk was not approved.${noteOf(given, "The decision came with this comment:")}

You can ask again at any time. It helps to add a quote from a supplier and one sentence on what is wrong with the present desk. Requests up to 1,000 dollars are usually decided within a day.

Kind regards`,
    },
  ],
};
