import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { countLayoutShiftClicks } from "./layout-shift-click";

let stop = () => undefined as void;
beforeEach(() => {
  stop = countLayoutShiftClicks();
});
afterEach(() => stop());

/** A field that shows a message on blur, which pushes the button below it down by 90 pixels. */
function Form({ onAdd }: { onAdd: () => void }) {
  const [isWrong, setWrong] = useState(false);
  return (
    <>
      <input aria-label="Key" onBlur={() => setWrong(true)} />
      {isWrong ? <p>Nothing writes this key.</p> : null}
      <button
        type="button"
        onClick={onAdd}
        ref={(button) => {
          if (button) button.getBoundingClientRect = () => new DOMRect(0, isWrong ? 90 : 0, 80, 30);
        }}
      >
        Add
      </button>
    </>
  );
}

async function press(release: { target: () => Element; coords?: { x: number; y: number } }) {
  const onAdd = vi.fn();
  const person = userEvent.setup();
  render(<Form onAdd={onAdd} />);
  await person.click(screen.getByLabelText("Key"));
  const button = screen.getByRole("button", { name: "Add" });
  await person.pointer({ keys: "[MouseLeft>]", target: button, coords: { x: 10, y: 10 } });
  await screen.findByText("Nothing writes this key.");
  await person.pointer({
    keys: "[/MouseLeft]",
    target: release.target(),
    coords: release.coords ?? { x: 10, y: 10 },
  });
  return { onAdd, button, person };
}

test("a click counts even if a layout shift moves the button between press and release", async () => {
  const { onAdd } = await press({ target: () => screen.getByText("Nothing writes this key.") });
  await waitFor(() => expect(onAdd).toHaveBeenCalledTimes(1));
});

test("a press that is dragged off the button doesn't count", async () => {
  const { onAdd, button, person } = await press({
    target: () => screen.getByLabelText("Key"),
    coords: { x: 200, y: 10 },
  });
  expect(onAdd).not.toHaveBeenCalled();
  await person.click(button);
  expect(onAdd).toHaveBeenCalledTimes(1);
});

test("a click that the browser reports is counted once", async () => {
  const { onAdd } = await press({ target: () => screen.getByRole("button", { name: "Add" }) });
  await waitFor(() => expect(onAdd).toHaveBeenCalledTimes(1));
});

test("a menu item that moves with its page counts as clicked", async () => {
  const onChoose = vi.fn();
  const person = userEvent.setup();
  let top = 0;
  const place = (entry: HTMLElement | null) => {
    if (entry) entry.getBoundingClientRect = () => new DOMRect(0, top, 80, 30);
  };
  render(
    <>
      <p>Last runs</p>
      <div role="menu">
        <div role="menuitem" tabIndex={-1} onClick={onChoose} onKeyDown={() => undefined} ref={place}>
          Delete
        </div>
      </div>
    </>,
  );
  const coords = { x: 10, y: 10 };
  await person.pointer({ keys: "[MouseLeft>]", target: screen.getByRole("menuitem"), coords });
  top = 90;
  await person.pointer({ keys: "[/MouseLeft]", target: screen.getByText("Last runs"), coords });
  await waitFor(() => expect(onChoose).toHaveBeenCalledTimes(1));
});
