import { expect, test } from "./app";

// What every answer of the server carries, whatever kind of answer it is, and what its door does not let in.

test("no answer can be framed, guessed at or stored away from here; what is not asked for in this server's name is not answered", async ({
  app,
  page,
  baseURL,
}) => {
  await app.open("/");
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  const answers = {
    "a page": "/settings",
    "a page that is not there": "/nowhere",
    "the app's own API": "/api/trpc/access.info",
    "a question that does not exist": "/api/trpc/nothing.here",
    "the HTTP API without a token": "/api/v1/workflows",
    "its description": "/api/v1/openapi.json",
    "a file that is not there": "/api/runs/run_none/files/a.txt",
  };
  for (const [what, where] of Object.entries(answers)) {
    const { headers, status } = await page.request
      .get(where)
      .then((answer) => ({ headers: answer.headers(), status: answer.status() }));
    const about = `${what}, ${status}`;
    expect(headers["content-security-policy"], about).toContain("frame-ancestors 'none'");
    expect(headers["x-content-type-options"], about).toBe("nosniff");
    expect(headers["x-powered-by"], about).toBeUndefined();
    expect(headers["access-control-allow-origin"], about).toBeUndefined();
    const foreign = await page.request.get(where, { headers: { host: "evil.example:3222" } });
    expect(foreign.status(), about).toBe(421);
  }
  const policy = (await page.request.get("/settings")).headers()["content-security-policy"] ?? "";
  for (const rule of [
    "script-src 'nonce-",
    "'strict-dynamic'",
    "img-src 'self' data: blob:",
    "object-src 'none'",
  ])
    expect(policy).toContain(rule);
  expect(policy).not.toContain("unsafe-eval");

  // A hundred questions in one request are none.
  const many = Array.from({ length: 11 }, () => "access.info").join(",");
  const batch = await page.request.get(`${baseURL}/api/trpc/${many}?batch=1&input=%7B%7D`);
  expect(batch.status()).toBe(400);
  const few = await page.request.get(`${baseURL}/api/trpc/access.info,access.info?batch=1&input=%7B%7D`);
  expect(few.status()).toBe(200);
});
