import type { Sample } from "./define";

export const incidentReport: Sample = {
  input: { service: "Booking" },
  open: ["health", "observed", "since"],
  answers: [
    {
      role: "IncidentWriter",
      phrases: ["Write a first incident report"],
      gives: ({ observed = "", since = "" }) => `**Booking is disrupted**

${observed.trim() || "The service reports that it is down"}${since.trim() ? ` (since: ${since.trim()})` : ""}. The cause is not known yet.

**What you can do:** Please wait before you book again, so that nothing is booked twice. Existing bookings are not known to be affected.

**Next update:** in 30 minutes.`,
    },
  ],
};
