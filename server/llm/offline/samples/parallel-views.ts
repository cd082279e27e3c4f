import type { Sample } from "./define";

export const parallelViews: Sample = {
  input: { idea: "A repair café in our neighborhood" },
  answers: [
    {
      role: "Researcher",
      phrases: ["Gather what is known about this idea", "web_search (200)"],
      gives: `- **What it is:** an afternoon at which volunteers help visitors repair lamps, clothes, bicycles and small appliances. (demo.example/repair-cafe)
- **What it needs:** a room with power, basic tools, a few people who can repair, and rules on liability. (demo.example/repair-cafe)
- **Where it comes from:** the first one opened in Amsterdam in 2009; there are now thousands. (general knowledge)
- **What organizers worry about:** enough volunteers, safe electrical repairs, and spare parts. (demo.example/repair-cafe)
- **Uncertain:** how many visitors come back. Most groups count repairs, not people.`,
    },
    {
      role: "Researcher",
      phrases: ["Gather what is known about this idea"],
      call: { name: "web_search", args: { query: "How to start a repair café", count: 3 } },
    },
    {
      role: "Analyst",
      phrases: ["Name the three greatest risks of this idea"],
      gives: `1. **Too few people who can repair** (likely). Two good volunteers with a cold end the afternoon. *Reduce it:* start with one afternoon a month and a list of six, of whom three are needed.
2. **An unsafe electrical repair** (rare, but serious). *Reduce it:* a qualified person tests every device before it leaves, and visitors sign that repairs are at their own risk.
3. **Curiosity fades after the opening** (likely). *Reduce it:* fixed dates for half a year, and a board at the entrance that counts what was saved from the trash.`,
    },
    {
      role: "Writer",
      phrases: ["Tell in one short paragraph"],
      gives:
        "On Saturday at two, Mrs. Novak carries a toaster into the community room. She has not thrown anything away this month without thinking of it. A retired electrician opens the back, points to a loose spring and hands her the screwdriver: she repairs it herself, he only watches. At the next table a boy sees his bicycle's brakes come back to life. By four o'clock there is coffee, eleven things work again, and Mrs. Novak has promised to show people how to darn a sweater next time.",
    },
    {
      role: "Editor",
      phrases: ["Join these three views of the idea"],
      gives: `# A repair café in our neighborhood

**The idea.** One afternoon a month, volunteers help neighbors repair lamps, clothes, bicycles and small appliances in the community room.

**What speaks for it.** It needs little: a room with power, basic tools and a few people who can repair. Things stay out of the trash, and people who would not meet otherwise sit at one table, like Mrs. Novak and the electrician who let her repair her own toaster.

**What speaks against it.** It depends on few people, and one unsafe electrical repair can end it. Interest may fade after the opening.

**How to reduce that.**
- Keep a list of six volunteers, of whom three are needed.
- Let a qualified person test every device before it leaves.
- Announce fixed dates for half a year, and count the repairs in public.

**Recommendation.** Try it for six months. Continue if at least four volunteers stay and an average of eight repairs per afternoon succeed.`,
    },
  ],
};
