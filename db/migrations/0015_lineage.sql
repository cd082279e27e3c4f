DROP INDEX `workspace_files_artifact_id_unique`;--> statement-breakpoint
CREATE UNIQUE INDEX `workspace_files_artifact` ON `workspace_files` (`run_id`,`artifact_id`);--> statement-breakpoint
ALTER TABLE `runs` ADD `forked_from` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `forked_seq` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `root_run` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `lineage` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `fork_turn` text;--> statement-breakpoint
CREATE INDEX `runs_root` ON `runs` (`root_run`) WHERE "runs"."root_run" is not null;