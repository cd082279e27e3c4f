import { cleanup, configure } from "@testing-library/react";
import type * as openAi from "openai";
import { toast } from "sonner";
import { afterEach, vi } from "vitest";

// In these tests the server runs in the process that has the document, and the OpenAI client refuses to start in a browser.
vi.mock("openai", async (load) => {
  const openai = await load<typeof openAi>();
  class OpenAI extends openai.OpenAI {
    constructor(options: ConstructorParameters<typeof openai.OpenAI>[0]) {
      super({ ...options, dangerouslyAllowBrowser: true });
    }
  }
  return { ...openai, OpenAI };
});

// A page sends its requests in batches a moment later: those of a test that has ended must not leave the process.
const NO_SERVER = () => Promise.reject(new Error("This test has no server. Open its page with openPage."));
globalThis.fetch = NO_SERVER;

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
