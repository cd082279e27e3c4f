import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { recordOf } from "@/server/domain/base/guards";
import { present } from "@/server/domain/base/must";
import { isCrewNode } from "@/server/domain/nodes";
import { RunViewStore } from "../live/run-view-store";
import { OnRunPage } from "../testing";
import { CrewInside } from "./crew-inside";
import { CrewPanel } from "./crew-panel";
import { CrewStageProvider, useNewCrewStage } from "./crew-stage";

// Each process has a template that runs on the offline demo. These tests check what its crew shows afterwards.

const nothing = () => undefined;

/** Runs a template with its example inputs to the end, and shows its crew open, next to the panel. */
async function ran(title: string) {
  const store = new RunViewStore((work) => work());
  let runId = "";
  const page = openPage(
    <OnRunPage store={store} runId={() => runId}>
      {() => <Crew />}
    </OnRunPage>,
  );
  const { key, graph } = present(
    (await page.ask.workflows.templates()).find((template) => template.title === title),
    title,
  );
  const crew = present(Object.values(graph.nodes).find(isCrewNode), "a crew");
  function Crew() {
    const stage = useNewCrewStage(nothing);
    return (
      <CrewStageProvider value={stage}>
        <CrewInside node={crew} />
        <CrewPanel nodeIds={[crew.id]} fallback={null} />
      </CrewStageProvider>
    );
  }
  const start = present(
    Object.values(graph.nodes).find(({ node_type }) => node_type === "start"),
    "a start",
  );
  const { properties } = recordOf(recordOf(start.config).input_schema);
  const input = Object.fromEntries(
    Object.entries(recordOf(properties)).flatMap(([name, schema]) => {
      const { examples } = recordOf(schema);
      return Array.isArray(examples) ? [[name, examples[0]]] : [];
    }),
  );
  for (const role of builtinRoles) page.troupe.roles.put(role);
  const { id } = await page.ask.workflows.fromTemplate({ key });
  runId = (await page.ask.runs.start({ workflow_id: id, input })).run_id;
  await page.troupe.host.settled(runId);
  expect(page.troupe.runs.find(runId)?.final_status).toBe("COMPLETED");
  for (let seq = 0, more = 1; more > 0; seq = store.received()) {
    const events = page.troupe.runs.events(runId, seq, 500);
    more = events.length;
    store.apply(events);
  }
  store.flush();
  page.show();
  const inside = within(await screen.findByRole("region", { name: `Crew of ${crew.name}` }));
  /** One of the crew's views, in the panel. */
  const openView = async (view: string) => {
    await page.person.click(screen.getByRole("tab", { name: new RegExp(`^${view}`) }));
    return within(await screen.findByRole("tabpanel", { name: new RegExp(`^${view}`) }));
  };
  return { ...page, inside, openView };
}

test("a hierarchical crew routes all messages through its manager", async () => {
  const { inside, openView } = await ran("Data analysis with a manager");
  expect(inside.getAllByRole("button", { name: /^Manager to \w+: wrote/ })).toHaveLength(3);
  // Three workers get a message and answer, then the manager answers.
  const messages = within((await openView("Messages")).getByRole("list", { name: "Messages" }));
  expect(messages.getAllByRole("listitem")).toHaveLength(7);
  for (const message of messages.getAllByRole("listitem")) expect(message.textContent).toContain("Manager");
  const board = await openView("Board");
  expect(board.getByRole("list", { name: "Board" }).textContent).toContain("Plan:");
  expect(board.getByRole("region", { name: "Progress ledger" }).textContent).toContain(
    "Is the request satisfied?Yes",
  );
});

test("a voting crew votes in two rounds, and the canvas shows the result", async () => {
  const { inside, openView } = await ran("Decide together");
  inside.getByRole("button", { name: "Analyst to the proposal: voted against, then for" });
  (await openView("Votes")).getAllByText(/round 2/);
});

test("a team completes its plan, which is shown as a list and a graph", async () => {
  const { person, openView } = await ran("Development team");
  const plan = await openView("Plan");
  plan.getByText("8 of 8 tasks done");
  await person.click(plan.getByRole("radio", { name: "By dependency" }));
  await plan.findByRole("region", { name: "Plan graph" });
});

test("crew members pass results on, and a member's searches are listed by call", async () => {
  const { person, inside } = await ran("Research crew");
  inside.getByRole("button", { name: /^Scout to Writer: reported/ });
  await person.click(inside.getByRole("button", { name: /^Scout(?! to)/ }));
  const about = await screen.findByRole("region", { name: "About Scout" });
  await person.click(within(about).getByText(/^Search for what is known/));
  expect(about.textContent).toContain("web_search");
});
