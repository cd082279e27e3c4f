CREATE TABLE `judge_labels` (
	`workflow_id` text NOT NULL,
	`judge` text NOT NULL,
	`item` text NOT NULL,
	`test_id` text NOT NULL,
	`text` text NOT NULL,
	`score` real NOT NULL,
	`reason` text NOT NULL,
	`at` integer NOT NULL,
	`label` integer,
	`labelled_by` text,
	`labelled_at` integer,
	PRIMARY KEY(`workflow_id`, `judge`, `item`)
);
--> statement-breakpoint
CREATE TABLE `scenario_results` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workflow_id` text NOT NULL,
	`test_id` text NOT NULL,
	`at` integer NOT NULL,
	`by` text NOT NULL,
	`status` text NOT NULL,
	`revision` integer NOT NULL,
	`report` text NOT NULL,
	`took_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `scenario_results_test` ON `scenario_results` (`workflow_id`,`test_id`,`at`);--> statement-breakpoint
CREATE TABLE `scenario_tests` (
	`workflow_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`content` text NOT NULL,
	`place` integer NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workflow_id`, `id`)
);
