import type { Sample } from "./define";

export const contractReview: Sample = {
  input: {
    contract:
      "1. The supplier may change prices with 14 days' notice.\n2. The supplier's liability is limited to 500 euros per year.\n3. The contract runs for 36 months and renews for another 12 unless it is terminated six months before.\n4. Support answers on working days from 9 to 17.",
  },
  open: ["findings", "high_risks"],
  answers: [
    {
      role: "ContractReviewer",
      phrases: ["for prices, fees and payment"],
      gives: {
        findings: [
          {
            clause: "1",
            risk: "high",
            concern:
              "Prices can rise at any time and by any amount, while the contract binds us for 36 months.",
            change: "Prices may rise once a year, by 3% at most; above that we may terminate.",
          },
        ],
      },
    },
    {
      role: "ContractReviewer",
      phrases: ["for liability, warranty and damages"],
      gives: {
        findings: [
          {
            clause: "2",
            risk: "high",
            concern: "500 euros per year would not cover a single day without the service.",
            change: "Liability is limited to the fees of one year, and not limited for gross negligence.",
          },
        ],
      },
    },
    {
      role: "ContractReviewer",
      phrases: ["for its term, renewal and termination"],
      gives: {
        findings: [
          {
            clause: "3",
            risk: "medium",
            concern: "If we miss the date six months before the end, we pay for another year.",
            change: "After 36 months, either side may terminate with three months' notice.",
          },
        ],
      },
    },
    {
      role: "NegotiationAdvisor",
      phrases: ["Write a negotiation plan"],
      gives: `# Negotiation plan

**Must change**
1. *Clause 1, prices.* Without a cap, the term of 36 months protects only the supplier. Ask for one increase a year of at most 3%, and a way out above that.
2. *Clause 2, liability.* Ask for the fees of one year as the limit, and no limit for gross negligence.

**Nice to have**
- *Clause 3, renewal.* Three months' notice after the first term instead of another 12 months. Give this away last: it costs the supplier little.

**For the lawyer**
- Whether the limit in clause 2 is valid as it stands.`,
    },
  ],
};
