// Package attack is a suite that tries to break out of the sandbox.
//
// The lists in testdata are the attacks, each a shell snippet; docs/sandbox.md names, per tier, which
// of them a tier does not hold. The suite runs every entry twice: first without a sandbox, where the
// attack must succeed, else it would prove nothing; then through the built bin/carrel sandbox exec,
// where it must fail. There is no third outcome: an entry that did not run fails the suite.
//
// Each run happens on a machine of its own making: namespaces with a home full of secrets, other
// processes and services of the same unprivileged user, and nothing of the real machine but its
// programs. So it needs Linux and root; what it attacks never has root.
package attack
