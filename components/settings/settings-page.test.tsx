import { screen, waitFor, within } from "@testing-library/react";
import { expect, onTestFinished, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { startModelServer } from "@/e2e/support/model-server";
import { freePort } from "@/e2e/support/troupe-process";
import { settingsTable } from "@/server/settings";
import { SETTINGS_SECTIONS } from "./sections";
import { SettingsPage } from "./settings-page";

const open = () => openPage(<SettingsPage settings={settingsTable()} />, "/settings");

test("each settings section in the command palette exists under its title", async () => {
  const { container } = open().show();
  await screen.findByText(/^Troupe \d+\.\d+\.\d+, Node v/);
  const found = SETTINGS_SECTIONS.map(({ id }) => container.querySelector(`#${id} h2`)?.textContent);
  expect(found).toEqual(SETTINGS_SECTIONS.map(({ title }) => title));
});

test("settings show what is running and which environment variables apply", async () => {
  open().show();
  await screen.findByText(/^Troupe \d+\.\d+\.\d+, Node v/);
  await screen.findByRole("row", { name: /^TROUPE_DATA_DIR/ });
  expect(screen.getByRole("region", { name: "Notifications" }).textContent).toContain(
    "People have 7 days to answer, with a reminder halfway, unless the question sets its own deadline. Change it with TROUPE_ANSWER_HOURS.",
  );
  const description = await screen.findByRole("link", { name: "OpenAPI description" });
  expect(description.getAttribute("href")).toBe("/api/v1/openapi.json");
});

test("the audit log is filtered and paginated, and can't be modified", async () => {
  const { person, show, ask } = open();
  for (let round = 0; round < 12; round++) {
    const { id } = await ask.access.createToken({ name: `Token ${round}`, scopes: ["read"] });
    if (round < 11) await ask.access.revokeToken({ id });
  }
  show();
  const audit = within(await screen.findByRole("region", { name: "Audit log" }));
  const entries = () => within(audit.getByRole("list", { name: "Audit log" })).getAllByRole("listitem");
  await waitFor(() => expect(entries()).toHaveLength(10));
  expect(entries()[0]!.textContent).toContain("Created the token “Token 11”");
  expect(entries()[1]!.textContent).toContain("Revoked the token “Token 10”");
  await person.click(audit.getByRole("button", { name: "Show older entries" }));
  await waitFor(() => expect(entries().length).toBeGreaterThan(10));
  expect(within(audit.getByRole("list", { name: "Audit log" })).queryByRole("button")).toBeNull();

  // What is done on this page shows at once.
  await person.click(screen.getByRole("button", { name: "Revoke Token 11" }));
  const sure = within(await screen.findByRole("alertdialog"));
  await person.click(sure.getByRole("button", { name: "Revoke token" }));
  await waitFor(() => expect(entries()[0]!.textContent).toContain("Revoked the token “Token 11”"));

  await person.click(audit.getByLabelText("Category"));
  await person.click(await screen.findByRole("option", { name: "Sign-ins and sign-outs" }));
  await audit.findByText("No matching entries.");
});

test("notifications are configured, tested and removed, and delivery failures are explained", async () => {
  const { person, show, ask, troupe } = open();
  show();
  const notices = within(await screen.findByRole("region", { name: "Notifications" }));
  await person.click(await notices.findByRole("button", { name: "Set up Webhook notifications" }));
  const dialog = within(await screen.findByRole("dialog"));
  await person.type(dialog.getByLabelText("URL"), "http://127.0.0.1:9/hook");
  await person.click(dialog.getByRole("button", { name: "Save" }));
  const secret = (await screen.findByText(/^[\w-]{43}$/)).textContent;
  expect(troupe.noticeSettings.webhook()).toEqual({ url: "http://127.0.0.1:9/hook", secret });
  await person.click(screen.getByRole("button", { name: "Done" }));
  await notices.findByText("Signed POST to 127.0.0.1:9");
  await person.click(notices.getByRole("switch", { name: "Webhook notifications" }));
  await waitFor(async () => expect((await ask.notices.get()).webhook?.is_on).toBe(false));

  await person.click(notices.getByRole("button", { name: "Set up Email notifications" }));
  const mail = within(await screen.findByRole("dialog"));
  await person.type(mail.getByLabelText("Mail server"), "127.0.0.1");
  await person.type(mail.getByLabelText("Username"), "troupe");
  await person.type(mail.getByLabelText("Password"), "open sesame");
  await person.type(mail.getByLabelText("From"), "troupe@example.org");
  await person.type(mail.getByLabelText("To"), "nobody");
  await person.click(mail.getByRole("button", { name: "Save" }));
  await mail.findByText(/Enter an email address such as/);
  await person.clear(mail.getByLabelText("To"));
  await person.type(mail.getByLabelText("To"), "ann@example.org, bo@example.org");
  await person.click(mail.getByRole("button", { name: "Save" }));
  await notices.findByText("To ann@example.org, bo@example.org via 127.0.0.1:587");
  expect(await ask.notices.get()).toMatchObject({ email: { has_password: true, security: "starttls" } });
  expect(JSON.stringify(await ask.notices.get())).not.toContain("sesame");

  await person.click(notices.getByRole("button", { name: "Test Email" }));
  await notices.findByText(/^Connecting to 127\.0\.0\.1 is not allowed: .*TROUPE_NOTICE_ALLOWED_HOSTS\.$/);

  await person.click(notices.getByRole("button", { name: "Actions for Webhook" }));
  await person.click(await screen.findByRole("menuitem", { name: "Remove" }));
  await person.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Remove" }));
  await notices.findByText("Posts notifications to a URL");
});

test("a provider can be added, tested, made the default and removed without exposing its key", async () => {
  const server = await startModelServer(
    () => "Fine.",
    () => 0,
  );
  onTestFinished(() => server.close());
  const { person, show, ask } = open();
  show();
  await person.click(await screen.findByRole("button", { name: "Add provider" }));
  const dialog = within(await screen.findByRole("dialog"));
  await person.click(await dialog.findByRole("button", { name: /^Other/ }));
  const fill = async (label: string, text: string) => {
    await person.click(await dialog.findByLabelText(label));
    await person.paste(text);
  };
  await fill("Name", "Our own server");
  await fill("URL", server.url);
  await fill("API key", "sk-not-for-anyone-1234");
  await person.click(dialog.getByRole("button", { name: "Test" }));
  await waitFor(() => expect(dialog.getByRole("status").textContent).toContain("1 model"));
  await fill("Model", "test-model");
  await person.click(dialog.getByRole("button", { name: "Add provider" }));

  const row = async () =>
    (
      await within(await screen.findByRole("list", { name: "Model providers" })).findByText("Our own server")
    ).closest("li") as HTMLElement;
  await waitFor(async () => expect((await row()).textContent).toContain("Default"));
  expect((await row()).textContent).toContain("key ends in");
  expect(JSON.stringify(await ask.providers.list())).not.toContain("sk-not-for-anyone");
  await person.click(screen.getByRole("button", { name: /^Make Offline demo/ }));
  await waitFor(async () => expect((await row()).textContent).not.toContain("Default"));
  await person.click(screen.getByRole("button", { name: "Actions for Our own server" }));
  await person.click(await screen.findByRole("menuitem", { name: "Remove" }));
  const sure = within(await screen.findByRole("alertdialog"));
  await person.click(sure.getByRole("button", { name: "Remove provider" }));
  await screen.findByText("Removed “Our own server”");
});

test("an unreachable provider shows an explanation", async () => {
  const { person, show } = open();
  show();
  await person.click(await screen.findByRole("button", { name: "Add provider" }));
  const dialog = within(await screen.findByRole("dialog"));
  await person.click(await dialog.findByRole("button", { name: /^LM Studio/ }));
  const address = await dialog.findByLabelText("URL");
  await person.clear(address);
  // A port without a server.
  await person.click(address);
  await person.paste(`http://127.0.0.1:${await freePort()}/v1`);
  await person.click(dialog.getByRole("button", { name: "Test" }));
  await waitFor(() => expect(dialog.getByRole("status").textContent).toContain("Can't connect to 127.0.0.1"));
});
