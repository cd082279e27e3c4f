// Scripts and styles of the build, compressed in advance: smaller than on the fly, and most of a first page load.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib";

const compress = promisify(zlib.brotliCompress);
const TYPES = { ".js": "application/javascript; charset=UTF-8", ".css": "text/css; charset=UTF-8" };
const CONCURRENCY = 4;

const filesBelow = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
    : [];

/** Writes a compressed copy next to every script and style of a build. */
export async function compressStatic(dist) {
  const files = filesBelow(path.join(dist, "static")).filter((file) => TYPES[path.extname(file)]);
  const work = async () => {
    for (let file = files.pop(); file; file = files.pop())
      await writeFile(`${file}.br`, await compress(await readFile(file)));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

/**
 * Returns a handler for files with a compressed copy that the browser accepts. It returns false if it leaves a request to
 * Next.js, such as one for a range. File names contain a hash of the content, so browsers may cache them forever.
 */
export function staticAnswers(dist, headers) {
  const folder = path.join(dist, "static");
  const copies = new Map(
    filesBelow(folder)
      .filter((file) => file.endsWith(".br"))
      .map((file) => [
        `/_next/static/${path.relative(folder, file.slice(0, -3)).split(path.sep).join("/")}`,
        file,
      ]),
  );
  return (request, response) => {
    if (request.method !== "GET" || request.headers.range !== undefined) return false;
    const name = request.url?.split("?", 1)[0];
    const copy = copies.get(name);
    if (!copy || !/(?:^|[ ,])br(?: *$| *,|;q=(?:1|0\.[1-9]))/.test(request.headers["accept-encoding"] ?? ""))
      return false;
    let content;
    try {
      content = readFileSync(copy);
    } catch {
      return false;
    }
    response.writeHead(200, {
      ...headers,
      "Cache-Control": "public, max-age=31536000, immutable",
      "Content-Encoding": "br",
      "Content-Length": content.length,
      "Content-Type": TYPES[path.extname(name)],
      Vary: "Accept-Encoding",
    });
    response.end(content);
    return true;
  };
}
