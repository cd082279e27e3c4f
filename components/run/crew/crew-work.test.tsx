import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { RunProvider } from "@/components/run/run-context";
import { PlanViews } from "./crew-views";
import { byRound, CrewWork, WorkRows } from "./crew-work";
import { stories } from "./testing/stories";

test("work is told by rounds, the newest first, and what came before them last", () => {
  expect(
    byRound([{ key: "plan" }, { key: "a", round: 1 }, { key: "b", round: 1 }, { key: "c", round: 2 }]),
  ).toEqual([
    { round: 2, keys: ["c"] },
    { round: 1, keys: ["a", "b"] },
    { round: 0, keys: ["plan"] },
  ]);
});

test("each piece of work says who did it, what it was and what came of it; opened, the conversation", async () => {
  const person = userEvent.setup();
  const store = new RunViewStore((work) => work());
  store.apply(stories.hierarchical);
  const { agents } = store.view.getState().state;
  const keys = Object.keys(agents);
  render(
    <RunProvider store={store}>
      <CrewWork keys={keys} />
    </RunProvider>,
  );
  const rounds = screen.getAllByRole("list", { name: "Work" });
  expect(rounds.map((list) => within(list).getAllByRole("listitem").length)).toEqual(
    byRound(Object.values(agents)).map(({ keys: mine }) => mine.length),
  );
  const research = screen.getByText("Find three studies on heat pumps in old houses");
  const row = research.closest("summary");
  expect(row?.textContent).toContain("Three studies with measured values: 56, 102 and 18 houses.");
  expect(screen.queryByRole("list", { name: "Researcher conversation" })).toBeNull();
  await person.click(research);
  expect(await screen.findByRole("list", { name: "Researcher conversation" })).toBeTruthy();
});

test("of one agent's work the newest is open", () => {
  const store = new RunViewStore((work) => work());
  store.apply(stories.hierarchical);
  const { agents } = store.view.getState().state;
  const keys = Object.values(agents).flatMap(({ key, agent_id }) => (agent_id === "researcher" ? [key] : []));
  render(
    <RunProvider store={store}>
      <WorkRows keys={keys} isByTask />
    </RunProvider>,
  );
  expect(screen.getAllByRole("list", { name: "Researcher conversation" })).toHaveLength(1);
});

test("a plan opens large", async () => {
  const person = userEvent.setup();
  const store = new RunViewStore((work) => work());
  store.apply(stories.parallel);
  const [[activationId, plan] = ["", undefined]] = Object.entries(store.view.getState().state.plans);
  if (!plan) throw new Error("No plan.");
  render(
    <RunProvider store={store}>
      <PlanViews plan={plan} activationId={activationId} />
    </RunProvider>,
  );
  await person.click(screen.getByRole("button", { name: "Enlarge plan" }));
  const dialog = await screen.findByRole("dialog", { name: "Plan" });
  expect(within(dialog).getByRole("region", { name: "Plan" })).toBeTruthy();
  await person.keyboard("{Escape}");
  expect(await screen.findByRole("region", { name: "Plan" })).toBeTruthy();
});
