import { handlers } from "@/app/api/handlers";

export const dynamic = "force-dynamic";

const answer = async (request: Request, { params }: { params: Promise<{ key: string }> }) =>
  (await handlers()).form(request, await params);

export { answer as DELETE, answer as GET, answer as OPTIONS, answer as PATCH, answer as POST, answer as PUT };
