import { request } from "node:http";
import { expect, test } from "./support/app";

// What every answer of the server carries, whatever kind of answer it is, and what its door does not let in.

test("responses forbid framing and content sniffing, and requests for other hosts are rejected", async ({
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
  for (const where of ["/", "/theme.js", "/icon.svg", "/_next/static/nothing.js"])
    for (const name of ["x-middleware-prefetch", "rsc", "x-middleware-subrequest"]) {
      const headers = { host: "evil.example:3222", [name]: "1" };
      expect((await page.request.get(where, { headers })).status(), `${where}, ${name}`).toBe(421);
    }
  for (const name of ["con", "nul.txt", "..%2f..%2fetc", "..%5ca", "a%3Ab"])
    expect((await page.request.get(`/api/runs/run_none/files/${name}`)).status(), name).toBe(404);
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

test("the server's terminal never shows raw untrusted input", async ({ server }) => {
  const { port } = server;
  const ask = (where: string, method = "GET", host = `127.0.0.1:${port}`) =>
    new Promise<number>((resolve, reject) => {
      const asked = request(
        { port, host: "127.0.0.1", method, path: where, headers: { host } },
        (response) => {
          response.resume().once("end", () => resolve(response.statusCode ?? 0));
        },
      );
      asked.once("error", reject).end();
    });
  const raw = "FORGED%0AFORGED%1b%5B2J%C2%9B1m";
  for (const host of [undefined, "evil.example"]) {
    const status = async (where: string, method = "GET") => ask(where, method, host);
    expect(await status(`/_next/image?url=%2F${raw}&w=640&q=75`)).toBe(host ? 421 : 404);
    expect(await status("/", "TRACE")).toBe(host ? 421 : 405);
    for (const where of [`/${raw}`, `/%5fnext/image?url=%2F${raw}&w=640&q=75`, `/login?next=${raw}`, "/%zz"])
      expect(await status(where), where).toBeLessThan(500);
  }
  expect(server.printed).not.toMatch(/FORGED|[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});
