import type { Sample } from "./define";

const QUERY = { query: "Why cities are planting more trees", count: 3 };

export const researchAndWrite: Sample = {
  input: { topic: "Why cities are planting more trees", audience: "curious newcomers" },
  answers: [
    {
      role: "Researcher",
      phrases: ["Gather what readers should know about:", "web_search (200)"],
      gives: `1. **Shade cools.** On a hot afternoon, pavement in the shade of a tree can be 10 to 25 °C cooler than pavement in the sun. (demo.example/street-trees)
2. **Rain is held back.** Leaves and open soil take up water that would otherwise rush into the drains. (demo.example/street-trees)
3. **The first years decide.** A young tree needs watering for two to three years; many die because nobody is responsible for it. (demo.example/street-trees)
4. **Variety protects.** Streets with a single species can lose all their trees to one pest, as many cities did with Dutch elm disease. (general knowledge)
5. **Space is scarce.** Roots compete with pipes and cables, and a tree in a small pit stays small. (demo.example/street-trees)
6. **Uncertain:** people on leafy streets are healthier on average. How much of that comes from the trees, and how much from income, is disputed.`,
    },
    {
      role: "Researcher",
      phrases: ["Gather what readers should know about:"],
      call: { name: "web_search", args: QUERY },
    },
    {
      role: "Writer",
      phrases: ["Write an article about"],
      gives: `# Why cities are planting more trees

## Shade you can feel
Walk from a sunny square into a tree-lined street in July and you notice it at once. Pavement in the shade can be 10 to 25 °C cooler than pavement in the sun. As summers get hotter, that is the main reason for planting.

## A sponge with leaves
Trees also help when it pours. Leaves and open soil hold back water that would otherwise rush into the drains all at once.

## The hard part comes after planting
A young tree needs watering for two to three years, and many die because nobody is responsible for it. Space is the other problem: roots compete with pipes and cables.

## Mixed streets last longer
Cities that planted one species everywhere lost whole avenues to a single disease. Today, several species share a street.

## What we do not know
People on leafy streets are healthier on average. Whether that is because of the trees or because of income is still disputed.`,
    },
    {
      role: "Editor",
      phrases: ["Edit this article about"],
      gives: `# Why cities are planting more trees

Step from a sunny square into a tree-lined street in July, and you feel the answer before you read it.

## Shade cools
On a hot afternoon, pavement in the shade of a tree can be 10 to 25 °C cooler than pavement in the sun. As summers get hotter, shade is the strongest argument for planting.

## Roots hold water back
A cloudburst sends water into the drains all at once. Leaves catch part of it, and open soil around the trunk takes up more.

## Planting is the easy part
A young tree needs watering for two to three years, and many die because nobody is responsible for it. Below ground, roots compete with pipes and cables for space. The best planting plans therefore name a place, a species and a person.

## Why streets are mixed today
Many cities once planted a single species and lost whole avenues to Dutch elm disease. A street with several species does not lose everything at once.

## An open question
People who live on leafy streets are healthier on average. How much of that is due to the trees, and how much to income, is still disputed. The shade needs no study: stand under a tree and see.`,
    },
  ],
};
