CREATE TABLE `restore_points` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workflow_id` text NOT NULL,
	`name` text NOT NULL,
	`graph` text NOT NULL,
	`withheld` text NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `restore_points_workflow` ON `restore_points` (`workflow_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `secrets` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`hint` text,
	`hosts` text NOT NULL,
	`workflows` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `trigger_fires` (
	`trigger_id` text NOT NULL,
	`key` text NOT NULL,
	`planned_at` integer NOT NULL,
	`at` integer NOT NULL,
	`status` text NOT NULL,
	`input` text,
	`run_id` text,
	`reason` text,
	`body_hash` text,
	`visitor` text,
	`address` text,
	`depth` integer DEFAULT 0 NOT NULL,
	`is_test` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`trigger_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `trigger_fires_order` ON `trigger_fires` (`trigger_id`,`planned_at`);--> statement-breakpoint
CREATE INDEX `trigger_fires_recent` ON `trigger_fires` (`trigger_id`,`at`);--> statement-breakpoint
CREATE INDEX `trigger_fires_body` ON `trigger_fires` (`trigger_id`,`body_hash`) WHERE "trigger_fires"."body_hash" is not null;--> statement-breakpoint
CREATE INDEX `trigger_fires_status` ON `trigger_fires` (`status`,`trigger_id`);--> statement-breakpoint
CREATE TABLE `triggers` (
	`id` text PRIMARY KEY NOT NULL,
	`workflow_id` text NOT NULL,
	`kind` text NOT NULL,
	`config` text NOT NULL,
	`is_enabled` integer DEFAULT true NOT NULL,
	`key_hash` text,
	`key` text,
	`secret` text,
	`next_at` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`disabled_reason` text,
	`by` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `triggers_key_hash_unique` ON `triggers` (`key_hash`);--> statement-breakpoint
CREATE INDEX `triggers_workflow` ON `triggers` (`workflow_id`);--> statement-breakpoint
CREATE TABLE `variables` (
	`workflow_id` text DEFAULT '' NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workflow_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `workflow_versions` (
	`workflow_id` text NOT NULL,
	`number` integer NOT NULL,
	`name` text NOT NULL,
	`graph` text NOT NULL,
	`roles` text NOT NULL,
	`withheld` text DEFAULT '[]' NOT NULL,
	`foreign_text` text,
	`note` text DEFAULT '' NOT NULL,
	`by` text NOT NULL,
	`hash` text NOT NULL,
	`tests` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workflow_id`, `number`)
);
--> statement-breakpoint
ALTER TABLE `api_tokens` ADD `scopes` text;--> statement-breakpoint
ALTER TABLE `api_tokens` ADD `workflows` text;--> statement-breakpoint
ALTER TABLE `api_tokens` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `api_tokens` ADD `is_trusted` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `workflow_version` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `trigger_id` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `started_by` text;--> statement-breakpoint
CREATE INDEX `runs_trigger_open` ON `runs` (`trigger_id`) WHERE "runs"."trigger_id" is not null and "runs"."status" <> 'finished';