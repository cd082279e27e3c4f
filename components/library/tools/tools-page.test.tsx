import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { ToolsPage } from "./tools-page";

test("tools are found, read about and tried out for real", async () => {
  const { person, show } = openPage(<ToolsPage />, "/tools");
  show();
  await person.type(await screen.findByRole("searchbox", { name: "Search tools" }), "arithmetic");
  await person.click(await screen.findByRole("link", { name: /^calculator/ }));
  const tool = within(await screen.findByRole("article", { name: "calculator" }));
  await tool.findByText("Reads only");
  expect((await tool.findByRole("row", { name: /^expression/ })).textContent).toContain("Text");

  const callIt = async () => person.click(tool.getByRole("button", { name: "Call it" }));
  await callIt();
  await tool.findByText("Please fill this in.");
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

test("what cannot be called says why, and crew tools say how they are granted", async () => {
  const { person, show } = openPage(<ToolsPage />, "/tools?tool=run_javascript");
  show();
  await screen.findByText(/TROUPE_ENABLE_CODE/);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Call it" }).disabled).toBe(true);
  await person.click(screen.getByRole("link", { name: /^handoff/ }));
  const tool = await screen.findByRole("article", { name: "handoff" });
  expect(tool.textContent).toContain("The way a crew works brings it along");
});

test("an MCP server that cannot be reached says so, and can be removed", async () => {
  const { person, show } = openPage(<ToolsPage />, "/tools?new-server=1");
  show();
  const form = within(await screen.findByRole("form", { name: "New MCP server" }));
  await person.type(form.getByLabelText(/^Name/), "notes");
  const address = form.getByLabelText(/^Address/);
  // A phone shows the keys of an address for it.
  expect(address.getAttribute("inputmode")).toBe("url");
  await person.type(address, "nowhere");
  await person.click(form.getByRole("button", { name: "Add and connect" }));
  await form.findByText("Enter an address that begins with https:// or http://");
  await person.clear(address);
  // A port that is kept for something else: no request goes there.
  await person.type(address, "http://127.0.0.1:9/mcp");
  await person.click(form.getByRole("button", { name: "Add and connect" }));
  const server = within(await screen.findByRole("article", { name: "notes" }));
  await server.findByText("Not connected");
  await server.findByText(/^Its port belongs to another kind of service.* Check the port in the address\.$/);
  await person.click(server.getByRole("button", { name: "Actions for notes" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Remove/ }));
  await person.click(await screen.findByRole("button", { name: "Remove server" }));
  await waitFor(() => expect(screen.queryByRole("link", { name: /^notes/ })).toBeNull());
});

test("a tool of one's own is written, changed, brought back as it was, removed and restored; where code is off, that is said", async () => {
  const { person, show } = openPage(<ToolsPage />, "/tools");
  show();
  await person.click(await screen.findByRole("button", { name: "New" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Tool of your own/ }));
  await screen.findByText("Code is switched off here.");
  const description = () => screen.getByLabelText<HTMLInputElement>("Description");
  await person.type(await screen.findByLabelText("Name"), "count_words");
  await person.type(description(), "Counts words");
  await person.click(screen.getByRole("button", { name: "Create tool" }));
  await screen.findByText("Version 1");

  await person.type(description(), " in any language");
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Version 2");
  await person.click(screen.getByRole("button", { name: "Use version 1 again" }));
  await waitFor(() => expect(description().value).toBe("Counts words"));

  const link = () => screen.queryByRole("link", { name: /^count_words/ });
  await person.click(screen.getByRole("button", { name: "Remove count_words" }));
  await waitFor(() => expect(link()).toBeNull());
  await person.click(await screen.findByRole("link", { name: /^Bin \d/ }));
  await person.click(await screen.findByRole("button", { name: "Restore count_words" }));
  await waitFor(() => expect(link()).not.toBeNull());
});
