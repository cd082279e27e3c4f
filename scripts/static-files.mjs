// Scripts and styles of the build, compressed once and better than on the fly: the largest part of what is sent at first.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib";

const compress = promisify(zlib.brotliCompress);
const TYPES = { ".js": "application/javascript; charset=UTF-8", ".css": "text/css; charset=UTF-8" };
const AT_A_TIME = 4;

const filesBelow = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
    : [];

/** Puts a compressed copy beside every script and style of a build. */
export async function compressStatic(dist) {
  const files = filesBelow(path.join(dist, "static")).filter((file) => TYPES[path.extname(file)]);
  const work = async () => {
    for (let file = files.pop(); file; file = files.pop())
      await writeFile(`${file}.br`, await compress(await readFile(file)));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}

/**
 * Answers requests for files that have a compressed copy, where the browser takes it; says whether it did. Everything
 * else, also a part of a file, is left to Next.js. The names hold a hash of the content, so browsers may keep them.
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
