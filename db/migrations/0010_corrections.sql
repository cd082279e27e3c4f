CREATE TABLE `mcp_corrections` (
	`server` text NOT NULL,
	`tool` text NOT NULL,
	`fingerprint` text NOT NULL,
	`word` text NOT NULL,
	`corrected_at` integer NOT NULL,
	PRIMARY KEY(`server`, `tool`)
);
