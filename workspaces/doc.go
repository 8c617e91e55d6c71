// Package workspaces keeps projects and their workspaces: it adds, creates, checks, renames,
// archives and deletes them, and runs the hooks that a trusted project brings.
//
// What it promises:
//   - Nothing from a repository runs before its project is trusted.
//   - A command never runs in another folder than its workspace's own: Runtime refuses a place that
//     is missing or no longer the worktree it should be, and says how to repair it.
//   - No automatic path removes work. Deleting asks for the name when something exists nowhere else,
//     and moves folders to the trash, from where they go after a day, or a week when work was at risk.
//   - A branch that Carrel did not make is never deleted, and no branch is taken from another folder.
//   - Creation uses neither a model nor the network.
//
// Several processes do this on one data root at once. The registry's unique names and file locks
// keep them apart; a creation that died with its process is finished or cleared up by Recover.
package workspaces
