CREATE TABLE `notices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` text NOT NULL,
	`interaction_id` text NOT NULL,
	`cause` text NOT NULL,
	`nth` integer DEFAULT 0 NOT NULL,
	`channel` text NOT NULL,
	`state` text DEFAULT 'waiting' NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`fault` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notices_once` ON `notices` (`run_id`,`interaction_id`,`cause`,`nth`,`channel`);--> statement-breakpoint
CREATE INDEX `notices_due` ON `notices` (`due_at`) WHERE "notices"."state" = 'waiting';--> statement-breakpoint
CREATE TABLE `run_questions` (
	`run_id` text NOT NULL,
	`interaction_id` text NOT NULL,
	`kind` text NOT NULL,
	`title` text NOT NULL,
	`urgency` integer NOT NULL,
	`assigned_to` text,
	`asked_at` integer NOT NULL,
	`expires_at` integer,
	`reminded_at` integer,
	`escalations` integer DEFAULT 0 NOT NULL,
	`question` text NOT NULL,
	PRIMARY KEY(`run_id`, `interaction_id`)
);
--> statement-breakpoint
CREATE INDEX `run_questions_order` ON `run_questions` (`urgency`,`expires_at`);