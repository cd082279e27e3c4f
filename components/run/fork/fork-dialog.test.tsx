import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Lineage } from "@/components/run/history/lineage";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import type { CodeAreaProps } from "@/components/ui/input/code-area-editor";
import { RoleDefinition } from "@/server/domain/agent/role";
import { writersNode } from "@/server/domain/testing/crew-node";
import { draw } from "@/server/domain/testing/drawing";
import { ForkButton } from "./fork-button";
import { likelyChoice } from "./fork-moment";

vi.mock("@/components/ui/input/code-area", () => ({
  CodeArea: ({ label, value, hint, error, onValueChange }: CodeAreaProps) => (
    <>
      <textarea aria-label={label} value={value} onChange={(event) => onValueChange(event.target.value)} />
      <p>{error ?? hint}</p>
    </>
  ),
}));

/** The page of a run of a workflow that keeps what it was given and counts twice. */
async function openRun() {
  const store = new RunViewStore((work) => work());
  let runId = "";
  const page = openPage(
    <OnRunPage store={store} runId={() => runId}>
      {() => (
        <>
          <Lineage runId={runId} />
          <ForkButton />
        </>
      )}
    </OnRunPage>,
  );
  const { troupe, ask } = page;
  const { id: workflowId } = await ask.workflows.create({
    name: "Count",
    graph: draw("start > a > b > end", {
      a: { config: { set: { n: "state.n + 1" } }, output_keys: ["n"] },
      b: { config: { set: { n: "state.n + 1" } }, output_keys: ["n"] },
    }),
  });
  const { run_id: first } = await ask.runs.start({ workflow_id: workflowId, input: { n: 1, note: "x" } });
  await troupe.host.settled(first);
  const events = (id: string) => troupe.runs.events(id, 0, 500);
  const show = (id: string) => {
    runId = id;
    store.apply(events(id));
    page.show();
  };
  /** The moment after a node had done its work. */
  const after = (node: string) =>
    events(first).find(({ type, node_id }) => type === "node_completed" && node_id === node)?.seq ?? 0;
  const forked = async () => {
    await waitFor(() => expect(window.location.pathname).toMatch(/^\/workflows\/.+\/runs\/run_/));
    const id = window.location.pathname.split("/").at(-1) ?? "";
    await troupe.host.settled(id);
    return id;
  };
  return { ...page, store, show, first, after, forked, events, workflowId };
}

const openDialog = async (person: Awaited<ReturnType<typeof openRun>>["person"]) => {
  await person.click(screen.getByRole("button", { name: "Fork from this point" }));
  return screen.findByRole("dialog", { name: "Fork this run" });
};
const choose = async (
  { person }: Pick<Awaited<ReturnType<typeof openRun>>, "person">,
  dialog: HTMLElement,
  name: string,
) => {
  await person.click(within(dialog).getByLabelText("Fork from"));
  await person.click(await screen.findByRole("option", { name }));
};
const write = (text: string) =>
  fireEvent.change(screen.getByRole("textbox", { name: "State" }), { target: { value: text } });

test("a fork starts at the selected moment with edited state and leaves the original unchanged", async () => {
  const { person, show, store, first, after, forked, events, troupe } = await openRun();
  const before = events(first);
  show(first);
  store.goTo(after("a"));
  const dialog = await openDialog(person);
  expect(
    within(dialog).getByText(`After event ${after("a")}: a finished and wrote “n”. Cost so far: $0`),
  ).toBeDefined();
  expect(within(dialog).getByText("No changes.")).toBeDefined();
  await person.click(within(dialog).getByRole("button", { name: "Edit as JSON" }));
  write('{"n": 40, "more": true}');
  expect(within(dialog).getByText("Sets “n” and “more”. Removes “note”.")).toBeDefined();
  await person.click(within(dialog).getByRole("button", { name: "Fork" }));
  const id = await forked();
  expect(troupe.runs.state(id)?.state).toEqual({ n: 41, more: true });
  expect(troupe.runs.state(id)?.run.forks?.[0]).toMatchObject({ at_seq: after("a"), graph: "original" });
  expect(events(first)).toEqual(before);
});

