import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import type { NodeStatus } from "@/server/domain/run";
import { freePort, TroupeProcess } from "./troupe-process";

export { expect } from "@playwright/test";

/** What a run's header says. */
export type RunWord =
  | "Queued"
  | "Running"
  | "Waiting"
  | "Completed"
  | "Failed"
  | "Limit reached"
  | "Cancelled";

/** A file of the tests, as text. */
export const fixture = (name: string) =>
  readFileSync(path.join(import.meta.dirname, "../fixtures", name), "utf8");

/** A request to the HTTP API of the worker's server, to set up data; throws if it is refused. */
export async function api<T>(
  method: "GET" | "POST" | "PUT" | "DELETE",
  where: string,
  body?: unknown,
): Promise<T> {
  if (!serverOfWorker) throw new Error("A test that asks the server needs the fixture `server` or a page.");
  return serverOfWorker.call<T>(method, where, body);
}

/** The settings of what is selected, in the editor. */
export const settings = (page: Page) => page.getByRole("complementary", { name: "Settings" });

/** Opens the question that a run waits for, whichever tab its page shows at first. */
export async function openQuestion(page: Page, question: Locator): Promise<void> {
  const opens = page.getByRole("tab", { name: /^Question/ });
  await expect(question.or(opens).first()).toBeVisible({ timeout: 30_000 });
  if (!(await question.isVisible())) await opens.click();
  await expect(question).toBeVisible();
}

/** Opens the crew of a node on the canvas. */
export async function openCrew(page: Page, node: string): Promise<Locator> {
  const crew = page.getByRole("region", { name: `Crew of ${node}` });
  // It may open automatically at the same moment.
  await expect(async () => {
    if (!(await crew.isVisible()))
      await page.getByRole("button", { name: `Expand the crew of ${node}` }).click({ timeout: 2_000 });
    await expect(crew.getByRole("listitem").first()).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 20_000 });
  return crew;
}

/** By how many pixels the page overflows its window horizontally. */
export const overflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

/** Waits until the last step is saved. `step`: what the undo button calls it; it changes together with the mark. */
export async function saved(page: Page, step?: string): Promise<void> {
  if (step) await expect(page.getByRole("button", { name: `Undo: ${step}` })).toBeVisible();
  await expect(page.getByRole("status").getByText("Saved", { exact: true })).toBeVisible();
}

/** The application in a person's words: what they see and do, by role and label. */
export class App {
  readonly canvas: Canvas;
  readonly run: Run;
  /** Errors that the page reported; a test that ends with some has failed. */
  readonly errors: string[] = [];

