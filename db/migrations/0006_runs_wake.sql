DROP INDEX `run_timers_due`;--> statement-breakpoint
ALTER TABLE `runs` ADD `wake_at` integer;--> statement-breakpoint
CREATE INDEX `runs_wake` ON `runs` (`wake_at`) WHERE "runs"."wake_at" is not null;--> statement-breakpoint
UPDATE `runs` SET `wake_at` = (SELECT min(`due_at`) FROM `run_timers` WHERE `run_id` = `runs`.`id`) WHERE `status` = 'waiting';
