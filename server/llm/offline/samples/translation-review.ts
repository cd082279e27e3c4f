import type { Sample } from "./define";

const FIRST =
  "Deine kostenlose Testphase endet morgen. Füge eine Zahlungsmethode hinzu, um deine Projekte zu behalten; sonst löschen wir sie nach 90 Tagen.";
const SECOND =
  "Deine kostenlose Testphase endet morgen. Füge eine Zahlungsmethode hinzu, um deine Projekte zu behalten; sonst archivieren wir sie für 90 Tage.";

export const translationReview: Sample = {
  input: {
    text: "Your free trial ends tomorrow. Add a payment method to keep your projects; otherwise we archive them for 90 days.",
    language: "German",
    glossary: "trial = Testphase; project = Projekt; to archive = archivieren. Address readers with du.",
  },
  open: ["problems"],
  answers: [
    {
      role: "Translator",
      phrases: ["Translate into", "sonst löschen wir sie"],
      gives: SECOND,
    },
    { role: "Translator", phrases: ["Translate into"], gives: FIRST },
    {
      role: "TranslationReviewer",
      phrases: ["Review this translation", "archivieren wir sie für 90 Tage"],
      gives: { verdict: "accept", problems: [] },
    },
    {
      role: "TranslationReviewer",
      phrases: ["Review this translation"],
      gives: {
        verdict: "revise",
        problems: [
          "“löschen wir sie nach 90 Tagen” says that projects are deleted after 90 days. The original archives them for 90 days: “archivieren wir sie für 90 Tage”.",
        ],
      },
    },
  ],
};
