ALTER TABLE `runs` ADD `held` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `stops` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `stopped_turn` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `request_hash` text;