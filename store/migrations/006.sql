-- How the person has arranged the sidebar. A position counts from 1; 0: not placed by hand.
ALTER TABLE projects   ADD COLUMN position  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspaces ADD COLUMN position  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspaces ADD COLUMN pinned    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspaces ADD COLUMN parent_id TEXT    NOT NULL DEFAULT ''; -- the workspace that this one belongs to

-- What a kind of window last showed: widths, folds, the chosen workspace.
CREATE TABLE layouts (
	host       TEXT PRIMARY KEY,    -- desktop or browser
	layout     TEXT NOT NULL,       -- JSON
	updated_at INTEGER NOT NULL
) STRICT;
