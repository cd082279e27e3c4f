import { serveOffline } from "@/server/http-api/offline";

export const dynamic = "force-dynamic";

const answer = (request: Request) => serveOffline(request);

export { answer as GET, answer as POST };
