import type { Page } from "@playwright/test";
import { expect, test } from "./support/app";

const PASSWORD = "correct horse battery";

test("signing in opens the requested page, a wrong password is rejected, and signing out ends all sessions", async ({
  app,
  page,
  browser,
  ownServer,
}) => {
  const { home } = await ownServer({ TROUPE_PASSWORD: PASSWORD });
  await app.open(`${home}/settings`);
  await expect(page).toHaveURL(/\/login\?next=%2Fsettings$/);
  expect(await app.accessibilityViolations()).toEqual([]);
  const password = page.getByLabel("Password");
  await password.fill("correct horse");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "Wrong password." })).toBeVisible();
  await expect(page).toHaveURL(/\/login/);

  await password.fill(PASSWORD);
  await password.press("Enter");
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await expect(page).toHaveURL(`${home}/settings`);
  await page.reload();
  await expect(page.getByText(/password required/)).toBeVisible();
  const record = page.getByRole("list", { name: "Audit log" }).getByRole("listitem");
  await expect(record).toHaveText([/^Signed in/, /^Failed to sign in/]);

  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await expect(password).toBeVisible();
  await expect(page).toHaveURL(`${home}/login`);
  await app.open(`${home}/`);
  await expect(page).toHaveURL(/\/login\?next=/);

  const signIn = async (where: Page) => {
    await where.goto(`${home}/login?next=%2Fsettings`);
    await where.getByLabel("Password").fill(PASSWORD);
    await where.getByRole("button", { name: "Sign in" }).click();
    await expect(where.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  };
  const otherContext = await browser.newContext();
  const other = await otherContext.newPage();
  await signIn(page);
  await signIn(other);
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await expect(password).toBeVisible();
  // The other page may already be redirecting to the sign-in page.
  await expect(() => other.goto(`${home}/settings`)).toPass();
  await expect(other.getByLabel("Password")).toBeVisible();
  await otherContext.close();

  await signIn(page);
  await expect(record.filter({ hasText: "Signed out everywhere" })).toContainText("in another browser");
  expect(await app.accessibilityViolations()).toEqual([]);
});

test("the printed sign-in link works once and explains itself afterwards", async ({
  app,
  page,
  browser,
  ownServer,
}) => {
  const { home, printed } = await ownServer({ TROUPE_START_LINK: "1" });
  const link = /http:\/\/\S+\/login\?link=\S+/.exec(printed)?.[0] ?? "";
  expect(link, printed).toMatch(new RegExp(`^${home}/`));
  await app.open(`${home}/roles`);
  await expect(page.getByText("Sign in with your one-time link.")).toBeVisible();

  await app.open(link);
  await expect(page).toHaveURL(`${home}/`);
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await app.open(`${home}/settings`);
  await expect(page.getByText(/^Troupe \d+\.\d+\.\d+, Node v/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Sign out" })).toBeHidden();

  const freshContext = await browser.newContext();
  const theirs = await freshContext.newPage();
  await theirs.goto(link);
  await expect(theirs.getByText("This link has already been used or has expired.")).toBeVisible();
  await freshContext.close();
});
