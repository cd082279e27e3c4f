CREATE TABLE `api_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`hint` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_tokens_hash_unique` ON `api_tokens` (`hash`);--> statement-breakpoint
CREATE TABLE `providers` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`base_url` text NOT NULL,
	`secret` text,
	`secret_hint` text,
	`default_model` text NOT NULL,
	`is_default` integer DEFAULT false NOT NULL,
	`settings` text DEFAULT '{}' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `roles` (
	`name` text PRIMARY KEY NOT NULL,
	`role` text NOT NULL,
	`builtin` integer DEFAULT false NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `run_signals` (
	`run_id` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`sent_at` integer NOT NULL,
	PRIMARY KEY(`run_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `run_timers` (
	`run_id` text NOT NULL,
	`key` text NOT NULL,
	`due_at` integer NOT NULL,
	PRIMARY KEY(`run_id`, `key`)
);
--> statement-breakpoint
CREATE TABLE `run_turns` (
	`run_id` text NOT NULL,
	`turn` integer NOT NULL,
	`last_seq` integer NOT NULL,
	`at` integer NOT NULL,
	`key` text,
	`result` text,
	`events` text NOT NULL,
	PRIMARY KEY(`run_id`, `turn`)
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`workflow_id` text,
	`workflow_name` text NOT NULL,
	`status` text NOT NULL,
	`final_status` text,
	`reason_code` text,
	`interpreter_version` integer NOT NULL,
	`trigger` text NOT NULL,
	`simulated` integer DEFAULT false NOT NULL,
	`cost_usd` real DEFAULT 0 NOT NULL,
	`unknown_cost_calls` integer DEFAULT 0 NOT NULL,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`idempotency_key` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer
);
--> statement-breakpoint
CREATE INDEX `runs_created` ON `runs` (`created_at`);--> statement-breakpoint
CREATE INDEX `runs_workflow` ON `runs` (`workflow_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `runs_status` ON `runs` (`status`);--> statement-breakpoint
CREATE UNIQUE INDEX `runs_idempotency` ON `runs` (`idempotency_key`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`hash` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `workflows` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`graph` text NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE INDEX `workflows_updated` ON `workflows` (`deleted_at`,`updated_at`);