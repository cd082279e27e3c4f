import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { TokensSection } from "./tokens-section";

test("a new token has the chosen scopes, workflows and expiry, and the list shows them", async () => {
  const { person, show, troupe } = openPage(<TokensSection apiBase={undefined} />, "/settings");
  const id = troupe.workflows.create({ name: "Report", graph: draw("start > end") });
  show();
  await person.click(await screen.findByRole("button", { name: "Create token" }));
  const dialog = within(await screen.findByRole("dialog"));
  const submit = dialog.getByRole("button", { name: "Create token" });
  const box = (name: string) => dialog.getByRole("checkbox", { name });
  const checked = () =>
    ["Read", "Run", "Answer", "Author", "Admin"].filter(
      (name) => box(name).getAttribute("aria-checked") === "true",
    );
  await person.type(dialog.getByLabelText("Name"), "Nightly");
  expect(checked()).toEqual(["Read", "Run"]);
  await person.click(dialog.getByRole("button", { name: "Full access" }));
  expect(checked()).toEqual(["Read", "Run", "Answer", "Author", "Admin"]);
  await person.click(dialog.getByRole("button", { name: "Run only" }));
  await person.click(box("Answer"));

  await person.click(dialog.getByRole("switch", { name: "All workflows" }));
  expect(submit).toHaveProperty("disabled", true);
  await person.click(await dialog.findByRole("checkbox", { name: "Report" }));
  await person.click(dialog.getByLabelText("Expires"));
  await person.click(await screen.findByRole("option", { name: "On a date" }));
  expect(submit).toHaveProperty("disabled", true);
  await person.type(dialog.getByLabelText("Last day"), "2126-12-31");
  await person.click(dialog.getByRole("checkbox", { name: "Trusted input" }));
  await person.click(submit);

  await screen.findByText(/It can read, run, and answer in the chosen workflows/);
  await person.click(screen.getByRole("button", { name: "Done" }));
  await screen.findByText("Read, run, answer; 1 workflow; trusted input; expires on 31 Dec 2126");
  expect(troupe.tokens.list()).toMatchObject([
    {
      ...{ name: "Nightly", scopes: ["read", "run", "answer"], workflows: [id], is_trusted: true },
      expires_at: new Date("2126-12-31T23:59:59").getTime(),
    },
  ]);
});

test("a token that expires in the past is refused with a sentence", async () => {
  const { ask } = openPage(<TokensSection apiBase={undefined} />, "/settings");
  await expect(
    ask.access.createToken({ name: "Late", scopes: ["read"], expires_at: Date.now() - 1 }),
  ).rejects.toThrow("The expiry date has passed. Choose a later date.");
  await expect(
    ask.access.createToken({ name: "Lost", scopes: ["read"], workflows: ["none"] }),
  ).rejects.toMatchObject({ code: "NOT_FOUND" });
});
