import type { Services } from "@/server/operations/services";
import { WorkspaceError, type WorkspaceFile } from "@/server/store/runs/workspace";

/**
 * A file as a download. Whatever it claims to be, it goes out as plain text that a browser saves and neither opens
 * nor guesses at: its content is the work of models and strangers.
 */
export function downloadFile(
  troupe: Pick<Services, "workspace">,
  run_id: string,
  segments: readonly string[],
  version?: number,
): Response {
  let found: (WorkspaceFile & { content: string }) | undefined;
  try {
    found = troupe.workspace.read(run_id, { path: segments.join("/"), version });
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
  }
  if (!found)
    return Response.json(
      { error: { code: "NOT_FOUND", message: "This file doesn't exist." } },
      { status: 404, headers: { "cache-control": "no-store" } },
    );
  const name = found.path.slice(found.path.lastIndexOf("/") + 1);
  return new Response(found.content, {
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "content-disposition": `attachment; filename="${name.replace(/[^\w.-]/g, "_")}"; filename*=UTF-8''${rfc5987(name)}`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "no-store",
    },
  });
}

const rfc5987 = (text: string) =>
  encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
