ALTER TABLE `run_turns` ADD `inlined` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `run_turns` ADD `chain` blob;--> statement-breakpoint
ALTER TABLE `runs` ADD `last_turn` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `log_hash` text;--> statement-breakpoint
CREATE INDEX `run_timers_due` ON `run_timers` (`due_at`);--> statement-breakpoint
UPDATE `runs` SET `last_turn` = coalesce((SELECT max(`turn`) FROM `run_turns` WHERE `run_id` = `runs`.`id`), 0);
