import type { Sample } from "./define";

export const developmentTeam: Sample = {
  input: { goal: "Guests can book a table online and cancel it up to two hours before" },
  answers: [
    {
      role: "Developer",
      phrases: ["Design the page for this feature.\n</task>"],
      gives: `**Two views.** *Book*: date, time, number of guests, name and email; free times are buttons, not a list. *My booking*, reached by the link in the email: what was booked, and a Cancel button that disappears two hours before.

**Needs from the server:** free times for a date and a number of guests, one call to book, one to cancel by the secret in the link. An error 409 means that somebody else was faster: the page reloads the free times and keeps everything entered.`,
    },
    {
      role: "Developer",
      phrases: ["Design the server's interface for this feature.\n</task>"],
      gives: `| Call | Answer |
|---|---|
| \`GET /tables/free?date&guests\` | free times, every 30 minutes |
| \`POST /bookings\` | 201 with the booking and its secret; 409 if the table is gone |
| \`GET /bookings/{secret}\` | the booking, and \`cancel_until\` |
| \`DELETE /bookings/{secret}\` | 204; 410 after \`cancel_until\` |

The server decides about the two hours, not the page. Times are sent with their offset, such as \`2026-05-02T19:00+02:00\`.`,
    },
    {
      role: "Developer",
      phrases: ["Design the data for this feature.\n</task>"],
      gives: `**dining_tables**: id, seats. **bookings**: id, table_id, starts_at (UTC), guests, name, email, secret, cancelled_at.

One booking per table and time: a unique index on table_id and starts_at, for bookings that are not cancelled. So two guests who are equally fast cannot get the same table. A booking lasts two hours and begins at a full or half hour.`,
    },
    {
      role: "TechLead",
      phrases: ['"design_review"', "Bring together the work", "**dining_tables**"],
      gives: `**Fits together:** both other parts rely on the secret, and the unique index gives the server its 409.

**Does not fit yet:**
1. A unique index on the start only stops equal starts. A booking at 19:30 overlaps one at 19:00. *Decision:* bookings begin only at 17:00, 19:00 and 21:00; then the index is enough, and the page shows three buttons.
2. The page hides the Cancel button by its own clock. *Decision:* it uses \`cancel_until\` from the server.

**For everyone:** UTC in the database, offsets on the wire, local time only on the page.`,
    },
    {
      role: "Developer",
      phrases: ["Build the page as the reviewed design says.\n</task>"],
      gives: `\`\`\`js
export async function showTimes(list, date, guests) {
  const response = await fetch(\`/tables/free?date=\${date}&guests=\${guests}\`);
  const times = await response.json();
  list.replaceChildren(
    ...times.map((time) => {
      const button = document.createElement("button");
      button.textContent = new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
      button.onclick = () => book(list, time, date, guests);
      return button;
    }),
  );
}

async function book(list, time, date, guests) {
  const body = JSON.stringify({ time, guests, ...Object.fromEntries(new FormData(list.form)) });
  const { status } = await fetch("/bookings", { method: "POST", body });
  // Somebody else was faster: show what is left and keep what was entered.
  if (status === 409) await showTimes(list, date, guests);
}

export const canCancel = ({ cancel_until }) => Date.now() < Date.parse(cancel_until);
\`\`\``,
    },
    {
      role: "Developer",
      phrases: ["Build the server's interface as the reviewed design says.\n</task>"],
      gives: `\`\`\`js
const STARTS = ["17:00", "19:00", "21:00"];
const NOTICE_MS = 2 * 60 * 60 * 1000;

export function createBooking(db, { time, guests, name, email }) {
  if (!STARTS.includes(time.slice(11, 16))) return { status: 400 };
  const table = db.freeTable(time, guests);
  if (!table) return { status: 409 };
  const secret = crypto.randomUUID();
  // The index decides where two requests are equally fast.
  const isSaved = db.insertBooking({ table, time, guests, name, email, secret });
  return isSaved ? { status: 201, body: { secret, cancel_until: cancelUntil(time) } } : { status: 409 };
}

export function cancelBooking(db, secret, now = Date.now()) {
  const booking = db.findBooking(secret);
  if (!booking) return { status: 404 };
  if (now > Date.parse(cancelUntil(booking.time))) return { status: 410 };
  db.cancel(booking.id, now);
  return { status: 204 };
}

const cancelUntil = (time) => new Date(Date.parse(time) - NOTICE_MS).toISOString();
\`\`\``,
    },
    {
      role: "Developer",
      phrases: ["Build the data as the reviewed design says.\n</task>"],
      gives: `\`\`\`sql
create table dining_tables (
  id integer primary key,
  seats integer not null check (seats > 0)
);

create table bookings (
  id integer primary key,
  table_id integer not null references dining_tables (id),
  starts_at text not null, -- UTC
  guests integer not null check (guests > 0),
  name text not null,
  email text not null,
  secret text not null unique,
  cancelled_at text
);

-- A cancelled booking frees its table.
create unique index one_booking_per_table
  on bookings (table_id, starts_at) where cancelled_at is null;
\`\`\``,
    },
    {
      role: "TechLead",
      phrases: ['"integration_testing"', "Bring together the work", "one_booking_per_table"],
      gives: `# Book a table online: ready for a first test

**What there is.** The page shows three times as buttons and books one of them. The server accepts 17:00, 19:00 and 21:00, and refuses a cancellation less than two hours before. The index in the database makes sure that a table is given away once.

**Checked by reading the three parts side by side**
- Two guests take the last table at the same time: the index refuses the second, the server answers 409, the page shows what is left. ✔
- Cancelling two hours and one minute before works; one hour and 59 minutes before gives 410. ✔
- A cancelled table can be booked again. ✔

**Fix before the launch**
1. The page sends the local time with its offset; the server compares \`time.slice(11, 16)\`. That is right only while both are in the same time zone.
2. \`freeTable\` has to choose the smallest table that is large enough. No part says so yet.

**Next:** the email with the link, then a test with ten real guests.`,
    },
  ],
};
