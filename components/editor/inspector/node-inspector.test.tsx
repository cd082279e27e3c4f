import { EditorView } from "@codemirror/view";
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { openEditor } from "../testing-editor";
import { NodeInspector } from "./node-inspector";

/** The settings of a node between a start that asks for a number and an end. */
function open(work: JsonObject) {
  const { store, inEditor } = openEditor(
    draw("start > work > end", {
      start: {
        config: { input_schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
        output_keys: ["n"],
      },
      work,
    }),
  );
  const page = openPage(inEditor(<NodeInspector id="work" roles={[]} />));
  page.show();
  /** Replaces the content of a code field. */
  const write = (field: HTMLElement, text: string) => {
    const view = EditorView.findFromDOM(field);
    act(() => view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }));
  };
  const config = () => store.getState().doc.graph.nodes.work?.config;
  /** The result of a run of the current graph. */
  const outcome = async () => {
    const { graph } = store.getState().doc;
    const { id } = await page.ask.workflows.create({ name: "Work", graph });
    const { run_id } = await page.ask.runs.start({ workflow_id: id, input: { n: 7 } });
    await page.troupe.host.settled(run_id);
    return page.troupe.runs.state(run_id)?.state;
  };
  return { ...page, write, config, outcome };
}

test("tool arguments are fields that report missing values and accept run values in braces", async () => {
  const { person, write, outcome } = open({
    node_type: "tool_call",
    output_keys: ["answer"],
    config: { tool_name: "" },
  });
  await person.click(await screen.findByRole("combobox", { name: "Tool" }));
  await person.click(await screen.findByRole("option", { name: /^calculator/ }));
  await screen.findByText("Required.");
  write(await screen.findByRole("textbox", { name: "expression" }), "6 * {{n}}");
  await waitFor(() => expect(screen.queryByText("Required.")).toBeNull());
  expect(JSON.stringify(await outcome())).toContain("42");
});

test("an argument unknown to the tool can be removed, and another is computed by an expression", async () => {
  const { person, write, config, outcome } = open({
    node_type: "tool_call",
    output_keys: ["answer"],
    config: { tool_name: "calculator", args: { expression: "1 + 1", old_name: 3 } },
  });
  await waitFor(() => expect(document.body.textContent).toContain("calculator has no argument old_name."));
  await person.click(screen.getByRole("button", { name: "Remove old_name" }));
  await person.click(screen.getByRole("button", { name: "Use expression for expression" }));
  const field = await screen.findByRole("textbox", { name: "expression" });
  expect(field.textContent).toBe('"1 + 1"');
  write(field, 'string(state.n) + " + 1"');
  await waitFor(() =>
    expect(config()).toMatchObject({ args: { expression: { $expr: 'string(state.n) + " + 1"' } } }),
  );
  expect(JSON.stringify(await outcome())).toContain("8");
});

test("headers and query parameters of a request are edited as rows", async () => {
  const { person, write, config } = open({
    node_type: "http_request",
    output_keys: ["response"],
    config: { url: "https://example.test" },
  });
  const query = within(await screen.findByRole("group", { name: "Query parameters" }));
  await person.click(query.getByRole("button", { name: "Add row" }));
  await person.clear(await query.findByLabelText("Name 1"));
  await person.type(query.getByLabelText("Name 1"), "topic");
  write(await query.findByRole("textbox", { name: "Value of topic" }), "tea {{n}}");
  await waitFor(() => expect(config()).toMatchObject({ query: { topic: "tea {{n}}" } }));
});

test("a secret is chosen with the key next to a header", async () => {
  const { person, config, troupe } = open({
    node_type: "http_request",
    output_keys: ["response"],
    config: { url: "https://example.test", headers: { Authorization: "" } },
  });
  troupe.secrets.create({ name: "KEY", value: "value-of-a-key", hosts: ["example.test"], workflows: null });
  await person.click(await screen.findByRole("button", { name: "Secret for Authorization" }));
  await person.click(await screen.findByRole("menuitem", { name: /KEY/ }));
  await waitFor(() =>
    expect(config()).toMatchObject({ headers: { Authorization: 'Bearer {"$secret": "KEY"}' } }),
  );
});
