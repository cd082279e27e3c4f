import { expect, test } from "vitest";
import { handlers } from "./handlers";

// Pages are checked before they are rendered.
const { formPage: _page, ...routes } = handlers;

test.each(Object.keys(routes) as (keyof typeof routes)[])(
  "the handler %s rejects a request with a foreign host name",
  async (name) => {
    const request = new Request("http://evil.example/api/v1/runs", {
      method: "POST",
      headers: { host: "evil.example", "content-type": "application/json" },
      body: "{}",
    });
    const answer = routes[name] as (request: Request, file: unknown) => Promise<Response>;
    expect((await answer(request, { run_id: "r", path: ["f"], key: "k" })).status).toBe(421);
  },
);
