import { screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { InboxWatch } from "./inbox-count";
import { InboxPage } from "./inbox-page";

/** Asks at once whether its task may begin. */
const asking = draw("start > crew > end", {
  crew: {
    node_type: "crew_task",
    name: "The crew",
    output_keys: ["result"],
    config: {
      crew: { process: "sequential", agents: [{ agent_id: "ann", role_name: "Writer" }] },
      plan: {
        execution_mode: "step",
        tasks: [{ task_id: "first", description: "do first", assigned_agent: "ann" }],
      } as never,
    },
  },
});

/** The inbox, after workflows of these names were started. */
async function inboxOf(...names: string[]) {
  const page = openPage(<InboxPage />, "/inbox");
  page.troupe.roles.create(RoleDefinition.parse({ name: "Writer" }));
  const runs = [];
  for (const name of names) {
    const { id } = await page.ask.workflows.create({ name, graph: asking });
    runs.push((await page.ask.runs.start({ workflow_id: id })).run_id);
    await expect.poll(() => page.troupe.questions.count().open, { timeout: 10_000 }).toBe(runs.length);
  }
  page.show();
  return { ...page, runs };
}
const rows = () => within(screen.getByRole("list", { name: "Questions" })).getAllByRole("listitem");
const heads = () => rows().map((row) => within(row).getAllByRole("button")[0]!);
const opened = () => heads().map((head) => head.getAttribute("aria-expanded"));

test("an empty inbox shows an empty state", async () => {
  await inboxOf();
  await screen.findByText("You're all caught up");
});

test("a question of a run that another one started names the workflow that it is part of", async () => {
  const page = openPage(<InboxPage />, "/inbox");
  const asks = draw("start > ask; ask approved> end; ask rejected> end", {
    ask: { node_type: "approval_gate", name: "Your decision", config: { title: "Send it?" } },
  });
  const { id } = await page.ask.workflows.create({ name: "Summarize", graph: asks });
  const graph = draw("start > call > end", {
    call: { node_type: "sub_workflow", config: { workflow_id: id }, output_keys: ["result"] },
  });
  const { id: workflow_id } = await page.ask.workflows.create({ name: "Weekly report", graph });
  await page.ask.runs.start({ workflow_id });
  await expect.poll(() => page.troupe.questions.count().open, { timeout: 10_000 }).toBe(1);
  page.show();
  await screen.findByText("“Your decision” of Summarize, part of Weekly report");
});

test("questions show their context and are answered in place, in order", async () => {
  const { person, runs, troupe } = await inboxOf("Ebb", "Tide");
  await screen.findByRole("list", { name: "Questions" });
  expect(screen.queryByText(/most urgent of/)).toBeNull();
  expect(opened()).toEqual(["true", "false"]);
  expect(heads()[0]!.textContent).toMatch(
    /Start "do first"\?.*Ann.*in “The crew” of Ebb.*Asked just now.*left/,
  );
  expect(rows()[0]!.textContent).toMatch(/No answer within .* counts as rejection\./);
  await person.click(within(rows()[0]!).getByRole("button", { name: "Approve" }));
  await waitFor(() => expect(rows()).toHaveLength(1));
  expect(opened()).toEqual(["true"]);
  await waitFor(() => expect(document.activeElement).toBe(heads()[0]));
  expect(screen.getByText("1 question left.")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Watch the run continue" }).getAttribute("href")).toContain(
    "/runs/run_",
  );
  await troupe.host.settled(runs[0]!);
  expect(troupe.runs.find(runs[0]!)).toMatchObject({ status: "finished" });
  await person.click(within(rows()[0]!).getByRole("button", { name: "Reject…" }));
  await person.type(screen.getByRole("textbox"), "Not today");
  await person.click(screen.getByRole("button", { name: "Reject" }));
  await screen.findByText("You're all caught up");
  const [ask] = Object.values(troupe.runs.state(runs[1]!)!.interactions);
  await expect
    .poll(() => troupe.runs.state(runs[1]!)!.interactions[ask!.id]?.answered?.message)
    .toBe("Not today");
});

test("a question's title is shown once, whether it is open or collapsed", async () => {
  await inboxOf("Ebb");
  await screen.findByRole("list", { name: "Questions" });
  expect(screen.getAllByText('Start "do first"?')).toHaveLength(1);
  expect(screen.getByRole("region", { name: 'Question: Start "do first"?' })).toBeTruthy();
});

/** A gate that asks for somebody who knows these things. */
const gateFor = (assigned_to: string, ...required_expertise: string[]) =>
  draw("start > gate; gate approved> end; gate rejected> bad", {
    gate: {
      node_type: "approval_gate",
      name: "The gate",
      config: {
        title: `For ${assigned_to}?`,
        options: ["approved", "rejected"],
        assigned_to,
        required_expertise,
      },
    },
    bad: { node_type: "end" },
  });

test("the assignee and required expertise of a question are shown and can be filtered", async () => {
  const page = openPage(<InboxPage />, "/inbox");
  for (const [before, graph] of [gateFor("Ann", "law"), gateFor("Bo", "taxes", "law")].entries()) {
    const { id } = await page.ask.workflows.create({ name: "Pay", graph });
    await page.ask.runs.start({ workflow_id: id });
    // Who asks first stands first.
    await expect.poll(() => page.troupe.questions.count().open, { timeout: 10_000 }).toBe(before + 1);
  }
  page.show();
  await screen.findByRole("list", { name: "Questions" });
  expect(heads().map((head) => head.textContent)).toEqual([
    expect.stringContaining("For AnnNeeds law"),
    expect.stringContaining("For BoNeeds taxes, law"),
  ]);
  const choose = async (what: string, option: string) => {
    await page.person.click(screen.getByRole("combobox", { name: what }));
    await page.person.click(await screen.findByRole("option", { name: option }));
  };
  await choose("Expertise", "Knows taxes");
  await waitFor(() => expect(rows()).toHaveLength(1));
  await choose("Assignee", "For Ann");
  await screen.findByText("No matching questions");
  await page.person.click(screen.getByRole("button", { name: "Show all questions" }));
  await waitFor(() => expect(rows()).toHaveLength(2));
});

test("the most urgent of many questions come first, and filters cover all of them", async () => {
  const page = openPage(<InboxPage />, "/inbox");
  const edges = Array.from(
    { length: 99 },
    (_, at) => `start > g${at}; g${at} approved> end; g${at} rejected> bad`,
  );
  const gate = (title: string) => ({
    node_type: "approval_gate" as const,
    config: { title, options: ["approved", "rejected"] },
  });
  const many = draw(edges.join("; "), {
    ...Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`g${at}`, gate(`Gate ${at}`)])),
    bad: { node_type: "end" },
  });
  const { id } = await page.ask.workflows.create({ name: "Many", graph: many });
  await page.ask.runs.start({ workflow_id: id });
  // Asked before the other's question: the first row must be one of these.
  await expect.poll(() => page.troupe.questions.count().open, { timeout: 20_000 }).toBe(99);
  const { id: other } = await page.ask.workflows.create({ name: "One", graph: gateFor("Ann", "law") });
  await page.ask.runs.start({ workflow_id: other });
  await expect.poll(() => page.troupe.questions.count().open, { timeout: 20_000 }).toBe(100);
  page.show();
  await screen.findByText(/^30 of 100 questions, most urgent first\./);
  expect(rows()).toHaveLength(30);
  await page.person.click(screen.getByRole("button", { name: "Show 30 more" }));
  expect(rows()).toHaveLength(60);
  await waitFor(() => expect(document.activeElement).toBe(heads()[30]));
  // An answer leaves as many in the list, and opens the next.
  await page.person.click(within(rows()[0]!).getByRole("button", { name: "approved" }));
  await screen.findByText(/^60 of 99 questions/);
  expect([rows().length, opened().filter((is) => is === "true").length]).toEqual([60, 1]);
  await page.person.click(screen.getByRole("combobox", { name: "Workflow" }));
  await page.person.click(await screen.findByRole("option", { name: "One" }));
  await waitFor(() => expect(rows()).toHaveLength(1));
  expect(screen.queryByRole("button", { name: /^Show/ })).toBeNull();
}, 60_000);

