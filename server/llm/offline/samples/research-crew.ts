import type { Sample } from "./define";

const SEARCH = "Search for what is known about the question, and name the sources.\n</task>";

export const researchCrew: Sample = {
  input: { goal: "Do bees do better in cities than in the countryside?" },
  answers: [
    {
      role: "judge",
      phrases: ["Say of each criterion whether the result meets it"],
      gives: {
        verdicts: [
          {
            criterion: "The report answers the question, and every claim in it stands in the findings.",
            met: true,
            evidence:
              "The first paragraph answers it: “It depends on the bee.” Food, nesting and the bias of the counts are points 1 to 4 of the findings.",
          },
        ],
      },
    },
    {
      role: "WebResearcher",
      phrases: [SEARCH, "browse_url (200)"],
      gives: `1. **Food lasts longer in cities.** Gardens, parks and balconies flower from spring to autumn; fields often flower all at once. (demo.example/bees-in-cities)
2. **Cities use fewer sprays.** (demo.example/bees-in-cities)
3. **Nesting is harder in cities.** Most wild bees nest in open soil, which is rare there. (demo.example/bees-in-cities)
4. **It depends on the kind.** Bumblebees and honeybees often do better in cities; specialists and ground nesters do better where meadows were kept. (demo.example/bees-in-cities)
5. **Caution:** most counts are of honeybees, which people keep and feed. (demo.example/bees-in-cities)`,
    },
    {
      role: "WebResearcher",
      phrases: [SEARCH, "demo.example/bees-in-cities"],
      call: { name: "browse_url", args: { url: "https://demo.example/bees-in-cities" } },
    },
    {
      role: "WebResearcher",
      phrases: [SEARCH],
      call: {
        name: "web_search",
        args: { query: "Do bees do better in cities than in the countryside", count: 3 },
      },
    },
    {
      role: "Analyst",
      phrases: ["Say by which criteria the question is to be answered"],
      gives: `**Criteria:** food over the whole season, places to nest, poisons, and how many *kinds* of bees live there, not only how many bees.

**For the city** would speak: more kinds of bees, or colonies that survive the winter more often, in the same year and climate.

**For the countryside** would speak: specialists and ground-nesting bees that are missing in the city.

**Easily misleading:** counting honeybees. They are livestock; their number says how many beekeepers there are.`,
    },
    {
      role: "Writer",
      phrases: ["Write a report of one page that answers the question"],
      gives: `# City bees, country bees

**It depends on the bee.** Honeybees and bumblebees often do better in cities. Many wild bees do not.

**Food.** In a city, something flowers from spring to autumn: gardens, parks, balconies. Around a village, fields often flower all at once, and then there is little. Cities also use fewer sprays. By these two criteria the city wins.

**Nesting.** Most wild bees nest in open soil, and that is what cities lack. Specialists that need one plant, and kinds that nest in the ground, do better where meadows and field edges were kept. By this criterion the countryside wins, if it still has meadows.

**Be careful with numbers.** Most counts are of honeybees, which people keep and feed. Many honeybees in a city show that there are many beekeepers, not that wild bees are well.

**What stays open.** The findings do not say how many kinds live in each place in the same year. Without that, nobody can name a winner for bees as a whole.

*Sources: Bees in cities and in the countryside, demo.example/bees-in-cities*`,
    },
  ],
};
