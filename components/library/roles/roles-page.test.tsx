import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { RolesPage } from "./roles-page";

const name = () => screen.findByLabelText<HTMLInputElement>("Name");

test("a new role is written down field by field, and its prompt follows the form", async () => {
  const { person, show, ask } = openPage(<RolesPage />, "/roles?new=1");
  show();
  await person.click(await screen.findByRole("button", { name: "Create role" }));
  await screen.findByText("A role needs a name");
  expect(document.activeElement).toBe(await name());

  await person.type(await name(), "Prompter");
  await person.click(screen.getByLabelText(/^Description/));
  await person.paste("Whispers forgotten lines.");
  await person.click(screen.getByRole("button", { name: "Add goal" }));
  await person.paste("Nobody gets stuck");
  await person.keyboard("{Enter}");
  await person.paste("The audience hears nothing");
  await person.keyboard("{Alt>}{ArrowUp}{/Alt}");
  expect(screen.getByLabelText<HTMLInputElement>("Goals, goal 1").value).toBe("The audience hears nothing");
  const prompt = await screen.findByRole("region", { name: "Prompt text" });
  await waitFor(() => {
    expect(prompt.textContent).toContain("You are Prompter. Whispers forgotten lines.");
    expect(prompt.textContent).toContain("- The audience hears nothing\n- Nobody gets stuck");
  });
  await person.click(screen.getByRole("button", { name: "Create role" }));
  await waitFor(() => expect(window.location.search).toContain("role=Prompter"));
  await within(await screen.findByRole("list", { name: "Roles" })).findByRole("link", { name: /Prompter/ });
  const { role } = await ask.roles.get({ name: "Prompter" });
  expect(role.goals).toEqual(["The audience hears nothing", "Nobody gets stuck"]);
});

test("what a role's answers may rest on is chosen, and stands in its prompt at once", async () => {
  const { person, show, troupe } = openPage(<RolesPage />, "/roles?role=Clerk");
  troupe.roles.put(RoleDefinition.parse({ name: "Clerk" }));
  show();
  const prompt = await screen.findByRole("region", { name: "Prompt text" });
  expect(prompt.textContent).toContain("you may use general knowledge; say when you do");
  await person.click(await screen.findByLabelText("Knowledge"));
  await person.click(await screen.findByRole("option", { name: "Only the material provided" }));
  await waitFor(() => expect(prompt.textContent).toContain("Use only the material provided."));
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Saved “Clerk”");
  expect(troupe.roles.find("Clerk")?.role.knowledge).toBe("material");
});

test("a role's tools are picked by a search, and a name that is not here is marked", async () => {
  const { person, show, troupe } = openPage(<RolesPage />, "/roles?role=Clerk");
  troupe.roles.put(RoleDefinition.parse({ name: "Clerk" }));
  show();
  const search = await screen.findByLabelText("Add a tool");
  await person.type(search, "calcul");
  await person.click(await screen.findByRole("button", { name: "Add calculator" }));
  await person.type(search, "hammer");
  await person.click(await screen.findByRole("button", { name: /^Add “hammer”/ }));
  const chosen = within(await screen.findByRole("list", { name: "Tools of this role" }));
  const hammer = chosen.getAllByRole("listitem").find(({ textContent }) => textContent?.includes("hammer"));
  expect(hammer?.textContent).toContain("Not here");
  await person.click(chosen.getByRole("button", { name: "Remove hammer" }));
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Saved “Clerk”");
  expect(troupe.roles.find("Clerk")?.role.tools).toEqual(["calculator"]);
});

const COURIER = `name: Courier\ndescription: Carries letters\ntools: [http_request, file_write, "mcp:post/send"]\n`;

test("roles come with the tools that were ticked, and say what they came without", async () => {
  const { person, show, troupe } = openPage(<RolesPage />, "/roles");
  const tools = () => troupe.roles.find("Courier")?.role.tools;
  show();
  const look = async () => {
    await person.click(await screen.findByRole("button", { name: "Import roles" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Import roles" }));
    await person.click(dialog.getByLabelText("Or paste its text"));
    await person.paste(COURIER);
    await person.click(dialog.getByRole("button", { name: "Show what is in it" }));
    return dialog;
  };
  const asked = async () => within(await screen.findByRole("region", { name: "What the roles want to use" }));
  let dialog = await look();
  await (await asked()).findByText(/brings in content of strangers/);
  const boxes = (await asked()).getAllByRole("checkbox");
  expect(boxes.map((box) => box.getAttribute("aria-checked"))).toEqual(["false", "false", "false"]);
  const rows = (await asked()).getAllByRole("listitem").map(({ textContent }) => textContent);
  expect(rows.find((row) => row?.includes("http_request"))).toMatch(
    /brings in content of strangers.*Asked for by Courier/,
  );
  expect(rows.find((row) => row?.includes("mcp:post/send"))).toContain("what it will do is unknown");
  await person.click((await asked()).getByRole("checkbox", { name: "file_write" }));
  await person.click(dialog.getByRole("button", { name: "Import 1 role" }));
  await screen.findByText(/Courier came without http_request, mcp:post\/send/);
  expect(tools()).toEqual(["file_write"]);
  await waitFor(() => expect(screen.queryByRole("dialog", { name: "Import roles" })).toBeNull());

  // The same file again asks for the rest.
  dialog = await look();
  await dialog.findByText("Differs from yours");
  expect(screen.queryByRole("region", { name: "What the roles want to use" })).toBeNull();
  await person.click(dialog.getByText("Replace 1 of mine"));
  await waitFor(async () => expect((await asked()).getAllByRole("checkbox")).toHaveLength(2));
  await person.click((await asked()).getByRole("button", { name: "Allow all" }));
  await (await asked()).findByRole("button", { name: "Allow none" });
  await person.click(dialog.getByRole("button", { name: "Import 1 role" }));
  await waitFor(() => expect(tools()).toEqual(["http_request", "file_write", "mcp:post/send"]));
});
