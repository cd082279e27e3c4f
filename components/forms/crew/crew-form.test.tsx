import { screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { CrewConfig } from "@/server/domain/crew/crew";
import { CrewForm } from "./crew-form";

/** The form with a crew of two, and what it says in the end. */
function opened(process: CrewConfig["process"]) {
  let now = CrewConfig.parse({
    process,
    agents: [
      { agent_id: "ann", role_name: "Writer" },
      { agent_id: "bo", role_name: "Editor" },
    ],
  });
  const before = now;
  function Page() {
    const [crew, setCrew] = useState(now);
    now = crew;
    return <CrewForm crew={crew} roles={[]} onChange={setCrew} />;
  }
  const { person, show } = openPage(<Page />);
  show();
  const choose = async (field: string, option: string) => {
    await person.click(screen.getByRole("combobox", { name: field }));
    await person.click(await screen.findByRole("option", { name: new RegExp(`^${option}`) }));
  };
  const enter = async (field: string, text: string) => {
    const box = screen.getByRole("textbox", { name: field });
    await person.clear(box);
    await person.type(box, `${text}{Tab}`);
  };
  return { person, choose, enter, before, crew: () => now };
}

test("a planning crew has a configurable failure policy and planner", async () => {
  const { person, choose, enter, before, crew } = opened("sequential");
  await person.click(screen.getByRole("switch", { name: "Plan first" }));
  expect(screen.queryByRole("textbox", { name: "Max replans" })).toBeNull();
  await choose("On task failure", "Replan");
  await enter("Max replans", "4");
  await person.click(screen.getByText("More"));
  await choose("Planner", "bo");
  await person.click(screen.getByRole("switch", { name: "Delegates keep tools" }));
  expect(screen.queryByRole("textbox", { name: "Max handoffs" })).toBeNull();
  await person.click(screen.getByRole("switch", { name: "Allow handoffs" }));
  await enter("Max handoffs", "3");
  expect(crew()).toEqual({
    ...before,
    planning: true,
    on_task_failure: "replan",
    max_replans: 4,
    manager: { agent_id: "bo" },
    allow_handoffs: true,
    max_handoffs: 3,
    delegate_tools: "shared",
  });
});

test("a voting crew has a configurable decision rule, with weights only if they apply", async () => {
  const { person, choose, enter, before, crew } = opened("consensus");
  expect(screen.queryByRole("group", { name: "Weights" })).toBeNull();
  await choose("Decision rule", "Weighted majority");
  await person.clear(
    within(screen.getByRole("group", { name: "Weights" })).getByRole("textbox", { name: "Weight of bo" }),
  );
  await enter("Weight of bo", "3");
  await choose("If undecided", "Chair decides");
  await person.click(screen.getByText("More"));
  await enter("Quorum", "60");
  await waitFor(() =>
    expect(crew()).toEqual({
      ...before,
      consensus: { ...before.consensus, rule: "weighted", weights: { bo: 3 }, tie: "chair", quorum: 0.6 },
    }),
  );
});

test("the first agent of a handoff crew can be set and cleared", async () => {
  const { choose, enter, before, crew } = opened("swarm");
  await choose("First agent", "bo");
  expect(crew()).toEqual({ ...before, entry_agent: "bo" });
  await choose("First agent", "First in the list");
  await enter("Max handoffs", "5");
  expect(crew()).toStrictEqual({ ...before, max_handoffs: 5 });
});
