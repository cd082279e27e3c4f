import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { RunProvider } from "@/components/run/run-context";
import { PlanViews } from "./crew-views";
import { byRound, CrewWork, WorkRows } from "./crew-work";
import { stories } from "./testing/stories";

test("crew work is grouped by round, newest first, with work before the rounds last", () => {
  expect(
    byRound([{ key: "plan" }, { key: "a", round: 1 }, { key: "b", round: 1 }, { key: "c", round: 2 }]),
  ).toEqual([
    { round: 2, keys: ["c"] },
    { round: 1, keys: ["a", "b"] },
    { round: 0, keys: ["plan"] },
  ]);
});

test("each work item shows its agent, task and result, and expands to the conversation", async () => {
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

test("only the agent's newest work item is expanded", () => {
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

test("a plan opens in a large view", async () => {
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
