-- Ids of messages are the sender's, so they are unique within a workspace only.
CREATE TABLE queue_new (
	workspace_id TEXT NOT NULL,
	id           TEXT NOT NULL,
	position     INTEGER NOT NULL,
	text         TEXT NOT NULL,
	dispatch     TEXT NOT NULL DEFAULT 'step', -- when it is sent: after the step, or after the turn
	choice       TEXT,                         -- JSON: the model and level of this message alone
	files        TEXT,                         -- JSON: its attachments, as parts that name blobs
	created_at   INTEGER NOT NULL,
	PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO queue_new (workspace_id, id, position, text, created_at)
	SELECT workspace_id, id, position, text, created_at FROM queue;
DROP TABLE queue;
ALTER TABLE queue_new RENAME TO queue;
CREATE INDEX queue_by_workspace ON queue (workspace_id, position);

-- What a request cost. Names are those at the time: they outlive workspace and project.
ALTER TABLE usage ADD COLUMN project_id       TEXT NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN parent_id        TEXT NOT NULL DEFAULT ''; -- the workspace whose sub-agent spent it
ALTER TABLE usage ADD COLUMN workspace_name   TEXT NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN project_name     TEXT NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN provider         TEXT NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN reasoning        INTEGER NOT NULL DEFAULT 0; -- part of output
ALTER TABLE usage ADD COLUMN cache_write_hour INTEGER NOT NULL DEFAULT 0; -- part of cache_write
ALTER TABLE usage ADD COLUMN searches         INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN tier             TEXT NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN cost_micro       INTEGER;                    -- millionths of a dollar; NULL: no known price
ALTER TABLE usage ADD COLUMN seq              INTEGER NOT NULL DEFAULT 0; -- of the record in the log, 0: none
ALTER TABLE usage ADD COLUMN kind             TEXT NOT NULL DEFAULT '';   -- '': a step; else what the request was for
CREATE UNIQUE INDEX usage_once ON usage (workspace_id, seq, kind) WHERE seq > 0;
DROP INDEX usage_by_workspace;
CREATE INDEX usage_by_workspace ON usage (workspace_id, at, cost_micro); -- what was spent is read from the index alone
CREATE INDEX usage_by_parent ON usage (parent_id, workspace_id);
CREATE INDEX usage_by_time ON usage (at);

ALTER TABLE workspaces ADD COLUMN level        TEXT NOT NULL DEFAULT '';
ALTER TABLE workspaces ADD COLUMN pro          INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspaces ADD COLUMN budget_micro INTEGER;                    -- millionths of a dollar; NULL: no limit
ALTER TABLE workspaces ADD COLUMN auto_retry   INTEGER NOT NULL DEFAULT 1;

-- What a person was writing.
CREATE TABLE drafts (
	workspace_id TEXT PRIMARY KEY,
	text         TEXT NOT NULL,
	updated_at   INTEGER NOT NULL
) STRICT;

-- How many real tokens one counted token of a model is.
CREATE TABLE token_factors (
	model   TEXT PRIMARY KEY,
	factor  REAL NOT NULL,
	samples INTEGER NOT NULL
) STRICT;