test("the fork dialog picks a moment by node and edits each value in its own field", async () => {
  const { person, show, first, after, forked, events, troupe } = await openRun();
  show(first);
  const dialog = await openDialog(person);
  // Without an agent, it is the last step.
  expect(within(dialog).getByLabelText("Fork from").textContent).toBe("Before b");
  await choose({ person }, dialog, "Before a");
  expect(within(dialog).getByRole("textbox", { name: "N" })).toHaveProperty("value", "1");
  await choose({ person }, dialog, "Before b");
  const number = within(dialog).getByRole("textbox", { name: "N" });
  expect(number).toHaveProperty("value", "2");
  await person.clear(number);
  await person.type(number, "x");
  expect(within(dialog).getByText("Enter a number.")).toBeDefined();
  expect(within(dialog).getByRole("button", { name: "Fork" })).toHaveProperty("disabled", true);
  await person.clear(number);
  await person.type(number, "7");
  await person.clear(within(dialog).getByRole("textbox", { name: "Note" }));
  expect(within(dialog).getByText("Sets “n”. Removes “note”.")).toBeDefined();
  await person.click(within(dialog).getByRole("button", { name: "Fork" }));
  const id = await forked();
  expect(troupe.runs.state(id)?.state).toEqual({ n: 8 });
  const began = events(first).find(({ type, node_id }) => type === "node_started" && node_id === "b");
  expect(began?.seq).toBeGreaterThan(after("a"));
  expect(troupe.runs.state(id)?.run.forks?.[0]).toMatchObject({ at_seq: (began?.seq ?? 0) - 1 });
});

test("a finished run is forked before the selected node, or else before its last agent", () => {
  const graph = draw("start > a > b > end", { a: { node_type: "agent_task" }, b: {} });
  const choices = ["start", "a", "b", "end"].map((nodeId, seq) => ({
    seq,
    label: `Before ${nodeId}`,
    nodeId,
  }));
  expect(likelyChoice(choices, graph, null)?.nodeId).toBe("a");
  expect(likelyChoice(choices, graph, "b")?.nodeId).toBe("b");
  // The moment that the page shows takes precedence.
  expect(likelyChoice([{ seq: 9, label: "This point" }, ...choices], graph, "b")?.seq).toBe(9);
});

test("invalid state is not submitted, and a server error is shown", async () => {
  const { person, show, store, first, after, ask, workflowId } = await openRun();
  show(first);
  store.goTo(after("a"));
  const dialog = await openDialog(person);
  const fork = within(dialog).getByRole("button", { name: "Fork" });
  await person.click(within(dialog).getByRole("button", { name: "Edit as JSON" }));
  for (const [text, message] of [
    ["[1]", "State must be a JSON object."],
    ['{"a b": 1}', "“a b” can't be a key: Use letters, digits and _ (at most 64), no spaces."],
    ["", "Enter {} to remove all values."],
  ] as const) {
    write(text);
    expect(within(dialog).getByText(message)).toBeDefined();
    expect(fork).toHaveProperty("disabled", true);
  }
  write('{"n": 2, "note": "x"}');
  await ask.workflows.remove({ id: workflowId });
  await person.click(within(dialog).getByRole("radio", { name: "Current version" }));
  await person.click(fork);
  expect((await within(dialog).findByRole("alert")).textContent).toBe(
    "The workflow of this run was deleted. Continue with the version it ran.",
  );
});

test("a run lists its forks", async () => {
  const { person, show, first, after, ask } = await openRun();
  const { run_id: second } = await ask.runs.fork({ run_id: first, at: { seq: after("a") } });
  await ask.runs.replay({ run_id: first });
  show(first);
  await person.click(await screen.findByRole("button", { name: "2 forks of this run" }));
  const tree = await screen.findByRole("dialog", { name: "Related runs" });
  const links = within(tree).getAllByRole("link");
  expect(
    links.map(({ textContent }) => /Original run|From event \d+|Replay/.exec(textContent ?? "")?.[0]),
  ).toEqual(["Original run", `From event ${after("a")}`, "Replay"]);
  expect(links[0]?.getAttribute("aria-current")).toBe("page");
  expect(links[1]?.getAttribute("href")).toContain(`/runs/${second}`);
  expect(screen.queryByText(/Forked from/)).toBeNull();
});

test("a fork shows its original run and the moment it was forked from", async () => {
  const { show, first, after, ask, troupe, workflowId } = await openRun();
  const { run_id } = await ask.runs.fork({ run_id: first, at: { seq: after("a") } });
  await troupe.host.settled(run_id);
  show(run_id);
  const link = await screen.findByRole("link", { name: /^the run started / });
  expect(link.getAttribute("href")).toBe(`/workflows/${workflowId}/runs/${first}`);
  expect(link.parentElement?.textContent).toMatch(
    new RegExp(`^Forked from the run started .+, at event ${after("a")}: a finished and wrote “n”$`),
  );
});

