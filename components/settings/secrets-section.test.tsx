import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { SecretsSection } from "./secrets-section";

test("a secret is added, changed and deleted, and its uses are named before deletion", async () => {
  const { person, show, ask, troupe } = openPage(<SecretsSection />, "/settings");
  const headers = { authorization: 'Bearer {"$secret": "KEY"}' };
  const config = { url: "https://api.example.com/", headers };
  const ask_node = { node_type: "http_request", output_keys: ["r"], config };
  troupe.workflows.create({ name: "Report", graph: draw("start > ask > end", { ask: ask_node }) });
  show();
  await screen.findByText("No secrets yet.");
  await person.click(screen.getByRole("button", { name: "Add secret" }));
  let dialog = within(await screen.findByRole("dialog"));
  await person.type(dialog.getByLabelText("Name"), "KEY");
  await person.type(dialog.getByLabelText("Value"), "value-of-a-key-0123");
  await person.click(dialog.getByRole("button", { name: "Add secret" }));
  await dialog.findByText("Enter at least one host");
  await person.type(dialog.getByLabelText("Hosts"), "api.example.com");
  await person.click(dialog.getByRole("button", { name: "Add secret" }));
  await screen.findByText("…0123, for api.example.com");

  await person.click(screen.getByRole("button", { name: "Edit KEY" }));
  dialog = within(await screen.findByRole("dialog"));
  await person.type(dialog.getByLabelText("Hosts"), ", b.example.com");
  await person.click(dialog.getByRole("button", { name: "Save" }));
  await dialog.findByText(/Enter the value again to add a host/);
  await person.type(dialog.getByLabelText("Value"), "value-of-a-key-4567");
  await person.click(dialog.getByRole("button", { name: "Save" }));
  await screen.findByText("…4567, for api.example.com, b.example.com");

  await person.click(screen.getByRole("button", { name: "Delete KEY" }));
  const sure = within(await screen.findByRole("alertdialog"));
  expect(sure.getByText(/Requests in “Report” will fail/)).toBeTruthy();
  await person.click(sure.getByRole("button", { name: "Delete secret" }));
  await screen.findByText("No secrets yet.");
  await waitFor(async () => expect(await ask.secrets.list()).toEqual([]));
});
