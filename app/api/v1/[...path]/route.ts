import { handlers } from "@/app/api/handlers";

export const dynamic = "force-dynamic";

const answer = async (request: Request) => (await handlers()).api(request);

// A method that no endpoint takes is answered here too, as JSON.
export { answer as DELETE, answer as GET, answer as PATCH, answer as POST, answer as PUT };
