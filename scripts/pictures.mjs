// Records the pictures of the README and the guide: `npm run pictures -- URL`, with a server that has an empty data
// folder. It runs the template "Decide together" with the offline demo, a little faster than it plays.
import { Buffer } from "node:buffer";
import { writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { chromium } from "@playwright/test";
import { ensureBrowser } from "./browser.mjs";

const [url = "http://127.0.0.1:3000"] = process.argv.slice(2);
const images = path.resolve(import.meta.dirname, "../docs/images");
const SIZE = { width: 1000, height: 563 };
const SPEED = 1.5;
const FRAME_MS = 250;
const LAST_MS = 4000;
/** The suggested input, for which the demo has answers. */
const PROPOSAL = "Open the library on Sunday afternoons, for three months as a trial";

/** Encodes what changed since the last screenshot as WebP; null if nothing did. Runs in the page. */
async function encodeChange([png, { width, height }]) {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { alpha: false });
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, width, height);
  const now = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
  const before = globalThis.before;
  globalThis.before = now;
  let [left, top, right, bottom] = before ? [width, height, -1, -1] : [0, 0, width - 1, height - 1];
  for (let at = 0; before && at < now.length; at++) {
    if (now[at] === before[at]) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  if (right < left) return null;
  // Frames begin at even coordinates.
  [left, top] = [left - (left % 2), top - (top % 2)];
  const part = new OffscreenCanvas(right - left + 1, bottom - top + 1);
  part.getContext("2d", { alpha: false }).drawImage(canvas, -left, -top);
  const bytes = new Uint8Array(
    await (await part.convertToBlob({ type: "image/webp", quality: 0.8 })).arrayBuffer(),
  );
  return { left, top, width: part.width, height: part.height, webp: btoa(String.fromCharCode(...bytes)) };
}

const chunk = (name, data) => {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};
const riff = (...chunks) => chunk("RIFF", Buffer.concat([Buffer.from("WEBP"), ...chunks]));
const uint24 = (...values) => {
  const bytes = Buffer.alloc(values.length * 3);
  for (const [at, value] of values.entries()) bytes.writeUIntLE(value, at * 3, 3);
  return bytes;
};

/** The chunk of a WebP file that holds its pixels. */
function imageIn(file) {
  for (let at = 12; at < file.length; ) {
    const end = at + 8 + file.readUInt32LE(at + 4);
    if (file.toString("latin1", at, at + 4) === "VP8 ") return file.subarray(at, end + (end % 2));
    at = end + (end % 2);
  }
  throw new Error("The image isn't a lossy WebP.");
}

/** An animated WebP that plays forever (RIFF container: VP8X, ANIM, one ANMF per frame). */
function animation(frames) {
  const size = uint24(0, SIZE.width - 1, SIZE.height - 1);
  const parts = frames.map(({ left, top, width, height, webp, ms }) =>
    chunk(
      "ANMF",
      Buffer.concat([
        uint24(left / 2, top / 2, width - 1, height - 1, Math.round(ms)),
        Buffer.from([2]),
        imageIn(Buffer.from(webp, "base64")),
      ]),
    ),
  );
  const ANIMATED = 2;
  return riff(
    chunk("VP8X", Buffer.concat([Buffer.from([ANIMATED]), size])),
    chunk("ANIM", Buffer.alloc(6)),
    ...parts,
  );
}

/** What the page shows until its run is over, as Chromium sends it: PNGs, and when each came. */
async function recorded(page) {
  const shots = [];
  const session = await page.context().newCDPSession(page);
  session.on("Page.screencastFrame", ({ sessionId, data }) => {
    shots.push({ data, at: Date.now() });
    void session.send("Page.screencastFrameAck", { sessionId });
  });
  await session.send("Page.startScreencast", { format: "png" });
  await page.getByText("voted against").first().waitFor({ timeout: 120_000 });
  const atVote = shots.length;
  await page.getByRole("group", { name: "Run status" }).getByText("Completed", { exact: true }).waitFor({
    timeout: 120_000,
  });
  await page.waitForTimeout(1500);
  await session.send("Page.stopScreencast");
  const bucket = (shot) => Math.floor((shot?.at ?? 0) / FRAME_MS);
  return {
    vote: shots[atVote + 1] ?? shots.at(-1),
    shots: shots.filter((shot, index) => bucket(shot) !== bucket(shots[index + 1])),
  };
}

const installed = ensureBrowser()?.CHROMIUM_PATH;
const browser = await chromium.launch({
  args: ["--no-sandbox"],
  ...(installed ? { executablePath: installed } : {}),
});
for (const scheme of ["light", "dark"]) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 811 }, colorScheme: scheme });
  const encoder = await browser.newPage();
  await page.goto(`${url}/templates`);
  await page.getByRole("button", { name: "Open the template Decide together" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByLabel("Proposal").fill(PROPOSAL);
  await sheet.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\//, { waitUntil: "commit" });
  const { shots, vote } = await recorded(page);
  const frames = [];
  for (const [index, { data, at }] of shots.entries()) {
    const frame = await encoder.evaluate(encodeChange, [data, SIZE]);
    const ms = ((shots[index + 1]?.at ?? at) - at) / SPEED;
    if (frame) frames.push({ ...frame, ms });
    else if (frames.length > 0) frames.at(-1).ms += ms;
  }
  if (scheme === "light") {
    await encoder.evaluate(() => delete globalThis.before);
    const { webp } = await encoder.evaluate(encodeChange, [vote.data, SIZE]);
    writeFileSync(path.join(images, "crew.webp"), Buffer.from(webp, "base64"));
  }
  frames.at(-1).ms = LAST_MS;
  writeFileSync(path.join(images, `run-${scheme}.webp`), animation(frames));
  await page.close();
}
await browser.close();
