import { handlers } from "@/app/api/handlers";

export const dynamic = "force-dynamic";

export const POST = async (request: Request) => (await handlers()).signIn(request);
export const DELETE = async (request: Request) => (await handlers()).signOut(request);
