import { act, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { RunViewStore } from "../live/run-view-store";
import { RunProvider } from "../run-context";
import { approvalRun } from "../run-example";
import { playsSlowly, watch } from "../start/demo-watch";
import { SkipDemo } from "./skip-demo";

beforeEach(() => localStorage.clear());

/** A demo run in progress. */
function open() {
  const store = new RunViewStore((work) => work());
  store.apply(approvalRun.slice(0, 12));
  const page = openPage(
    <RunProvider store={store}>
      <SkipDemo runId="run_1" />
    </RunProvider>,
  );
  page.troupe.demoPace.slow("run_1");
  page.show();
  return { ...page, end: () => act(() => store.apply(approvalRun.slice(12))) };
}
const skip = () => screen.queryByRole("button", { name: "Skip" });

test("Skip finishes a slowed-down demo run at once and disables the slowdown for later runs", async () => {
  watch("run_1");
  const { person, troupe } = open();
  await person.click(skip()!);
  await waitFor(() => expect(skip()).toBeNull());
  expect(troupe.demoPace.of("run_1")).toBe("at once");
  expect(playsSlowly()).toBe(false);
});

test("the next demo run is also slowed down if Skip wasn't used", async () => {
  watch("run_1");
  const { end } = open();
  expect([skip() !== null, playsSlowly()]).toEqual([true, true]);
  await end();
  expect([skip(), playsSlowly()]).toEqual([null, true]);
});

test("a demo run at normal speed has no Skip button", () => {
  watch("run_2");
  open();
  expect(skip()).toBeNull();
});
