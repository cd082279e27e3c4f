/**
 * Limits of untrusted JSON. `containers`: all objects and lists; `values`: everything in them, so that walking over the
 * parsed value takes no more than a tenth of a second or two.
 */
export const JSON_LIMITS = {
  depth: 32,
  keyLength: 128,
  keysPerObject: 2_000,
  containers: 50_000,
  values: 300_000,
} as const;

/**
 * The limit that a JSON text exceeds, in one sentence, or null. One pass over the characters without recursion:
 * JSON.parse would spend seconds on a bracket bomb, and walking over the result would overflow the stack. The parser
 * decides whether the text is JSON at all; comments, as in JSONC, are skipped.
 */
export function jsonTextProblem(text: string): string | null {
  let depth = 0;
  let containers = 0;
  let commas = 0;
  let keyStart = -1;
  let keyEnd = -1;
  // Per open bracket: the number of keys so far.
  const keys = new Uint32Array(JSON_LIMITS.depth + 1);
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 34: {
        keyStart = i + 1;
        i = endOfString(text, keyStart);
        keyEnd = i;
        break;
      }
      case 47:
        i = endOfComment(text, i);
        break;
      case 58:
        keys[depth] = (keys[depth] ?? 0) + 1;
        if ((keys[depth] ?? 0) > JSON_LIMITS.keysPerObject)
          return `An object has more than ${JSON_LIMITS.keysPerObject} keys.`;
        if (keyEnd - keyStart > JSON_LIMITS.keyLength)
          return `A key is longer than ${JSON_LIMITS.keyLength} characters.`;
        break;
      case 44:
        if (++commas >= JSON_LIMITS.values)
          return `The JSON contains more than ${JSON_LIMITS.values} values.`;
        break;
      case 91:
      case 123:
        depth++;
        if (++containers > JSON_LIMITS.containers)
          return `The JSON contains more than ${JSON_LIMITS.containers} objects and lists.`;
        if (depth > JSON_LIMITS.depth) return `The JSON is nested deeper than ${JSON_LIMITS.depth} levels.`;
        keys[depth] = 0;
        break;
      case 93:
      case 125:
        if (depth > 0) depth--;
        break;
    }
  }
  return null;
}

/** The offset of the quote that ends the string at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    for (let i = end - 1; i >= start && text.charCodeAt(i) === 92; i--) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** The last offset of the comment at a slash; the slash itself if there is none. */
function endOfComment(text: string, slash: number): number {
  const mark = text.charAt(slash + 1);
  if (mark !== "/" && mark !== "*") return slash;
  const ending = mark === "/" ? /[\n\r]/g : /\*\//g;
  ending.lastIndex = slash + 2;
  return ending.test(text) ? ending.lastIndex - 1 : text.length;
}
