CREATE TABLE `bin` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`key` text NOT NULL,
	`name` text NOT NULL,
	`content` text NOT NULL,
	`deleted_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `bin_key` ON `bin` (`kind`,`key`);--> statement-breakpoint
CREATE INDEX `bin_deleted` ON `bin` (`deleted_at`);--> statement-breakpoint
ALTER TABLE `runs` ADD `input_text` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `outcome_text` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `waits_for` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `deleted_at` integer;--> statement-breakpoint
CREATE INDEX `runs_deleted` ON `runs` (`deleted_at`) WHERE "runs"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX `runs_waiting` ON `runs` (`waits_for`) WHERE "runs"."waits_for" is not null;--> statement-breakpoint
UPDATE `runs` SET `input_text` = coalesce((
  SELECT substr(group_concat(v.value, ' · '), 1, 4000)
  FROM run_turns t, json_each(iif(json_valid(t.events), t.events, '[]'), '$[0].payload.input') v
  WHERE t.run_id = runs.id AND t.turn = 0), '');--> statement-breakpoint
UPDATE `runs` SET `outcome_text` = coalesce((
  SELECT substr(coalesce(json_extract(e.value, '$.payload.error.message'),
    (SELECT group_concat(v.value, ' · ') FROM json_each(e.value, '$.payload.output') v), ''), 1, 4000)
  FROM run_turns t, json_each(iif(json_valid(t.events), t.events, '[]')) e
  WHERE t.run_id = runs.id AND t.turn = runs.last_turn AND json_extract(e.value, '$.type') = 'run_finished'), '')
WHERE `status` = 'finished';
