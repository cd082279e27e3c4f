import type { Sample } from "./define";

export const supportDesk: Sample = {
  input: {
    goal: "Answer this customer: I was charged twice on my last invoice. Can I get a refund?",
  },
  answers: [
    {
      role: "BillingSpecialist",
      phrases: ["You take over from front_desk."],
      gives: `Hello,

thank you for telling us, and I am sorry about the double charge.

A second charge is often only a reservation by the bank that disappears within a few days. If both payments were really booked, you get the second one back the way you paid it.

To check this, please send me
- the number of the invoice,
- the dates of both charges as your bank shows them,
- the last four digits of the card, never the whole number.

You do not have to do anything else, and your account stays active. Once I have these details, I compare them with our records and tell you the result.

Kind regards
Billing`,
    },
    {
      role: "SupportAgent",
      phrases: ["Reach the goal, or hand over"],
      call: {
        name: "handoff",
        args: {
          destination_agent: "billing",
          reason:
            "The customer reports a double charge and asks for a refund. Billing can compare both payments.",
          context: { topic: "Double charge on the last invoice", asks_for: "Refund of the second charge" },
        },
      },
    },
  ],
};
