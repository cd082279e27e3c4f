import { screen, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import { compareRuns } from "@/server/domain/run/compare/compare";
import { draw } from "@/server/domain/testing/drawing";
import { Bisect } from "./bisect";

/** Shows what is known only once it is shown. */
const Late = ({ children }: { children: () => ReactNode }) => children();

test("a person says which run was good and what held in it, and is told which step made the difference", async () => {
  let [a, b] = ["", ""];
  const onSelect = vi.fn();
  const { troupe, ask, person, show } = openPage(
    <Late>
      {() => {
        const [one, other] = [troupe.runs.state(a), troupe.runs.state(b)];
        if (!one || !other) return null;
        return <Bisect a={a} b={b} comparison={compareRuns(one, other)} onSelect={onSelect} />;
      }}
    </Late>,
  );
  const { id: workflow_id } = await ask.workflows.create({
    name: "Count",
    graph: draw("start > a > end", { a: { config: { set: { n: "state.n + 1" } }, output_keys: ["n"] } }),
  });
  const run = async (n: number) => {
    const { run_id } = await ask.runs.start({ workflow_id, input: { n } });
    await troupe.host.settled(run_id);
    return run_id;
  };
  [a, b] = [await run(1), await run(8)];
  show();
  await person.click(screen.getByRole("radio", { name: "A condition" }));
  const find = screen.getByRole("button", { name: "Find it" });
  expect(find).toHaveProperty("disabled", true);
  const condition = screen.getByRole("textbox", { name: "What holds in the good run, and not in the other" });
  await person.type(condition, "state.n > 5");
  await person.click(find);
  expect((await screen.findByRole("alert")).textContent).toBe(
    "In the good run this does not hold. state.n > 5 was to hold, and does not: n is 2. Choose what was good in it.",
  );
  await person.clear(condition);
  await person.type(condition, "state.n < 5");
  await person.click(find);
  const told = await screen.findByRole("status");
  expect(told.textContent).toContain(
    "The input makes the difference: as in the good run the expectation holds, as in the bad run it fails.",
  );
  expect(within(told).getByText("2 replays tried")).toBeDefined();
});
