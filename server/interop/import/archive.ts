import { Unzip, UnzipInflate } from "fflate";
import { isWorthReading } from "@/server/domain/base/import-files";
import { Rejection } from "@/server/domain/errors/rejection";
import { IMPORT_LIMITS, pathProblem } from "./files";
import type { ImportFile } from "./source";

/** An uploaded file: its text, or its bytes in base64, which may be a zip archive. */
export type SentFile = { path: string; text: string } | { path: string; base64: string };

const notImportable = (why: string) => new Rejection("not_importable", why);

/** So much of an archive is unpacked before its size is looked at again: a bomb grows at most a thousandfold in between. */
const CHUNK = 4 * 1024;
/** The texts of what was sent, archives unpacked within the limits of an import. Throws Rejection. */
export function unpack(sent: readonly SentFile[]): ImportFile[] {
  const all = sent.flatMap((file): ImportFile[] => {
    if ("text" in file) return [file];
    const bytes = Buffer.from(file.base64, "base64");
    if (bytes.length >= 4 && bytes.readUInt32LE(0) === 0x04034b50) return unzip(bytes, file.path);
    return [{ path: file.path, text: textOf(bytes, file.path) }];
  });
  return withoutCommonFolder(all);
}

/** The files of a zip archive, in its order. Names are only names: nothing is written anywhere. */
function unzip(bytes: Uint8Array, archive: string): ImportFile[] {
  const files: ImportFile[] = [];
  let total = 0;
  let count = 0;
  const archiveError = (why: string) =>
    notImportable(`${archive || "The archive"} can't be unpacked: ${why}`);
  const refuse = (why: string): never => {
    throw archiveError(why);
  };
  const damaged = (path: string) => archiveError(`${path} is damaged.`);
  const unzipper = new Unzip((file) => {
    if (++count > IMPORT_LIMITS.files * 4) refuse(`it has more than ${IMPORT_LIMITS.files * 4} files.`);
    const path = file.name;
    const leadsOut = pathProblem(path);
    if (leadsOut) refuse(leadsOut);
    if (!isWorthReading(path)) return;
    const parts: Uint8Array[] = [];
    let size = 0;
    file.ondata = (error, data, isLast) => {
      // What is thrown below comes back here.
      if (error) throw error instanceof Rejection ? error : damaged(path);
      size += data.length;
      total += data.length;
      if (size > IMPORT_LIMITS.fileBytes) refuse(`${path} is larger than 5 MiB.`);
      if (total > IMPORT_LIMITS.bytes) refuse("its files exceed 10 MiB in total.");
      parts.push(data);
      if (!isLast) return;
      if (files.length >= IMPORT_LIMITS.files)
        refuse(`it has more than ${IMPORT_LIMITS.files} readable files.`);
      files.push({ path, text: textOf(Buffer.concat(parts), path) });
    };
    file.start();
  });
  unzipper.register(UnzipInflate);
  try {
    for (let at = 0; at < bytes.length; at += CHUNK)
      unzipper.push(bytes.subarray(at, at + CHUNK), at + CHUNK >= bytes.length);
  } catch (error) {
    if (error instanceof Rejection) throw error;
    refuse("it is damaged or uses an unsupported compression.");
  }
  if (files.length === 0) refuse("it has no readable files.");
  return files;
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw notImportable(`${path || "The file"} is not UTF-8 text.`);
  }
}

/** Archives and dropped folders hold everything in one folder; paths in findings are read more easily without it. */
function withoutCommonFolder(files: readonly ImportFile[]): ImportFile[] {
  const [first] = files;
  const folder = first && files.length > 1 ? first.path.slice(0, first.path.indexOf("/") + 1) : "";
  return folder && files.every(({ path }) => path.startsWith(folder))
    ? files.map(({ path, text }) => ({ path: path.slice(folder.length), text }))
    : [...files];
}
