import { act, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { useAllCommands } from "@/components/page/page-commands";
import { edits } from "./editing/edits";
import { openEditor } from "./testing-editor";
import { useOffers } from "./use-offers";

test("the command palette finds each node by its current name and navigates to it", () => {
  const { store, commands, show } = openEditor();
  function Palette() {
    useOffers(
      commands,
      () => undefined,
      () => undefined,
    );
    return useAllCommands().drawing?.map(({ id, label, run }) => (
      <button type="button" key={id} onClick={run}>
        {label}
      </button>
    ));
  }
  show(<Palette />);
  const names = () => screen.getAllByRole("button").map(({ textContent }) => textContent);
  expect(names()).toEqual(["Start", "Ask", "Route", "Done"]);
  act(() => store.getState().edit(edits.setNode, { id: "ask", patch: { name: 'Ask "again"\nlater' } }));
  act(() => store.getState().edit(edits.setNode, { id: "done", patch: { name: "" } }));
  expect(names()).toEqual(["Start", 'Ask "again"\nlater', "Route", "end"]);
  act(() => screen.getByRole("button", { name: "Route" }).click());
  expect([...store.getState().selection.nodes]).toEqual(["route"]);
});
