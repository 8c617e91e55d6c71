-- How hard a person last chose that a model thinks.
CREATE TABLE model_levels (
	model TEXT PRIMARY KEY, -- provider:id
	level TEXT NOT NULL
) STRICT;

ALTER TABLE workspaces ADD COLUMN cyber INTEGER NOT NULL DEFAULT 0;
ALTER TABLE drafts ADD COLUMN files TEXT; -- JSON: pictures that were attached
