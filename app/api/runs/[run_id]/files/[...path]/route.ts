import { guard } from "@/server/access/guard";
import { downloadFile } from "@/server/api/download-file";
import { getServices } from "@/server/services";

export const dynamic = "force-dynamic";

/** Saves a file of a run's workspace. `?version=2` names one that is not the newest. */
export async function GET(
  original: Request,
  { params }: { params: Promise<{ run_id: string; path: string[] }> },
): Promise<Response> {
  const passed = await guard(original, { authScheme: "app" });
  if (passed instanceof Response) return passed;
  const { run_id, path } = await params;
  const version = Number(new URL(original.url).searchParams.get("version"));
  return downloadFile(
    getServices(),
    run_id,
    path.map(decoded),
    Number.isInteger(version) && version > 0 ? version : undefined,
  );
}

/** A part of the address as a name; one that cannot be read stays as it is and names no file. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
