import type { Sample } from "./define";

export const plannedCrew: Sample = {
  input: { goal: "Reach this goal: Prepare a one-day workshop about home gardening" },
  answers: [
    {
      role: "Planner",
      phrases: ["Write a plan that reaches the goal."],
      gives: {
        parsed_intent: {
          goal: "A program for a one-day workshop that lets beginners start a vegetable garden at home",
          complexity: "moderate",
        },
        success_criteria: [],
        tasks: [
          {
            task_id: "basics",
            description: "Collect what beginners need to know about a first vegetable garden",
            required_role: "Researcher",
            dependencies: [],
            expected_output: "Five short points with sources",
            priority: "medium",
            estimated_duration: "20m",
            tags: [],
          },
          {
            task_id: "format",
            description: "Choose three learning goals, and say what could spoil the day",
            required_role: "Analyst",
            dependencies: [],
            expected_output: "Three goals and the main risks",
            priority: "medium",
            estimated_duration: "15m",
            tags: [],
          },
          {
            task_id: "program",
            description: "Write the program of the day with times, materials and a plan for rain",
            required_role: "Writer",
            dependencies: ["basics", "format"],
            expected_output: "One page that can be handed out",
            priority: "high",
            estimated_duration: "30m",
            tags: [],
          },
        ],
      },
    },
    {
      role: "Researcher",
      phrases: [
        "Collect what beginners need to know about a first vegetable garden\n</task>",
        "web_search (200)",
      ],
      gives: `1. **Small beats big:** one bed of about 1 by 2 meters is enough for a first year.
2. **Plants that forgive:** radishes, lettuce, beans, zucchini and herbs. (demo.example/home-gardening)
3. **Sun and water:** half a day of sun and steady watering matter more than equipment. (demo.example/home-gardening)
4. **The most frequent mistake:** sowing too much, too early. (demo.example/home-gardening)
5. **Most useful handout:** a calendar of sowing dates for the region. (demo.example/home-gardening)`,
    },
    {
      role: "Researcher",
      phrases: ["Collect what beginners need to know about a first vegetable garden\n</task>"],
      call: {
        name: "web_search",
        args: { query: "A first vegetable garden at home for beginners", count: 3 },
      },
    },
    {
      role: "Analyst",
      phrases: ["Choose three learning goals, and say what could spoil the day\n</task>"],
      gives: `**Learning goals.** At the end of the day, everyone can
1. prepare a small bed or a large pot,
2. sow three kinds of vegetables at the right depth and distance,
3. say when to water, and when not to.

**What could spoil the day**
- *Rain* (likely in spring): have tables and pots indoors, and keep the outdoor part short.
- *Too much theory* (likely): never talk for more than 15 minutes before hands are busy.
- *Too many people* (possible): 12 per trainer is the limit for practical work.`,
    },
    {
      role: "Writer",
      phrases: ["Write the program of the day with times, materials and a plan for rain\n</task>"],
      gives: `# Your first vegetable garden: a workshop for beginners

*For 12 people. No experience needed.*

| Time | What we do |
|---|---|
| 9:30 | Welcome: what would you like to eat from your garden? |
| 9:45 | Soil in your hands: prepare a bed of 1 by 2 meters |
| 11:15 | Break |
| 11:30 | Plants that forgive: radishes, lettuce, beans, zucchini, herbs |
| 12:15 | Lunch |
| 13:15 | Sow three vegetables at the right depth and distance |
| 14:45 | Break |
| 15:00 | Water well: finger test, morning or evening, and when not to |
| 15:45 | Your sowing calendar for the next three months |
| 16:15 | Closing round, and a tray of seedlings to take home |

**Materials per person:** one tray, potting soil, three packets of seeds, labels, gloves. **For all:** rakes, watering cans, a flip chart.

**If it rains:** the bed becomes a large pot on the table; everything else stays as it is.

**To take home:** the sowing calendar, with one sentence in bold: *Sow less, and later than you want to.*`,
    },
  ],
};
