import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { findProblems } from "@/server/domain/problems/problems";
import { draw } from "@/server/domain/testing/drawing";
import { ProblemActions } from "./problem-actions";
import { openEditor } from "./testing-editor";

test("a key in a header is moved to a secret for the host of its node", async () => {
  const key = "a1B2c3D4e5F6g7H8";
  const headers = { "x-api-key": key };
  const node = {
    node_type: "http_request",
    output_keys: ["r"],
    config: { url: "https://api.example.com/", headers },
  };
  const editor = openEditor(draw("start > ask > end", { ask: node }));
  const problem = findProblems(editor.store.getState().doc.graph, []).find(
    ({ code }) => code === "W_LOOKS_LIKE_A_SECRET",
  );
  const { person, show, troupe } = openPage(
    editor.inEditor(<ProblemActions problem={{ ...problem!, isToDo: false }} />),
    "/workflows/wf",
  );
  show();
  await person.click(screen.getByRole("button", { name: "Move to a secret" }));
  const dialog = within(await screen.findByRole("dialog"));
  expect(dialog.getByLabelText<HTMLInputElement>("Name").value).toBe("X_API_KEY");
  expect(dialog.getByLabelText<HTMLInputElement>("Hosts").value).toBe("api.example.com");
  await person.click(dialog.getByRole("button", { name: "Add secret" }));
  await waitFor(() =>
    expect(editor.store.getState().doc.graph.nodes.ask?.config).toMatchObject({
      headers: { "x-api-key": '{"$secret": "X_API_KEY"}' },
    }),
  );
  expect(troupe.secrets.valueOf("X_API_KEY")).toBe(key);
  expect(troupe.secrets.find("X_API_KEY")?.hosts).toEqual(["api.example.com"]);
});
