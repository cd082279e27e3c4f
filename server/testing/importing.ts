import type { z } from "zod";
import type { appRouter } from "@/server/api/root";
import { present } from "@/server/domain/base/must";
import type { ImportRequest } from "@/server/operations/workflows/imports";

type Ask = Pick<ReturnType<typeof appRouter.createCaller>, "imports">;
type More = Partial<Omit<z.input<typeof ImportRequest>, "files" | "confirm">>;

/** What one file would bring. */
export const previewImport = (ask: Ask, text: string, more: More = {}) =>
  ask.imports.importFiles({ files: [{ text }], ...more });

/** Brings one file in; answers what was saved. */
export async function bringFile(ask: Ask, text: string, more: More = {}) {
  const { done, findings } = await ask.imports.importFiles({ files: [{ text }], confirm: true, ...more });
  return { ...present(done ?? undefined, "done"), findings };
}
