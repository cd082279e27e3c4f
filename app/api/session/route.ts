import { signIn, signOut } from "@/server/access/sign-in";

export const dynamic = "force-dynamic";

export const POST = (request: Request) => signIn(request);
export const DELETE = (request: Request) => signOut(request);
