import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

configure({
  // However busy the machine is: what never comes fails by it, and what comes is never waited for longer than it takes.
  asyncUtilTimeout: 15_000,
  getElementError: (message) => Object.assign(new Error(message ?? ""), { name: "NotOnThePage" }),
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
