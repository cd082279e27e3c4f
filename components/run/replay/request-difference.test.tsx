import { render, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RequestDifference } from "./request-difference";

const detail = {
  kind: "model",
  nearest: 0,
  changes: [
    { path: "messages[1].content", line: 3, recorded: "three", asked: "3" },
    { path: "tools[0]", recorded: "{}", asked: null },
  ],
  more: 2,
  sentence: "It asks something else.",
};

test("a failed strict replay shows both texts of each difference", () => {
  render(<RequestDifference error={{ code: "NOT_RECORDED", detail }} />);
  const region = screen.getByRole("region", { name: "Request differences" });
  expect(
    within(region)
      .getAllByRole("term")
      .map(({ textContent }) => textContent),
  ).toEqual(["messages[1].content, line 3", "tools[0]"]);
  expect(
    within(region)
      .getAllByRole("definition")
      .map(({ textContent }) => textContent),
  ).toEqual(["Recordedthree", "Current3", "Recorded{}", "Currentnothing"]);
  expect(region.textContent).toContain("and 2 more");
});

test("other errors and unrelated details show no differences", () => {
  const { container } = render(
    <>
      <RequestDifference error={{ code: "CONFIG", detail }} />
      <RequestDifference error={{ code: "NOT_RECORDED", detail: { kind: "model" } }} />
    </>,
  );
  expect(container.textContent).toBe("");
});