test("a full inbox shows the total and states that only the most urgent questions are listed", async () => {
  const page = openPage(<InboxPage />, "/inbox");
  for (const name of ["Ebb", "Tide"]) {
    const { id } = await page.ask.workflows.create({ name, graph: gateFor("Ann") });
    await page.ask.runs.start({ workflow_id: id });
  }
  await expect.poll(() => page.troupe.questions.count().open, { timeout: 10_000 }).toBe(2);
  vi.spyOn(page.troupe.questions, "total").mockReturnValue(5);
  page.show();
  const message =
    "Showing the 2 most urgent of 5 questions. The others appear as you answer. Filters apply only to the 2 shown.";
  await screen.findByText(message);
  await page.person.click(screen.getByRole("combobox", { name: "Workflow" }));
  await page.person.click(await screen.findByRole("option", { name: "Tide" }));
  await waitFor(() => expect(rows()).toHaveLength(1));
  expect(screen.getByText(message)).toBeTruthy();
});

test("arrow keys move between questions", async () => {
  const { person } = await inboxOf("Ebb", "Tide");
  await screen.findByRole("list", { name: "Questions" });
  heads()[0]!.focus();
  await person.keyboard("{ArrowDown}{Enter}");
  expect(document.activeElement).toBe(heads()[1]);
  expect(opened()).toEqual(["false", "true"]);
  await person.keyboard("{ArrowUp}");
  expect(document.activeElement).toBe(heads()[0]);
});