test("a replay shows its original, states that nothing was called, and links to the comparison", async () => {
  const { show, first, ask, troupe } = await openRun();
  const { run_id } = await ask.runs.replay({ run_id: first });
  await troupe.host.settled(run_id);
  show(run_id);
  const banner = await screen.findByRole("note", { name: "Replay" });
  expect(banner.textContent).toMatch(
    /^Strict replay of the run started .+: 0 calls answered from the recording, 0 real calls made\./,
  );
  expect(within(banner).getByRole("link", { name: "Compare with original" }).getAttribute("href")).toBe(
    `/runs/compare?a=${first}&b=${run_id}`,
  );
});

test("a fork from the start takes a new input and can run step by step", async () => {
  const { person, show, ask, forked, troupe } = await openRun();
  const { id: asks } = await ask.workflows.create({
    name: "Add",
    graph: draw("start > a > end", {
      start: { output_keys: ["topic"] },
      a: { config: { set: { m: "state.topic + '!'" } }, output_keys: ["m"] },
    }),
  });
  const { run_id: asked } = await ask.runs.start({ workflow_id: asks, input: { topic: "one" } });
  await troupe.host.settled(asked);
  show(asked);
  const dialog = await openDialog(person);
  await choose({ person }, dialog, "Start, with new input");
  expect(within(dialog).queryByRole("textbox", { name: "State" })).toBeNull();
  fireEvent.change(within(dialog).getByLabelText(/^topic/i), { target: { value: "five" } });
  await person.click(within(dialog).getByText("Run mode and limits"));
  await person.click(within(dialog).getByLabelText("Mode"));
  await person.click(await screen.findByRole("option", { name: /Step by step/ }));
  await person.click(within(dialog).getByRole("button", { name: "Fork" }));
  await waitFor(() => expect(window.location.pathname).toMatch(/runs\/run_/));
  const id = window.location.pathname.split("/").at(-1) ?? "";
  await waitFor(() => expect(troupe.runs.state(id)?.run.paused_at?.node_id).toBe("start"));
  await troupe.host.steering.command(id, { kind: "resume" }, "ann");
  expect(troupe.runs.state(await forked())?.state).toEqual({ topic: "five", m: "five!" });
});

test("edits to messages and plan tasks apply only to the fork", async () => {
  const { person, show, store, ask, troupe } = await openRun();
  for (const name of ["Writer", "Reader"]) troupe.roles.put(RoleDefinition.parse({ name }));
  const { id } = await ask.workflows.create({
    name: "Write",
    graph: draw("start > crew > end", {
      crew: writersNode({
        tasks: [
          { task_id: "write", description: "write it", assigned_agent: "ann" },
          { task_id: "read", description: "read it", assigned_agent: "bob", dependencies: ["write"] },
        ],
      }),
    }),
  });
  const { run_id } = await ask.runs.start({
    workflow_id: id,
    config: { breakpoints: [{ on: "llm_call", agent_id: "ann" }] },
  });
  await waitFor(() => expect(troupe.runs.find(run_id)?.status).toBe("paused"));
  show(run_id);
  store.flush();
  const dialog = await openDialog(person);
  await person.click(within(dialog).getByText("Agent messages"));
  const contentField = within(dialog).getByRole("textbox", { name: "Content" });
  fireEvent.change(contentField, { target: { value: "Write a poem." } });
  await person.click(within(dialog).getByText("Plan"));
  fireEvent.change(within(dialog).getByRole("textbox", { name: "Description of read" }), {
    target: { value: "read it twice" },
  });
  fireEvent.change(within(dialog).getByRole("textbox", { name: /New task/ }), {
    target: { value: "print it" },
  });
  await person.click(within(dialog).getByRole("button", { name: "Fork" }));
  await waitFor(() => expect(window.location.pathname).toMatch(/runs\/run_/));
  const fork = window.location.pathname.split("/").at(-1) ?? "";
  const agent = troupe.runs.state(run_id)?.agents["crew#1/ann/write"];
  await waitFor(() => expect(troupe.runs.state(fork)?.run.forked).toBe(1));
  const state = troupe.runs.state(fork);
  expect(state?.run.forks?.[0]?.patches).toEqual({
    messages: [{ agent: agent?.key, at: (agent?.messages.length ?? 0) - 1, content: "Write a poem." }],
    plan: [
      {
        activation_id: "crew#1",
        edit: { kind: "change", task_id: "read", patch: { description: "read it twice" } },
      },
      {
        activation_id: "crew#1",
        edit: { kind: "add", task: { description: "print it", assigned_agent: "ann" } },
      },
    ],
  });
  expect(state?.plans["crew#1"]?.tasks.map(({ description }) => description)).toEqual([
    "write it",
    "read it twice",
    "print it",
  ]);
  for (const one of [run_id, fork]) troupe.host.cancel(one, { by: "user", reason: "" });
});
