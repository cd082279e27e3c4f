import { newAuthorizationServer, newGuardedServer } from "../server/tools/mcp/testing/guarded-server";
import { expect, test } from "./support/app";

// Signing in at an MCP server, at a stand-in for an authorization server.

test("signing in to an MCP server handles denial, consent, token refresh, expiry and revocation", async ({
  app,
  page,
  ownServer,
}) => {
  const authority = await newAuthorizationServer();
  const remote = await newGuardedServer(authority);
  try {
    const { home } = await ownServer({
      TROUPE_MCP_ALLOWED_HOSTS: `127.0.0.1:${remote.port},127.0.0.1:${authority.port}`,
    });
    await app.open(`${home}/tools?new-server=1`);
    const form = page.getByRole("form", { name: "New MCP server" });
    await form.getByLabel("Name").fill("notes");
    await form.getByLabel("URL").fill(remote.url);
    await form.getByRole("button", { name: "Add and connect" }).click();
    const server = page.getByRole("article", { name: "notes" });
    await expect(server.getByText("Needs sign-in", { exact: true })).toBeVisible();
    await expect(server.getByText("The server requires authentication.")).toBeVisible();
    expect(await app.accessibilityViolations()).toEqual([]);
    /** Goes to the authorization page; a dialog names its host first. */
    const go = async () => {
      await server.getByRole("button", { name: /^Sign in to notes/ }).click();
      const dialog = page.getByRole("alertdialog", { name: `Sign in at 127.0.0.1:${authority.port}?` });
      await expect(dialog).toContainText("Troupe requests: read");
      await dialog.getByRole("button", { name: "Continue" }).click();
      await expect(page.getByRole("heading", { name: "May Troupe look?" })).toBeVisible();
    };

    await go();
    await page.getByRole("link", { name: "Deny" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "denied access" })).toBeVisible();
    await page.getByRole("link", { name: "Back to tools" }).click();
    await page.goto(`${home}/tools?server=notes`);

    // Short enough that every request renews the token.
    authority.expires_in = 5;
    await go();
    await page.getByRole("link", { name: "Allow" }).click();
    await expect(page).toHaveURL(`${home}/tools?server=notes`);
    await expect(server.getByText("Connected", { exact: true })).toBeVisible();
    await expect(server).toContainText(`Signed in at 127.0.0.1:${authority.port}, renewed automatically`);
    const renewals = () =>
      authority.seen.filter(({ body }) => body.includes("grant_type=refresh_token")).length;
    const before = renewals();
    await server.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(renewals).toBeGreaterThan(before);
    await expect(server.getByText("Connected", { exact: true })).toBeVisible();

    // The authorization server revokes the access.
    authority.refreshTokens.clear();
    authority.tokens.clear();
    await server.getByRole("button", { name: "Refresh" }).click();
    await expect(server.getByText("Needs sign-in", { exact: true })).toBeVisible();
    await expect(server).toContainText("Sign in again");

    authority.expires_in = 3600;
    await go();
    await page.getByRole("link", { name: "Allow" }).click();
    await expect(server.getByText("Connected", { exact: true })).toBeVisible();
    await server.getByRole("button", { name: "Sign out of notes" }).click();
    await expect(server.getByText("Not signed in")).toBeVisible();
    await expect.poll(() => authority.tokens.size + authority.refreshTokens.size).toBe(0);
    expect(authority.revoked).toHaveLength(2);
  } finally {
    remote.close();
    authority.close();
  }
});
