import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { settingsTable } from "@/server/settings";
import { SettingsPage } from "./settings-page";

const open = () => openPage(<SettingsPage settings={settingsTable()} />, "/settings");

test("the settings say what runs here and what the environment may set", async () => {
  open().show();
  await screen.findByText(/^Troupe \d+\.\d+\.\d+, Node v/);
  await screen.findByRole("row", { name: /^TROUPE_DATA_DIR/ });
  const description = await screen.findByRole("link", { name: "OpenAPI description" });
  expect(description.getAttribute("href")).toBe("/api/v1/openapi.json");
});

test("the settings tell who did what, by kind and page by page, and nothing of it can be changed there", async () => {
  const { person, show, ask } = open();
  for (let round = 0; round < 12; round++) {
    const { id } = await ask.access.createToken({ name: `Token ${round}` });
    if (round < 11) await ask.access.revokeToken({ id });
  }
  show();
  const audit = within(await screen.findByRole("region", { name: "Audit" }));
  const entries = () => within(audit.getByRole("list", { name: "Audit" })).getAllByRole("listitem");
  await waitFor(() => expect(entries()).toHaveLength(10));
  expect(entries()[0]!.textContent).toContain("Created the token “Token 11”");
  expect(entries()[1]!.textContent).toContain("Revoked the token “Token 10”");
  await person.click(audit.getByRole("button", { name: "Show earlier" }));
  await waitFor(() => expect(entries().length).toBeGreaterThan(10));
  expect(within(audit.getByRole("list", { name: "Audit" })).queryByRole("button")).toBeNull();

  // What is done on this page shows at once.
  await person.click(screen.getByRole("button", { name: "Revoke Token 11" }));
  const sure = within(await screen.findByRole("alertdialog"));
  await person.click(sure.getByRole("button", { name: "Revoke token" }));
  await waitFor(() => expect(entries()[0]!.textContent).toContain("Revoked the token “Token 11”"));

  await person.click(audit.getByLabelText("What it is about"));
  await person.click(await screen.findByRole("option", { name: "Signing in and out" }));
  await audit.findByText("Nothing of this kind happened yet.");
});
