-- Times are unix milliseconds, UTC. Ids are those of store.NewID.

CREATE TABLE projects (
	id         TEXT PRIMARY KEY,
	name       TEXT NOT NULL,
	path       TEXT NOT NULL UNIQUE,        -- canonical: absolute, no symbolic links
	is_git     INTEGER NOT NULL DEFAULT 0,
	common_dir TEXT NOT NULL DEFAULT '',    -- canonical git common dir, '' without git
	trusted    INTEGER NOT NULL DEFAULT 0,
	added_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE workspaces (
	id          TEXT PRIMARY KEY,
	project_id  TEXT REFERENCES projects(id) DEFERRABLE INITIALLY DEFERRED, -- NULL: a scratch chat
	name        TEXT NOT NULL,
	title       TEXT NOT NULL DEFAULT '',
	runtime     TEXT NOT NULL,
	branch      TEXT NOT NULL DEFAULT '',
	made_branch INTEGER NOT NULL DEFAULT 0, -- the branch was made for this workspace
	base        TEXT NOT NULL DEFAULT '',
	dir         TEXT NOT NULL,
	model       TEXT NOT NULL DEFAULT '',
	init        TEXT NOT NULL DEFAULT '',   -- state of the init hook
	creating    INTEGER NOT NULL DEFAULT 0,
	created_at  INTEGER NOT NULL,
	active_at   INTEGER NOT NULL,
	archived_at INTEGER,
	UNIQUE (project_id, name)
) STRICT;

-- Messages that wait for a conversation's turn to end.
CREATE TABLE queue (
	id           TEXT PRIMARY KEY,
	workspace_id TEXT NOT NULL,
	position     INTEGER NOT NULL,
	text         TEXT NOT NULL,
	created_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX queue_by_workspace ON queue (workspace_id, position);

-- Tokens of each model request. Outlives the workspace, since costs do.
CREATE TABLE usage (
	workspace_id TEXT NOT NULL,
	at           INTEGER NOT NULL,
	model        TEXT NOT NULL,
	input        INTEGER NOT NULL DEFAULT 0,
	output       INTEGER NOT NULL DEFAULT 0,
	cache_read   INTEGER NOT NULL DEFAULT 0,
	cache_write  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX usage_by_workspace ON usage (workspace_id, at);

-- Folders that were deleted and wait for the purge.
CREATE TABLE trash (
	path       TEXT PRIMARY KEY,
	deleted_at INTEGER NOT NULL
) STRICT;
