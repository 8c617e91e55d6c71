-- How the init hook ended last: its exit code, -1 when there is none.
ALTER TABLE workspaces ADD COLUMN init_code INTEGER NOT NULL DEFAULT -1;
