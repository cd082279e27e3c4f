import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FormPage } from "@/server/domain/trigger/form-page";
import { PublicForm } from "./public-form";

const PAGE: FormPage = {
  title: "Ask us",
  description: "We write it.",
  fields: [
    { key: "topic", schema: { type: "string", maxLength: 100 }, required: true },
    { key: "count", schema: { type: "integer" }, required: false },
  ],
};

const sent: { id?: string; input?: object; pass?: string | null; password?: string }[] = [];
/** Answers the next requests, in turn; the last one again. */
function serve(...answers: ([status: number, body: object] | "nothing")[]) {
  vi.stubGlobal(
    "fetch",
    vi.fn((url: string, { body }: { body: string }) => {
      expect(url).toBe("/p/key/submit");
      sent.push(JSON.parse(body) as object);
      const answer = answers[Math.min(sent.length, answers.length) - 1]!;
      return answer === "nothing"
        ? Promise.reject(new Error("offline"))
        : Promise.resolve(Response.json(answer[1], { status: answer[0] }));
    }),
  );
}
const error = (code: string, message: string, errors?: object[]) => ({
  error: { code, message, ...(errors && { details: { errors } }) },
});

beforeEach(() => {
  sent.length = 0;
  sessionStorage.clear();
});
afterEach(() => vi.unstubAllGlobals());

const show = (page = PAGE) => {
  render(<PublicForm formKey="key" initial={page} />);
  return userEvent.setup();
};
const topic = () => screen.getByLabelText(/^Topic/);
const submit = () => screen.getByRole("button", { name: "Submit" });

test("a missing answer is shown at its field, which gets the focus, and nothing is sent", async () => {
  serve([202, { received: true }]);
  const person = show();
  screen.getByRole("heading", { name: "Ask us" });
  await person.click(submit());
  await waitFor(() => expect(document.activeElement).toBe(topic()));
  expect(topic().getAttribute("aria-invalid")).toBe("true");
  const described = document.getElementById(topic().getAttribute("aria-describedby") ?? "");
  expect(described?.textContent).toBe("Required.");
  expect(screen.getByRole("alert").textContent).toBe("Check the fields.");
  expect(sent).toEqual([]);
});

test("received answers are confirmed with the focus on the confirmation, and the next ones get a new ID", async () => {
  serve([202, { received: true }]);
  const person = show();
  await person.type(topic(), "Bees");
  await person.click(submit());
  const confirmation = await screen.findByText("Your answers were received.");
  expect(document.activeElement).toBe(confirmation);
  await person.click(screen.getByRole("button", { name: "Fill in again" }));
  await person.type(topic(), "Wasps");
  await person.click(submit());
  await screen.findByText("Your answers were received.");
  expect(sent.map(({ input }) => input)).toEqual([{ topic: "Bees" }, { topic: "Wasps" }]);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
});

test("possibly lost answers are sent again with the same ID, also after a reload", async () => {
  serve("nothing", [202, { received: true }]);
  const person = show();
  await person.type(topic(), "Bees");
  await person.click(submit());
  expect((await screen.findByText("Can't reach the server. Try again.")).getAttribute("role")).toBe("alert");
  document.body.innerHTML = "";
  show();
  await person.type(topic(), "Bees");
  await person.click(submit());
  await screen.findByText("Your answers were received.");
  expect(sent[0]?.id).toMatch(/^form_\w{20}$/);
  expect(sent[1]?.id).toBe(sent[0]?.id);
});

test("server errors appear at their fields, and limits above the button", async () => {
  serve(
    [422, error("invalid_input", "Check the fields.", [{ key: "count", message: "Too many." }])],
    [429, error("visitor_limit", "Try again later.")],
    [422, error("key_reused", "Other answers.")],
    [202, { received: true }],
  );
  const person = show();
  await person.type(topic(), "Bees");
  await person.click(submit());
  await screen.findByText("Too many.");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText(/^Count/)));
  await person.click(submit());
  const alert = await screen.findByText("Try again later.");
  await waitFor(() => expect(document.activeElement).toBe(alert));
  await person.click(submit());
  await screen.findByText(/Your earlier answers were received/);
  await person.click(submit());
  await screen.findByText("Your answers were received.");
  expect(sent[3]?.id).not.toBe(sent[2]?.id);
});

test("a form asks for its password first, and sends the pass with answers until the password changes", async () => {
  serve(
    [401, error("wrong_password", "Wrong password.")],
    [200, { pass: "the pass", page: PAGE }],
    [401, error("wrong_password", "Enter the password.")],
  );
  const person = show({ title: "Ask us" });
  const password = screen.getByLabelText("Password");
  await person.type(password, "guess{Enter}");
  await screen.findByText("Wrong password.");
  await waitFor(() => expect(document.activeElement).toBe(password));
  await person.type(password, "{Enter}");
  await person.type(await screen.findByLabelText(/^Topic/), "Bees");
  await person.click(submit());
  await screen.findByLabelText("Password");
  expect(screen.queryByText("We write it.")).toBeNull();
  expect(sent[2]).toMatchObject({ input: { topic: "Bees" }, pass: "the pass" });
});