  constructor(readonly page: Page) {
    this.canvas = new Canvas(page);
    this.run = new Run(page, this.canvas);
    page.on("pageerror", (error) => this.errors.push(`page error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() !== "error") return;
      // The browser reports every refused request by itself; tests of refusals see them in the page.
      if (/Failed to load resource/.test(message.text())) return;
      this.errors.push(`console: ${message.text()}`);
    });
    page.on("dialog", (dialog) => this.errors.push(`dialog: ${dialog.message()}`));
  }

  /** Opens a page of the application. */
  async open(where = "/"): Promise<void> {
    await this.page.goto(where);
  }

  /** Resets the server: no workflows and no open questions. */
  async startFresh(): Promise<void> {
    const { workflows } = await api<{ workflows: { id: string }[] }>("GET", "/workflows");
    for (const { id } of workflows) await api("DELETE", `/workflows/${id}`);
    const { questions } = await api<{ questions: { run_id: string }[] }>("GET", "/questions");
    for (const { run_id } of questions) await api("POST", `/runs/${run_id}/cancel`);
  }

  /** Puts a workflow file in place and opens it in the editor; answers its id. */
  async openWorkflow(file: string | object): Promise<string> {
    const { id } = await api<{ id: string }>("POST", "/workflows", file);
    await this.open(`/workflows/${id}`);
    await this.canvas.isShown();
    return id;
  }

  /** A new, blank workflow. */
  async newWorkflow(): Promise<void> {
    await this.open();
    await this.choose(this.page.getByRole("button", { name: "Blank workflow" }), "Blank workflow");
  }

  /** A workflow from a template. */
  async fromTemplate(title: string): Promise<void> {
    await this.open("/templates");
    await this.page.getByRole("button", { name: `Open the template ${title}`, exact: true }).click();
    await this.canvas.isShown();
  }

  /** By the welcome of a first visit, or by the menu above a list that has something in it. */
  private async choose(onWelcome: Locator, inMenu: string): Promise<void> {
    const list = this.page.getByRole("list", { name: "Workflows", exact: true });
    await expect(onWelcome.or(list)).toBeVisible();
    if (await onWelcome.isVisible()) await onWelcome.click();
    else {
      await this.page.getByRole("button", { name: "New workflow" }).click();
      await this.page.getByRole("menuitem", { name: inMenu }).click();
    }
    await this.canvas.isShown();
  }

  /** The accessibility faults that axe finds, of any severity, best practices among them. */
  async accessibilityViolations(): Promise<string[]> {
    // A page that one went to gets its name a moment after its address.
    await expect(this.page).toHaveTitle(/\S/);
    // What is half faded in has no contrast yet, and nobody is asked to read it.
    await this.page.evaluate(async () => {
      const frame = () => new Promise(requestAnimationFrame);
      const moving = () =>
        document
          .getAnimations()
          .filter(
            ({ effect, playState }) =>
              playState === "running" && effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY,
          );
      // A message begins to move in the frame after it is there.
      for (let quiet = 0; quiet < 3; quiet = moving().length === 0 ? quiet + 1 : 0) {
        await Promise.allSettled(moving().map(({ finished }) => finished));
        await frame();
      }
      // A message that goes away while the page is being read would be judged half gone: it is judged as it stands.
      const still = new CSSStyleSheet();
      still.replaceSync("[data-sonner-toast] { opacity: 1 !important; transition: none !important; }");
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, still];
    });
    // The page has no frames, so one pass in the page itself is enough.
    const { violations } = await new AxeBuilder({ page: this.page })
      .setLegacyMode()
      .options({ rules: { "label-content-name-mismatch": { enabled: true } }, resultTypes: ["violations"] })
      .analyze();
    // Branches that were not taken are dimmed on purpose; the contrast guidelines exempt inactive content.
    const dimmed = await this.page
      .locator('[data-status="skipped"] *')
      .evaluateAll((elements) => elements.map(({ outerHTML }) => outerHTML));
    const isDimmed = (id: string, html: string) => id === "color-contrast" && dimmed.includes(html);
    const remaining = violations
      .map((violation) => ({
        ...violation,
        nodes: violation.nodes.filter(({ html }) => !isDimmed(violation.id, html)),
      }))
      .filter(({ nodes }) => nodes.length > 0);
    return remaining.map(
      ({ id, impact, help, nodes }) =>
        `${id} (${impact}): ${help} (${nodes.map(({ target }) => target.join(" ")).join("; ")})`,
    );
  }
}

/** The drawing. */
export class Canvas {
  constructor(private readonly page: Page) {}

  async isShown(): Promise<void> {
    // On a phone it is a list at first.
    const list = this.page.getByRole("list", { name: "Nodes in reading order" });
    await expect(this.page.getByRole("article").or(list).first()).toBeVisible();
  }

  /** A node's card, by the node's name. */
  card(name: string): Locator {
    return this.page.getByRole("article", { name, exact: true });
  }

  /** Waits until nothing on it moves any more. */
  async still(): Promise<void> {
    const places = async () =>
      JSON.stringify(
        await Promise.all((await this.page.getByRole("article").all()).map((card) => card.boundingBox())),
      );
    let before = "";
    await expect
      .poll(
        async () => {
          const now = await places();
          const isStill = now === before;
          before = now;
          return isStill;
        },
        { intervals: [150] },
      )
      .toBe(true);
  }

  /** The smallest visible font size, in screen pixels. */
  smallestFontSize(): Promise<number> {
    return this.page.getByRole("application").evaluate((drawing) => {
      const sizes: number[] = [];
      const walker = document.createTreeWalker(drawing, NodeFilter.SHOW_TEXT);
      for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        const element = text.parentElement;
        if (!element || !text.textContent?.trim() || !element.checkVisibility()) continue;
        const { width, height } = element.getBoundingClientRect();
        // Text for screen readers only is one pixel in size.
        if (width < 3 || height < 3) continue;
        const scale = width / (element.offsetWidth || width);
        sizes.push(Number.parseFloat(getComputedStyle(element).fontSize) * scale);
      }
      return Math.min(...sizes);
    });
  }

  /** Opens a node's settings. */
  async select(name: string): Promise<void> {
    await this.card(name).click();
  }

  async expectStatus(name: string, status: NodeStatus, options?: { timeout?: number }): Promise<void> {
    await expect(this.card(name), `"${name}" is ${status}`).toHaveAttribute("data-status", status, options);
  }

  /** Draws an edge from one card to another by dragging; `label` names the way out of a router. */
  async connect(from: string, to: string, label?: string): Promise<void> {
    const source = this.card(from);
    const port = label
      ? source.getByRole("listitem").filter({ hasText: label }).locator(".node-port")
      : source.locator(".node-port").first();
    const start = await middleOf(port);
    const end = await middleOf(this.card(to).locator(".node-entry"));
    await this.page.mouse.move(start.x, start.y);
    await this.page.mouse.down();
    await this.page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 5 });
    await this.page.mouse.move(end.x, end.y, { steps: 5 });
    await this.page.mouse.up();
  }

  /** Moves a card by so many pixels. */
  async move(name: string, by: { x: number; y: number }): Promise<void> {
    const from = await middleOf(this.card(name));
    await this.page.mouse.move(from.x, from.y);
    await this.page.mouse.down();
    await this.page.mouse.move(from.x + by.x, from.y + by.y, { steps: 8 });
    await this.page.mouse.up();
  }
}

/** A run: starting it, and what its page shows. */
export class Run {
  constructor(
    private readonly page: Page,
    private readonly canvas: Canvas,
  ) {}

  /** Fills in the sheet behind the Run button and starts; resolves on the run's page. */
  async start(input: Record<string, string> = {}): Promise<void> {
    await this.page.getByRole("button", { name: "Run", exact: true }).click();
    const sheet = this.page.getByRole("dialog");
    for (const [key, value] of Object.entries(input)) await sheet.getByLabel(labelPattern(key)).fill(value);
    await sheet.getByRole("button", { name: "Start", exact: true }).click();
    await this.page.waitForURL(/\/runs\/run_/);
  }

  /** The run's id, from the address. */
  get id(): string {
    return /\/runs\/(run_[\w-]+)/.exec(this.page.url())?.[1] ?? "";
  }

  async expectStatus(name: string, status: NodeStatus, options?: { timeout?: number }): Promise<void> {
    await this.canvas.expectStatus(name, status, options);
  }

  /** Waits until the header says so. */
  async expectEnd(word: RunWord, options: { timeout?: number } = { timeout: 30_000 }): Promise<void> {
    await expect(
      this.page.getByRole("group", { name: "Run status" }).getByText(word, { exact: true }),
    ).toBeVisible(options);
  }

  async cancel(): Promise<void> {
    await this.page.getByRole("button", { name: "Cancel", exact: true }).click();
  }
}

/** user_request -> a label that says "User request" or "user_request", with or without a mark. */
const labelPattern = (key: string) => new RegExp(`^${key.replaceAll("_", "[ _]")}\\b`, "i");

async function middleOf(locator: Locator): Promise<{ x: number; y: number }> {
  await expect(locator).toBeVisible();
  const box = await locator.boundingBox();
  if (!box) throw new Error("It is not on the screen.");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** The server of this worker, once a test has requested it. */
let serverOfWorker: TroupeProcess | null = null;

const TOKEN = "e2e-token-that-no-one-else-knows";

/** A server on an empty data folder. */
async function startServer(env: Record<string, string>): Promise<TroupeProcess> {
  const dataDir = mkdtempSync(path.join(process.env.TROUPE_E2E_DATA ?? os.tmpdir(), "troupe-e2e-"));
  const server = new TroupeProcess(dataDir, await freePort(), TOKEN, env);
  await server.start();
  return server;
}

/** Kills the server and deletes its data, so no orderly shutdown is needed. */
async function endServer(server: TroupeProcess): Promise<void> {
  await server.kill();
  rmSync(server.dataDir, { recursive: true, force: true });
}

interface Fixtures {
  app: App;
  /** Starts a server with these settings; it stops when the test ends. */
  ownServer: (env: Record<string, string>) => Promise<TroupeProcess>;
}

/**
 * `server` serves all tests of a worker, sequentially. A test can see what earlier ones left, and restores any setting that
 * affects other tests. After a failure, Playwright starts a new worker, so failures don't affect later tests.
 */
export const test = base.extend<Fixtures, { server: TroupeProcess }>({
  server: [
    // Playwright reads from the pattern what a fixture needs: here, nothing.
    async ({}, use) => {
      serverOfWorker = await startServer({ TROUPE_OFFLINE_SPEED: process.env.TROUPE_OFFLINE_SPEED ?? "4" });
      await use(serverOfWorker);
      await endServer(serverOfWorker);
      serverOfWorker = null;
    },
    { scope: "worker", timeout: 120_000 },
  ],
  ownServer: async ({}, use) => {
    const started: TroupeProcess[] = [];
    await use(async (env) => {
      const server = await startServer(env);
      started.push(server);
      return server;
    });
    for (const server of started) await endServer(server);
  },
  baseURL: async ({ server }, use) => use(server.home),
  app: async ({ page }, use) => {
    const app = new App(page);
    await use(app);
    expect(app.errors, "the page reported no errors").toEqual([]);
  },
});
