CREATE TABLE `stretches` (
	`run_id` text PRIMARY KEY NOT NULL,
	`stretch` integer NOT NULL,
	`is_active` integer NOT NULL,
	`is_posted` integer NOT NULL,
	`from_turn` integer NOT NULL,
	`signals_before` integer NOT NULL,
	`signals_sent` integer NOT NULL,
	`begun_at` integer NOT NULL,
	`heard_at` integer,
	`worker` text,
	`moved_from` text,
	`moved_at` integer
);
--> statement-breakpoint
CREATE INDEX `stretches_active` ON `stretches` (`is_active`) WHERE "stretches"."is_active" = 1;