import type { Sample } from "./define";

export const weeklyBrief: Sample = {
  input: {
    topic: "City traffic",
    news: "- The city approved the bike lane on Mill Street; work begins in September.\n- Parking fees rise to 3 euros per hour on 1 August.\n- The night bus N4 is being discussed again.",
  },
  open: ["before"],
  answers: [
    {
      role: "BriefWriter",
      phrases: ["Write this week's brief", "Night bus N4 under discussion", "Parking fees rise on 1 August"],
      gives: {
        brief: "Nothing is new this week.",
        known: [
          "Bike lane on Mill Street approved",
          "Night bus N4 under discussion",
          "Parking fees rise on 1 August",
        ],
      },
    },
    {
      role: "BriefWriter",
      phrases: ["Write this week's brief", "Night bus N4 under discussion"],
      gives: {
        brief: "- **Parking:** fees rise to 3 euros per hour on 1 August.",
        known: [
          "Bike lane on Mill Street approved",
          "Night bus N4 under discussion",
          "Parking fees rise on 1 August",
        ],
      },
    },
    {
      role: "BriefWriter",
      phrases: ["Write this week's brief"],
      gives: {
        brief: `- **Bike lane:** the city approved it on Mill Street; work begins in September.
- **Parking:** fees rise to 3 euros per hour on 1 August.
- **Night bus N4:** it is being discussed again.`,
        known: [
          "Bike lane on Mill Street approved",
          "Night bus N4 under discussion",
          "Parking fees rise on 1 August",
        ],
      },
    },
  ],
};
