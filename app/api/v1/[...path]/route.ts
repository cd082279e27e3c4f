import { serve } from "@/server/http-api/serve";
import { getServices } from "@/server/services";

export const dynamic = "force-dynamic";

const answer = (request: Request) => serve(request, { services: getServices });

export { answer as DELETE, answer as GET, answer as POST, answer as PUT };
