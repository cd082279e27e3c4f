import { serve } from "@/server/http-api/serve";
import { getTroupe } from "@/server/troupe";

export const dynamic = "force-dynamic";

const answer = (request: Request) => serve(request, { services: getTroupe });

export { answer as DELETE, answer as GET, answer as POST, answer as PUT };
