import type { Sample } from "./define";

const evidence = `| Requirement | In the applicant's words |
|---|---|
| 1. Three years of nursing practice | “I have worked as a nurse on a surgical ward for five years” |
| 2. Works night shifts | “the last two mostly at night” |
| 3. German at level B2 or better | “I passed the German B2 exam in 2024” |`;

export const hiringScreen: Sample = {
  input: {
    requirements:
      "1. Three years of nursing practice\n2. Works night shifts\n3. German at level B2 or better",
    application:
      "I have worked as a nurse on a surgical ward for five years, the last two mostly at night. I passed the German B2 exam in 2024. I am looking for a smaller hospital closer to my family.",
  },
  open: ["comment"],
  answers: [
    { role: "EvidenceCollector", phrases: ["Compare this application"], gives: evidence },
    {
      role: "RecruitingWriter",
      phrases: ["Invite the applicant to an interview"],
      gives: `Dear applicant,

we would like to invite you to an interview. Your five years on a surgical ward, your night shifts and your German certificate are what we are looking for.

Please tell us two days that suit you in the next two weeks. The interview takes about 45 minutes, and you will meet the head of the ward.

Kind regards`,
    },
    {
      role: "RecruitingWriter",
      phrases: ["Decline the application"],
      gives: `Dear applicant,

thank you for your application. We can't offer you this position.

You meet the requirements we named; the decision does not question them. We would be glad to hear from you when we look for nurses again.

Kind regards`,
    },
  ],
};

/** The screener sees the evidence alone. */
export const hiringScreenVote: Sample = {
  input: { goal: `Recommend what to do with this application, by its evidence:\n\n${evidence}` },
  answers: [
    {
      role: "ApplicationScreener",
      phrases: ["Recommend what to do with this application"],
      gives: { recommendation: "invite" },
    },
  ],
};
