CREATE TABLE `crew_work` (
	`workflow_id` text NOT NULL,
	`node_id` text NOT NULL,
	`crew_id` text NOT NULL,
	`agent_id` text NOT NULL,
	`role_name` text NOT NULL,
	`simulated` integer NOT NULL,
	`done` integer NOT NULL,
	`failed` integer NOT NULL,
	`sent_back` integer NOT NULL,
	PRIMARY KEY(`workflow_id`, `node_id`, `crew_id`, `agent_id`, `role_name`, `simulated`)
);
--> statement-breakpoint
CREATE INDEX `crew_work_role` ON `crew_work` (`role_name`);