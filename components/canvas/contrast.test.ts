import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const styles = ["app/globals.css", "components/canvas/canvas.css"].map((file) =>
  readFileSync(path.join(import.meta.dirname, "../..", file), "utf8"),
);

/** The lightness, chroma and hue of a token: the first value is that of the day, the last that of the night. */
function token(name: string, isNight: boolean): [number, number, number] {
  const found = styles.flatMap((text) => [
    ...text.matchAll(new RegExp(`--${name}: oklch\\(([\\d.]+) ([\\d.]+) ([\\d.]+)\\)`, "g")),
  ]);
  const [, lightness, chroma, hue] = (isNight ? found.at(-1) : found[0]) ?? [];
  return [Number(lightness), Number(chroma), Number(hue)];
}

/** Relative luminance as WCAG has it, of a colour in OKLCH. */
function luminance([lightness, chroma, hue]: [number, number, number]): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  const green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  const blue = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: [number, number, number], b: [number, number, number]): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test.each([
  ["in light mode", false],
  ["in dark mode", true],
])("edges contrast with the canvas and card borders are visible %s", (_when, isNight) => {
  const stage = token("stage", isNight);
  expect(contrast(token("edge", isNight), stage)).toBeGreaterThanOrEqual(3);
  expect(contrast(token("card-line", isNight), stage)).toBeGreaterThanOrEqual(1.7);
});

test.each([
  ["in light mode", false],
  ["in dark mode", true],
])("breakpoints contrast with cards and the canvas %s", (_when, isNight) => {
  const dot = token("breakpoint", isNight);
  expect(contrast(dot, token("surface", isNight))).toBeGreaterThanOrEqual(3);
  expect(contrast(dot, token("stage", isNight))).toBeGreaterThanOrEqual(3);
});
