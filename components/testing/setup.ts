import { cleanup, configure } from "@testing-library/react";
import { toast } from "sonner";
import { afterEach, vi } from "vitest";

configure({
  // However busy the machine is: what never comes fails by it, and what comes is never waited for longer than it takes.
  asyncUtilTimeout: 15_000,
  getElementError: (message) => Object.assign(new Error(message ?? ""), { name: "NotOnThePage" }),
});

// Files share one document: each test leaves it empty, and what the browser keeps for the page with it.
afterEach(() => {
  cleanup();
  toast.dismiss();
  localStorage.clear();
  sessionStorage.clear();
  vi.unstubAllGlobals();
});
