CREATE TABLE `agents` (
	`id` text PRIMARY KEY NOT NULL,
	`agent` text NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `audit` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`who` text NOT NULL,
	`detail` text DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_at` ON `audit` (`at`);--> statement-breakpoint
CREATE TABLE `crews` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`crew` text NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `custom_tools` (
	`name` text NOT NULL,
	`version` integer NOT NULL,
	`definition` text NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	PRIMARY KEY(`name`, `version`)
);
--> statement-breakpoint
CREATE TABLE `mcp_pins` (
	`server` text NOT NULL,
	`tool` text NOT NULL,
	`fingerprint` text NOT NULL,
	`definition` text NOT NULL,
	`approved_at` integer NOT NULL,
	PRIMARY KEY(`server`, `tool`)
);
--> statement-breakpoint
CREATE TABLE `mcp_servers` (
	`name` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`secret` text,
	`secret_hint` text,
	`is_enabled` integer DEFAULT true NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `memories` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`scope` text NOT NULL,
	`scope_id` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`importance` real DEFAULT 0.5 NOT NULL,
	`tainted` integer DEFAULT false NOT NULL,
	`source` text DEFAULT '{}' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `memories_key` ON `memories` (`scope`,`scope_id`,`key`);--> statement-breakpoint
CREATE INDEX `memories_expiry` ON `memories` (`expires_at`);--> statement-breakpoint
CREATE TABLE `workspace_files` (
	`run_id` text NOT NULL,
	`path` text NOT NULL,
	`version` integer NOT NULL,
	`artifact_id` text NOT NULL,
	`kind` text NOT NULL,
	`media_type` text NOT NULL,
	`size` integer NOT NULL,
	`content` text NOT NULL,
	`source` text DEFAULT '{}' NOT NULL,
	`written_by` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`run_id`, `path`, `version`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workspace_files_artifact_id_unique` ON `workspace_files` (`artifact_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `workspace_files_written_by_unique` ON `workspace_files` (`written_by`);--> statement-breakpoint
CREATE VIRTUAL TABLE `memories_fts` USING fts5(`key`, `value`, content='memories', content_rowid='id', tokenize='porter unicode61');--> statement-breakpoint
CREATE TRIGGER `memories_added` AFTER INSERT ON `memories` BEGIN
  INSERT INTO `memories_fts`(rowid, `key`, `value`) VALUES (new.id, new.`key`, new.`value`);
END;--> statement-breakpoint
CREATE TRIGGER `memories_removed` AFTER DELETE ON `memories` BEGIN
  INSERT INTO `memories_fts`(`memories_fts`, rowid, `key`, `value`) VALUES ('delete', old.id, old.`key`, old.`value`);
END;--> statement-breakpoint
CREATE TRIGGER `memories_changed` AFTER UPDATE ON `memories` BEGIN
  INSERT INTO `memories_fts`(`memories_fts`, rowid, `key`, `value`) VALUES ('delete', old.id, old.`key`, old.`value`);
  INSERT INTO `memories_fts`(rowid, `key`, `value`) VALUES (new.id, new.`key`, new.`value`);
END;