test("answering a closed question shows that it is no longer open and who answered", async () => {
  const { person, troupe, runs } = await inboxOf("Ebb");
  await screen.findByRole("list", { name: "Questions" });
  const [ask] = Object.values(troupe.runs.state(runs[0]!)!.interactions);
  troupe.host.steering.answer(runs[0]!, ask!.id, ask!.requested.fingerprint, {
    answer: "approve",
    by: "API token t",
  });
  await troupe.host.settled(runs[0]!);
  await person.click(screen.getByRole("button", { name: "Approve" }));
  await screen.findByText("No longer open: API token t answered.");
  expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
});

test("a link opens the question it refers to", async () => {
  const page = await inboxOf("Ebb", "Tide");
  await screen.findByRole("list", { name: "Questions" });
  document.body.replaceChildren();
  window.history.pushState(null, "", `/inbox?run=${page.runs[1]}`);
  page.show();
  await screen.findByRole("list", { name: "Questions" });
  expect(opened()).toEqual(["false", "true"]);
});

test("a browser notification omits the question's text and links to the question", async () => {
  const notifications: { title: string; body: string | undefined; onclick: (() => void) | null }[] = [];
  class FakeNotification {
    static readonly permission = "granted";
    onclick: (() => void) | null = null;
    readonly body: string | undefined;
    constructor(
      readonly title: string,
      options?: NotificationOptions,
    ) {
      this.body = options?.body;
      notifications.push(this);
    }
  }
  vi.stubGlobal("Notification", FakeNotification);
  localStorage.setItem("troupe:browser-notices", "on");
  document.title = "Inbox";
  const page = openPage(
    <>
      <InboxWatch />
      <InboxPage />
    </>,
    "/inbox",
  );
  page.troupe.roles.create(RoleDefinition.parse({ name: "Writer" }));
  const { id } = await page.ask.workflows.create({ name: "Ebb", graph: asking });
  const begin = async (count: number) => {
    const { run_id } = await page.ask.runs.start({ workflow_id: id });
    await expect.poll(() => page.troupe.questions.count().open, { timeout: 10_000 }).toBe(count);
    return run_id;
  };
  await begin(1);
  page.show();
  await screen.findByRole("list", { name: "Questions" });
  await waitFor(() => expect(document.title).toBe("(1) Inbox"));
  expect(notifications).toEqual([]);
  const second = await begin(2);
  await page.person.click(within(rows()[0]!).getByRole("button", { name: "Approve" }));
  await waitFor(() => expect(notifications).toHaveLength(1));
  expect(notifications[0]).toMatchObject({
    title: expect.stringMatching(/questions? needs? your answer$/),
    body: "Open the inbox to respond.",
  });
  const went = vi.spyOn(window, "focus").mockImplementation(() => {});
  const { interaction_id } = page.troupe.questions.count().newest!;
  expect(() => notifications[0]!.onclick!()).not.toThrow();
  expect(went).toHaveBeenCalled();
  expect(page.troupe.questions.count().newest).toMatchObject({ run_id: second, interaction_id });
  localStorage.removeItem("troupe:browser-notices");
});
