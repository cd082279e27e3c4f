import { screen, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { compareRuns } from "@/server/domain/run/compare/compare";
import { draw } from "@/server/domain/testing/drawing";
import { Bisect } from "./comparison-runs";

/** Shows what is known only once it is shown. */
const Late = ({ children }: { children: () => ReactNode }) => children();

test("bisect takes any expectation except a judge and finds the step that made the difference", async () => {
  let [a, b] = ["", ""];
  const { troupe, ask, person, show } = openPage(
    <Late>
      {() => {
        const [one, other] = [troupe.runs.state(a), troupe.runs.state(b)];
        if (!one || !other) return null;
        return <Bisect a={a} b={b} comparison={compareRuns(one, other)} onSelect={() => {}} />;
      }}
    </Late>,
  );
  const { id: workflow_id } = await ask.workflows.create({
    name: "Count",
    graph: draw("start > a > r; r more> a; r done> end", {
      a: {
        config: { set: { n: "state.n + 1", r: "state.n < 3 ? 'more' : 'done'" } },
        output_keys: ["n", "r"],
      },
    }),
  });
  const run = async (n: number) => {
    const { run_id } = await ask.runs.start({ workflow_id, input: { n } });
    await troupe.host.settled(run_id);
    return run_id;
  };
  [a, b] = [await run(3), await run(1)];
  show();
  await person.click(screen.getByRole("combobox", { name: "Type" }));
  const kinds = screen.getAllByRole("option").map(({ textContent }) => textContent);
  expect(kinds).toHaveLength(9);
  expect(kinds.join()).not.toContain("Judge");
  await person.click(screen.getByRole("option", { name: /^Visits/ }));
  // As the good run had it, to begin with.
  const times = screen.getByRole("textbox", { name: /^Exactly/ });
  expect(times).toHaveProperty("value", "1");
  await person.clear(times);
  await person.type(times, "7");
  const find = screen.getByRole("button", { name: "Start bisect" });
  await person.click(find);
  expect((await screen.findByRole("alert")).textContent).toMatch(
    /^This isn't true in the good run\. .* Choose an expectation that passes in the good run\.$/,
  );
  await person.clear(times);
  await person.type(times, "1");
  await person.click(find);
  const status = await screen.findByRole("status");
  expect(status.textContent).toContain(
    "Input makes the difference: the expectation passes with the good run's value and fails with the bad run's.",
  );
  expect(within(status).getByText("Ran 2 replays")).toBeDefined();
});
