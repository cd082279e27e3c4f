import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { ProviderDialog } from "./provider-dialog";

test("a provider form is filled in field by field, and cleared fields are not saved", async () => {
  const { person, show, ask } = openPage(
    <ProviderDialog
      saved={null}
      suggestion={{ name: "", base_url: "http://127.0.0.1:11434/v1", default_model: "" }}
      onClose={() => {}}
    />,
  );
  show();
  const form = within(await screen.findByRole("form", { name: "Model provider" }));
  await person.click(screen.getByRole("button", { name: "Add provider" }));
  expect(form.getByText("Enter a name.")).toBeTruthy();
  expect(form.getByText("Enter a model.")).toBeTruthy();

  await person.type(form.getByRole("textbox", { name: "Name" }), "Mine");
  await person.type(form.getByRole("combobox", { name: "Model" }), "small{Tab}");
  await person.click(form.getByText("Limits and prices"));
  const number = (name: string) => form.getByRole("textbox", { name });
  expect(number("Max concurrent requests").getAttribute("placeholder")).toBe("1");
  const enter = async (name: string, text: string) => {
    await person.clear(number(name));
    await person.type(number(name), `${text}{Tab}`);
  };
  await enter("Max concurrent requests", "3");
  await enter("Input price", "0.5");
  await enter("Requests per minute", "60");
  await enter("Tokens per minute", "90000");
  await enter("Context window", "32000");
  await enter("First-token timeout", "1.5");
  await enter("Idle timeout", "20");
  await enter("Response timeout", "100");
  const choose = async (field: string, option: string) => {
    await person.click(form.getByRole("combobox", { name: field }));
    await person.click(await screen.findByRole("option", { name: new RegExp(`^${option}`) }));
  };
  await choose("Tool calling", "As text");
  await choose("API", "Responses");
  expect(form.getByRole("checkbox", { name: "Self-hosted", checked: true })).toBeTruthy();
  await person.click(form.getByRole("checkbox", { name: "Self-hosted" }));
  await person.clear(number("Tokens per minute"));
  await person.tab();
  await choose("API", "Auto-detect");
  await person.click(screen.getByRole("button", { name: "Add provider" }));
  await waitFor(async () => {
    const saved = (await ask.providers.list()).providers.find(({ name }) => name === "Mine");
    expect(saved).toMatchObject({
      base_url: "http://127.0.0.1:11434/v1",
      default_model: "small",
      is_default: true,
    });
    expect(saved?.settings).toEqual({
      max_concurrency: 3,
      max_requests_per_minute: 60,
      context_window: 32_000,
      first_byte_ms: 1500,
      idle_timeout_ms: 20_000,
      timeout_ms: 100_000,
      tool_protocol: "text",
      local: false,
      prices: { "*": { input_per_mtok: 0.5, output_per_mtok: 0 } },
    });
  });
});
