import { isWorthReading } from "@/server/domain/base/import-files";
import { namedError } from "@/server/domain/base/named-error";

/** A file to upload: its text, or the bytes of an archive. */
export type SentFile = { path: string; text: string } | { path: string; base64: string };

interface Found {
  path: string;
  file: File;
}

/** The maximum request size, minus the overhead of JSON. */
const MOST_BYTES = 4.5 * 1024 * 1024;

/** Why files cannot be sent, as a sentence. */
export class FileError extends namedError("FileError") {}

/** Pasted text as a file without a name. */
export const pastedFile = (text: string): SentFile[] => [{ path: "", text }];

/** Reads files chosen one by one or as a folder. Rejects with FileError. */
export const chosenFiles = (files: FileList | null): Promise<SentFile[]> =>
  sent([...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file })));

/** Reads dropped files, folders and archives. Rejects with FileError. */
export async function droppedFiles(data: DataTransfer): Promise<SentFile[]> {
  // Read the entries first: they are gone after the event.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return chosenFiles(data.files);
  const found: Found[] = [];
  for (const entry of entries) if (entry) await collect(entry, found);
  return sent(found);
}

// Not all browsers expose these interfaces.
const isFileEntry = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile && "file" in entry;
const isFolderEntry = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry =>
  entry.isDirectory && "createReader" in entry;

async function collect(entry: FileSystemEntry, found: Found[]): Promise<void> {
  const path = entry.fullPath.replace(/^\//, "");
  if (!isWorthReading(path)) return;
  if (isFileEntry(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ path, file });
    return;
  }
  if (!isFolderEntry(entry)) return;
  const reader = entry.createReader();
  // A reader returns about a hundred entries at a time.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return;
    for (const inner of some) await collect(inner, found);
  }
}

async function sent(found: readonly Found[]): Promise<SentFile[]> {
  const isArchive = (path: string) => /\.zip$/i.test(path);
  // A single file was chosen on purpose, whatever its name.
  const wanted =
    found.length === 1 ? found : found.filter(({ path }) => isWorthReading(path) || isArchive(path));
  if (wanted.length === 0) throw new FileError("Troupe can't read any of these files. Choose other files.");
  const bytes = wanted.reduce((sum, { path, file }) => sum + file.size * (isArchive(path) ? 4 / 3 : 1), 0);
  if (bytes > MOST_BYTES)
    throw new FileError("The files exceed 4.5 MB in total. Import fewer files or a smaller archive.");
  return Promise.all(
    wanted.map(async ({ path, file }) =>
      isArchive(path) ? { path, base64: await base64Of(file) } : { path, text: await file.text() },
    ),
  );
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
