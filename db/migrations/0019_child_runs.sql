ALTER TABLE `runs` ADD `parent_run` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `parent_activation` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `parent_item` integer;--> statement-breakpoint
CREATE INDEX `runs_parent` ON `runs` (`parent_run`,`parent_activation`,`parent_item`) WHERE "runs"."parent_run" is not null;