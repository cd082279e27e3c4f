import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EditorView } from "@codemirror/view";
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, onTestFinished, test } from "vitest";
import { goTo } from "@/components/testing/navigation";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { ToolsPage } from "./tools-page";

test("tools can be found, read about and called", async () => {
  const { person, show } = openPage(<ToolsPage />, "/tools");
  show();
  await person.type(await screen.findByRole("searchbox", { name: "Search tools" }), "arithmetic");
  await person.click(await screen.findByRole("link", { name: /^calculator/ }));
  const tool = within(await screen.findByRole("article", { name: "calculator" }));
  await tool.findByText("Read-only");
  expect((await tool.findByRole("row", { name: /^expression/ })).textContent).toContain("Text");

  const callIt = async () => person.click(tool.getByRole("button", { name: "Run tool" }));
  await callIt();
  await tool.findByText("Required.");
  const field = tool.getByLabelText(/^expression/);
  await person.type(field, "6 * 7");
  await callIt();
  const result = await tool.findByRole("region", { name: "Result" });
  await waitFor(() => expect(result.textContent).toMatch(/Done.*42/s));

  await person.clear(field);
  await person.type(field, "six times seven");
  await callIt();
  await waitFor(() => within(screen.getByRole("region", { name: "Result" })).getByRole("alert"));
});

test("an unavailable tool shows why, and crew tools show how they are granted", async () => {
  const { person, show } = openPage(<ToolsPage />, "/tools?tool=run_javascript");
  show();
  await screen.findByText(/TROUPE_ENABLE_CODE/);
  expect(screen.queryByRole("button", { name: "Run tool" })).toBeNull();
  await person.click(screen.getByRole("link", { name: /^handoff/ }));
  const tool = await screen.findByRole("article", { name: "handoff" });
  expect(tool.textContent).toContain(
    "Available to agents in swarm crews, even if their role doesn't list it.",
  );
});

test("an unreachable MCP server shows an error and can be removed", async () => {
  const { person, show } = openPage(<ToolsPage />, "/tools?new-server=1");
  show();
  const form = within(await screen.findByRole("form", { name: "New MCP server" }));
  await person.type(form.getByLabelText(/^Name/), "notes");
  const address = form.getByLabelText(/^URL/);
  // A phone shows the keys of an address for it.
  expect(address.getAttribute("inputmode")).toBe("url");
  await person.type(address, "nowhere");
  await person.click(form.getByRole("button", { name: "Add and connect" }));
  await form.findByText("Enter a URL that starts with https:// or http://");
  await person.clear(address);
  // A port that is kept for something else: no request goes there.
  await person.type(address, "http://127.0.0.1:9/mcp");
  await person.click(form.getByRole("button", { name: "Add and connect" }));
  const server = within(await screen.findByRole("article", { name: "notes" }));
  await server.findByText("Not connected");
  await server.findByText(/^Its port belongs to another kind of service.* Check the port in the URL\.$/);
  await person.click(server.getByRole("button", { name: "Actions for notes" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Remove/ }));
  await person.click(await screen.findByRole("button", { name: "Remove server" }));
  await waitFor(() => expect(screen.queryByRole("link", { name: /^notes/ })).toBeNull());
});

test("a custom tool can be created, edited, reverted, deleted and restored while code is disabled", async () => {
  const { person, show } = openPage(<ToolsPage />, "/tools");
  show();
  await person.click(await screen.findByRole("button", { name: "New" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Custom tool/ }));
  await screen.findByText("Code is disabled.");
  const description = () => screen.getByLabelText<HTMLInputElement>("Description");
  await person.type(await screen.findByLabelText("Name"), "count_words");
  await person.type(description(), "Counts words");
  await person.click(screen.getByRole("button", { name: "Create tool" }));
  await screen.findByText("Version 1");

  await person.type(description(), " in any language");
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Version 2");
  await person.click(screen.getByRole("button", { name: "Restore version 1" }));
  await waitFor(() => expect(description().value).toBe("Counts words"));

  const link = () => screen.queryByRole("link", { name: /^count_words/ });
  await person.click(screen.getByRole("button", { name: "Remove count_words" }));
  await waitFor(() => expect(link()).toBeNull());
  await person.click(await screen.findByRole("link", { name: /^Trash \d/ }));
  await person.click(await screen.findByRole("button", { name: "Restore count_words" }));
  await waitFor(() => expect(link()).not.toBeNull());
});

/** A configured model service, so that neither the demo model nor its simulated search is used. */
const REAL = { OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_MODEL: "none" };

