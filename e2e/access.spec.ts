import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "./app";
import { freePort, TroupeProcess } from "./troupe-process";

// The server of the file is not used.
test.use({ baseURL: undefined });
let port: number;
let home: string;
test.beforeEach(async () => {
  port = await freePort();
  home = `http://127.0.0.1:${port}`;
});

/** A server of its own whose door is shut, for as long as the work takes. */
async function behindADoor(env: Record<string, string>, work: (server: TroupeProcess) => Promise<void>) {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "troupe-door-"));
  const server = new TroupeProcess(dataDir, port, "door-token-of-this-test", env);
  try {
    await server.start();
    await work(server);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

test("a password opens the page that was asked for, a wrong one is refused in words, and signing out shuts the door again", async ({
  app,
  page,
}) => {
  await behindADoor({ TROUPE_PASSWORD: "correct horse battery" }, async () => {
    await app.open(`${home}/settings`);
    await expect(page).toHaveURL(/\/login\?next=%2Fsettings$/);
    expect(await app.accessibilityFaults()).toEqual([]);
    const password = page.getByLabel("Password");
    await password.fill("correct horse");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "That is not the password." })).toBeVisible();
    await expect(page).toHaveURL(/\/login/);

    await password.fill("correct horse battery");
    await password.press("Enter");
    await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
    await expect(page).toHaveURL(`${home}/settings`);
    await page.reload();
    await expect(page.getByText(/asks for a password/)).toBeVisible();

    const record = page.getByRole("list", { name: "Audit" });
    await expect(record.getByRole("listitem")).toHaveText([/^Signed in/, /^Failed to sign in/]);

    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await expect(password).toBeVisible();
    await expect(page).toHaveURL(`${home}/login`);
    await app.open(`${home}/`);
    await expect(page).toHaveURL(/\/login\?next=/);
    await expect(password).toBeVisible();
  });
});

test("signing out everywhere shuts the door on every other browser, too", async ({ app, page, browser }) => {
  await behindADoor({ TROUPE_PASSWORD: "correct horse battery" }, async () => {
    const signIn = async (where: Page) => {
      await where.goto(`${home}/settings`);
      await where.getByLabel("Password").fill("correct horse battery");
      await where.getByRole("button", { name: "Sign in" }).click();
      await expect(where.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
    };
    const elsewhere = await browser.newContext();
    const other = await elsewhere.newPage();
    await signIn(page);
    await signIn(other);
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await expect(page.getByLabel("Password")).toBeVisible();
    // Its page may be on its way to the door by itself.
    await expect(() => other.goto(`${home}/settings`)).toPass();
    await expect(other.getByLabel("Password")).toBeVisible();

    await signIn(page);
    const record = page.getByRole("list", { name: "Audit" });
    await expect(record.getByRole("listitem").filter({ hasText: "Signed out everywhere" })).toContainText(
      "in another browser",
    );
    expect(await app.accessibilityFaults()).toEqual([]);
    await elsewhere.close();
  });
});

test("the link that the start prints opens the door once, and says so to whoever comes with it later", async ({
  app,
  page,
  browser,
}) => {
  await behindADoor({ TROUPE_START_LINK: "1" }, async (server) => {
    const link = /http:\/\/\S+\/login\?link=\S+/.exec(server.printed)?.[0] ?? "";
    expect(link, server.printed).toMatch(new RegExp(`^${home}/`));
    await app.open(`${home}/roles`);
    await expect(page.getByText("This server opens with a one-time link.")).toBeVisible();

    await app.open(link);
    await expect(page).toHaveURL(`${home}/`);
    await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
    await app.open(`${home}/settings`);
    await expect(page.getByText(/^Troupe \d+\.\d+\.\d+, Node v/)).toBeVisible();
    await expect(page.getByRole("button", { name: "Sign out" })).toBeHidden();

    const stranger = await browser.newContext();
    const theirs = await stranger.newPage();
    await theirs.goto(link);
    await expect(
      theirs.getByText("This link was used before, or belongs to an earlier start."),
    ).toBeVisible();
    await stranger.close();
  });
});
