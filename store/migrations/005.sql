-- How much a workspace's agent may do without a question; '': as the settings say.
ALTER TABLE workspaces ADD COLUMN mode TEXT NOT NULL DEFAULT '';
