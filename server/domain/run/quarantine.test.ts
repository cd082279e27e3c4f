import { expect, test } from "vitest";
import { heldMessage, QuarantineReason } from "./quarantine";

test("a quarantine message has the cause and the next step", () => {
  expect(heldMessage("damaged_log", "Turn 1 can't be read: it ends too early")).toBe(
    "Turn 1 can't be read: it ends too early. Restore an undamaged copy of the data folder and retry, or cancel the run.",
  );
  for (const code of QuarantineReason.shape.code.options.filter((code) => code !== "unknown_version"))
    expect(heldMessage(code, "It broke.")).toMatch(
      /^It broke\. .*(retry|resume).*or cancel (it|the run)\.$/i,
    );
  expect(heldMessage("unknown_version", "It needs version 3, or cancel it.")).toBe(
    "It needs version 3, or cancel it.",
  );
});
