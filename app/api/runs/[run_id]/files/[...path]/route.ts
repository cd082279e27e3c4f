import { handlers } from "@/app/api/handlers";

export const dynamic = "force-dynamic";

type Context = { params: Promise<{ run_id: string; path: string[] }> };

export const GET = async (request: Request, { params }: Context) =>
  (await handlers()).file(request, await params);
