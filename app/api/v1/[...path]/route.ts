import { handlers } from "@/app/api/handlers";

export const dynamic = "force-dynamic";

const answer = async (request: Request) => (await handlers()).api(request);

export { answer as DELETE, answer as GET, answer as POST, answer as PUT };
