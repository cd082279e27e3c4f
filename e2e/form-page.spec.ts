import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "@playwright/test";
import { App, api, expect, overflow, test } from "./support/app";

// A visitor: a browser of its own, without a session, on a phone.
test.use({ viewport: { width: 390, height: 844 } });

const place = (column: number) => ({ ui: { x: column * 280, y: 0 } });
const asks = {
  graph_id: "asks",
  start_node_id: "start",
  nodes: {
    start: {
      id: "start",
      node_type: "start",
      name: "Start",
      config: {
        input_schema: {
          type: "object",
          properties: {
            topic: { type: "string", title: "Topic", maxLength: 100 },
            count: { type: "integer", title: "Pages", minimum: 1 },
          },
          required: ["topic"],
        },
      },
      output_keys: ["topic", "count"],
      ...place(0),
    },
    end: { id: "end", node_type: "end", name: "End", input_keys: ["topic"], ...place(1) },
  },
  edges: [{ id: "a", source_node_id: "start", target_node_id: "end" }],
};

interface Trigger {
  id: string;
  workflow_id: string;
  url: string;
}

/** The form of a published workflow. */
async function newForm(config: object = {}, password?: string): Promise<Trigger> {
  const { id } = await api<{ id: string }>("POST", "/workflows", asks);
  await api("POST", `/workflows/${id}/versions`, {});
  const form = { kind: "form", config: { title: "Ask us", ...config }, ...(password && { password }) };
  return api<Trigger>("POST", `/workflows/${id}/triggers`, form);
}

const firesOf = async ({ id }: Trigger) =>
  (await api<{ fires: { status: string }[] }>("GET", `/triggers/${id}/fires`)).fires;

async function asVisitor(browser: Browser, url: string, use: (page: Page) => Promise<void>, dark = false) {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    colorScheme: dark ? "dark" : "light",
  });
  const page = await context.newPage();
  const visitor = new App(page);
  await page.goto(url);
  await use(page);
  expect(visitor.errors).toEqual([]);
  expect(
    (await context.cookies()).map(({ name }) => name).filter((name) => !/^troupe_(visitor|form)$/.test(name)),
  ).toEqual([]);
  await context.close();
}

for (const dark of [false, true])
  test(`a visitor fills in a form on a phone, in ${dark ? "dark" : "light"} mode, without an account`, async ({
    server: _server,
    browser,
  }) => {
    const form = await newForm({ description: "We write a report." });
    await asVisitor(
      browser,
      form.url,
      async (page) => {
        await expect(page).toHaveTitle("Ask us");
        await expect(page.locator("meta[name=robots]")).toHaveAttribute("content", /noindex/);
        await expect(page.getByRole("navigation")).toHaveCount(0);
        await expect(page.getByRole("link")).toHaveCount(0);
        expect(await overflow(page)).toBeLessThanOrEqual(0);
        expect(await new App(page).accessibilityViolations()).toEqual([]);

        await page.getByRole("button", { name: "Submit" }).click();
        await expect(page.getByLabel("Topic")).toBeFocused();
        await expect(page.getByLabel("Topic")).toHaveAccessibleDescription("Required.");
        expect(await new App(page).accessibilityViolations()).toEqual([]);

        await page.getByLabel("Topic").fill("Bees");
        await page.getByRole("button", { name: "Submit" }).dblclick();
        await expect(page.getByText("Your answers were received.")).toBeFocused();
        expect(await new App(page).accessibilityViolations()).toEqual([]);
      },
      dark,
    );
    expect(await firesOf(form)).toMatchObject([{ status: "started" }]);
  });

test("a password is asked for once, also after a reload", async ({ server: _server, browser }) => {
  const form = await newForm({}, "open sesame");
  await asVisitor(browser, form.url, async (page) => {
    await expect(page.getByLabel("Topic")).toHaveCount(0);
    await page.getByLabel("Password").fill("guess");
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "Wrong password." })).toBeVisible();
    await page.getByLabel("Password").fill("open sesame");
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByLabel("Topic")).toBeVisible();
    await page.reload();
    await expect(page.getByLabel("Topic")).toBeVisible();
  });
});

test("an unknown and a disabled form answer the same page, which says nothing more", async ({
  server: _server,
  browser,
}) => {
  const form = await newForm();
  await api("PUT", `/triggers/${form.id}`, { enabled: false });
  const context = await browser.newContext();
  const page = await context.newPage();
  for (const url of [form.url, form.url.replace(/[^/]+$/, "unknown")]) {
    expect((await page.goto(url))?.status()).toBe(404);
    await expect(page.locator("body")).toHaveText("Page not found");
    expect(await context.cookies()).toEqual([]);
  }
  await context.close();
});

/** A site of another origin that embeds a page. */
async function embedding(url: string, use: (home: string) => Promise<void>): Promise<void> {
  const site = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(
      `<!doctype html><title>Site</title><iframe title="Form" src="${url}" width="380" height="700"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://localhost:${(site.address() as AddressInfo).port}`);
  } finally {
    site.closeAllConnections();
    site.close();
  }
}

test("a form works in a frame of a site of its list, and is not shown on another", async ({
  server: _server,
  browser,
}) => {
  const form = await newForm();
  await embedding(form.url, async (home) => {
    const page = await (await browser.newContext()).newPage();
    const frame = page.frameLocator("iframe");
    await page.goto(home);
    await expect(frame.getByLabel("Topic")).toHaveCount(0);
    await api("PUT", `/triggers/${form.id}`, {
      config: { title: "Ask us", frame_ancestors: ["https://example.org"] },
    });
    await page.goto(home);
    await expect(frame.getByLabel("Topic")).toHaveCount(0);

    await api("PUT", `/triggers/${form.id}`, { config: { title: "Ask us", frame_ancestors: [home] } });
    await page.goto(home);
    await frame.getByLabel("Topic").fill("Bees");
    await frame.getByRole("button", { name: "Submit" }).click();
    await expect(frame.getByText("Your answers were received.")).toBeVisible();
    await page.context().close();
  });
  expect(await firesOf(form)).toHaveLength(1);
});

test("only the page of the form may be embedded, and it loads nothing of the editor", async ({
  server,
  browser,
}) => {
  const form = await newForm({ frame_ancestors: ["https://example.org"] });
  const policy = async (url: string) => {
    const { headers } = await fetch(url, { headers: { accept: "text/html" }, redirect: "manual" });
    return [
      /frame-ancestors ([^;]*)/.exec(headers.get("content-security-policy") ?? "")?.[1],
      headers.get("x-frame-options"),
    ];
  };
  expect(await policy(form.url)).toEqual(["https://example.org", null]);
  expect(await policy(`${server.home}/`)).toEqual(["'none'", "DENY"]);
  expect(await policy(form.url.replace(/[^/]+$/, "unknown"))).toEqual(["'none'", "DENY"]);

  const page = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(form.url, { waitUntil: "networkidle" });
  expect(asked.filter((path) => path.startsWith("/api/"))).toEqual([]);
  const scripts = await page.evaluate(
    async (paths) => {
      const texts = await Promise.all(paths.map(async (path) => (await fetch(path)).text()));
      return texts.join("\n");
    },
    asked.filter((path) => path.endsWith(".js")),
  );
  expect(scripts).not.toContain("react-flow");
  await page.context().close();
});