test("web search reports a missing search service and works after it is configured", async () => {
  const asked: string[] = [];
  const search = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    const results = [{ title: "On tea", url: "https://tea.example/", content: "Boil water." }];
    response.end(JSON.stringify({ results }));
  });
  await new Promise<void>((resolve) => search.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void search.close().closeAllConnections());
  const { port } = search.address() as AddressInfo;

  const { person, show, ask, troupe } = openPage(<ToolsPage />, "/tools?tool=web_search", REAL);
  const graph = draw("start > call > end", {
    call: {
      node_type: "tool_call",
      config: { tool_name: "web_search", args: { query: "tea" } },
      output_keys: ["found"],
    },
  });
  const { id } = await ask.workflows.create({ name: "Searches", graph });
  const { run_id } = await ask.runs.start({ workflow_id: id });
  await troupe.host.settled(run_id);
  expect(JSON.stringify(troupe.runs.state(run_id)?.run)).toContain("not configured");
  show();
  await screen.findByText(/not configured/);
  expect(screen.queryByRole("button", { name: "Run tool" })).toBeNull();

  act(() => goTo("/tools?services=1"));
  const form = within(await screen.findByRole("form", { name: "Web search" }));
  form.getByText(/No search service is connected/);
  await person.click(form.getByLabelText("Service"));
  await person.click(await screen.findByRole("option", { name: /^SearXNG/ }));
  const enter = async (address: string) => {
    await person.clear(await form.findByLabelText("URL"));
    await person.type(form.getByLabelText("URL"), address);
    await person.click(form.getByRole("button", { name: "Save" }));
  };
  await enter("nowhere");
  await waitFor(() => expect(form.getByRole("alert").textContent).toContain("https:// or http://"));
  await enter(`http://127.0.0.1:${port}`);
  await screen.findByRole("button", { name: "Remove" });

  act(() => goTo("/tools?tool=web_search"));
  await person.type(await screen.findByLabelText(/^query/), "green tea");
  await person.click(screen.getByRole("button", { name: "Run tool" }));
  const result = await screen.findByRole("region", { name: "Result" });
  await waitFor(() => expect(result.textContent).toContain("Boil water."));
  expect(asked).toEqual([expect.stringContaining("q=green+tea")]);
});

test("a JavaScript tool can be written, tried, used in a run, edited and reverted", async () => {
  const { person, show, ask, troupe } = openPage(<ToolsPage />, "/tools?new=1", { TROUPE_ENABLE_CODE: "1" });
  show();
  await person.type(await screen.findByLabelText("Name"), "count_words");
  await person.type(screen.getByLabelText("Description"), "Counts the words of a text");
  const write = (text: string) => {
    const view = EditorView.findFromDOM(screen.getByRole("textbox", { name: "Code" }));
    act(() => view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }));
  };
  await screen.findByRole("textbox", { name: "Code" });
  await person.type(screen.getByLabelText("text"), "one two three");
  const tried = async (expected: RegExp) => {
    await person.click(screen.getByRole("button", { name: "Run code" }));
    await waitFor(() => expect(screen.getByRole("region", { name: "Result" }).textContent).toMatch(expected));
  };
  await tried(/words.*3/);
  write("return input.nothing.length;");
  await tried(/failed/i);
  write("for (;;) {}");
  await tried(/Timed out/);
  within(screen.getByRole("region", { name: "Result" })).getByRole("alert");
  write("return { words: input.text.split(' ').length, by: 'blanks' };");
  await tried(/blanks/);
  await person.click(screen.getByRole("button", { name: "Create tool" }));
  await screen.findByText("Version 1");

  const graph = draw("start > call > end", {
    call: {
      node_type: "tool_call",
      config: { tool_name: "count_words", args: { text: "a b c d" } },
      output_keys: ["found"],
    },
  });
  const { id } = await ask.workflows.create({ name: "Counts", graph });
  const found = async () => {
    const { run_id } = await ask.runs.start({ workflow_id: id });
    await troupe.host.settled(run_id);
    return troupe.runs.state(run_id)?.state.found;
  };
  expect(await found()).toEqual({ words: 4, by: "blanks" });
  write("return { letters: input.text.length };");
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Version 2");
  expect(await found()).toEqual({ letters: 7 });
  await person.click(screen.getByRole("button", { name: "Restore version 1" }));
  await screen.findByText("Version 3");
  expect(await found()).toEqual({ words: 4, by: "blanks" });
  const { entries } = await ask.audit.list({ area: "tools" });
  expect(entries.map(({ kind }) => kind)).toEqual([
    "custom_tool_restored",
    "custom_tool_saved",
    "custom_tool_saved",
    "tool_tried_out",
    "tool_tried_out",
    "tool_tried_out",
    "tool_tried_out",
  ]);
});
