import { createHash } from "node:crypto";
import { VIEWER_SCRIPT, VIEWER_STYLE } from "./viewer";

const sourceOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** What a shared file may do: run its own script, wear its own style, and nothing else. */
export const SHARE_POLICY = [
  "default-src 'none'",
  `script-src ${sourceOf(VIEWER_SCRIPT)}`,
  `style-src ${sourceOf(VIEWER_STYLE)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** JSON for a block of HTML: no `<` can end the block, and none begins anything. */
const inBlock = (json: string) =>
  json.replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** One HTML file that opens offline. `json`: a SharedRun, with its secrets taken out. */
export function sharePage(json: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${SHARE_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Troupe run</title>
<style>${VIEWER_STYLE}</style>
</head>
<body>
<header><h1 id="name">Run</h1><span id="status"></span><span id="took"></span></header>
<main><div id="canvas" role="region" aria-label="Workflow" tabindex="0"></div><aside id="panel" aria-label="Current step"></aside></main>
<footer><button type="button" id="play">Play</button><button type="button" id="back" aria-label="Step back">‹</button><button type="button" id="forward" aria-label="Step forward">›</button><input type="range" id="at" min="0" value="0" aria-label="Timeline position"></footer>
<noscript>This file needs JavaScript to show the run. Allow JavaScript for it, or request the events instead.</noscript>
<script type="application/json" id="run">${inBlock(json)}</script>
<script>${VIEWER_SCRIPT}</script>
</body>
</html>
`;
}
