import { api, expect, overflow, test } from "./support/app";

/** A crew of one, whose task begins once a person agrees. */
const asking = (name: string) => ({
  graph_id: name,
  name,
  start_node_id: "start",
  nodes: {
    start: { id: "start", node_type: "start", name: "Start" },
    crew: {
      id: "crew",
      node_type: "crew_task",
      name: "Writing",
      output_keys: ["text"],
      config: {
        crew: { process: "sequential", agents: [{ agent_id: "ann", role_name: "Writer" }] },
        plan: {
          execution_mode: "step",
          tasks: [{ task_id: "t", description: `a note on ${name}`, assigned_agent: "ann" }],
        },
      },
    },
    end: { id: "end", node_type: "end", name: "End" },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "crew" },
    { id: "e2", source_node_id: "crew", target_node_id: "end" },
  ],
});

async function start(name: string): Promise<string> {
  const { id } = await api<{ id: string }>("POST", "/workflows", asking(name));
  const { run_id } = await api<{ run_id: string }>("POST", `/workflows/${id}/runs`, { input: {} });
  const questions = async () =>
    (await api<{ questions: { run_id: string }[] }>("GET", "/questions")).questions.map((one) => one.run_id);
  await expect.poll(questions).toContain(run_id);
  return run_id;
}

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("a question is answered in the inbox, the badge count drops, and the run resumes", async ({
    app,
    page,
  }) => {
    // The inbox counts all open questions on this server.
    await app.startFresh();
    const first = await start("tides");
    await start("moons");
    await app.open("/roles");
    await expect(page).toHaveTitle("(2) Roles · Troupe");
    await page.getByRole("link", { name: /^Inbox\s+2 open questions$/ }).tap();
    const questions = page.getByRole("list", { name: "Questions" });
    await expect(questions.getByRole("listitem")).toHaveCount(2);
    const card = page.getByRole("region", { name: 'Question: Start "a note on tides"?' });
    await expect(card).toBeVisible();
    expect(await overflow(page), "nothing sticks out to the side").toBeLessThanOrEqual(0);
    expect(await app.accessibilityViolations()).toEqual([]);

    await card.getByRole("button", { name: "Approve" }).tap();
    await expect(questions.getByRole("button", { name: /^Start "a note on moons"\?/ })).toBeFocused();
    await expect(page.getByRole("link", { name: /^Inbox\s+1 open question$/ })).toBeVisible();
    await expect(page).toHaveTitle("(1) Inbox · Troupe");
    await expect
      .poll(async () => (await api<{ final_status: string | null }>("GET", `/runs/${first}`)).final_status)
      .toBe("COMPLETED");

    // Somebody else is faster.
    const [left] = (
      await api<{ questions: { run_id: string; interaction_id: string; fingerprint: string }[] }>(
        "GET",
        "/questions",
      )
    ).questions;
    const { run_id, interaction_id, fingerprint } = left!;
    await api("POST", `/runs/${run_id}/answers`, { interaction_id, fingerprint, answer: "reject" });
    await expect(page.getByText(/^No longer open: API.* answered\.?$/)).toBeVisible();
    await page.reload();
    await expect(page.getByText("You're all caught up")).toBeVisible();
    await expect(page).toHaveTitle("Inbox · Troupe");
  });
});
