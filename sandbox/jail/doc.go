// Package jail is the confinement itself, as it runs in the small helper program (package main
// below it): the supervisor that owns a workspace's namespaces, and the first process of each
// command's own namespaces, which executes a plan's mounts, gives up every right, starts the
// command, reaps, watches the guards, and takes everything with it when it ends.
//
// The application talks to both over sockets that nothing else holds; all that they need (plan,
// standard streams, mounts) arrives there. A supervisor ends with its socket, its helpers end with
// it or with their own socket, and commands end with their helper. So there is no process without
// an owner, whoever is killed.
//
// Nothing here decides what is allowed. A plan is executed whole or the command does not start.
package jail
