import { handlers } from "@/app/api/handlers";

export const dynamic = "force-dynamic";

const answer = async (request: Request) => (await handlers()).offline(request);

export { answer as GET, answer as POST };
