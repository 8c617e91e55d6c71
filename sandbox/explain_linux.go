package sandbox

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"carrel/sandbox/jail"
)

// explain says why namespaces were refused, and what would mend that on this machine.
func explain(f *jail.Failure) (why, mend string) {
	why = "the kernel refuses namespaces (" + f.Error() + ")"
	switch {
	case switchIs("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"):
		return why + ": AppArmor keeps programs without a profile from making user namespaces",
			"install Carrel's package, which brings a profile for its helper, or as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	case switchIs("/proc/sys/kernel/unprivileged_userns_clone", "0"):
		return why + ": user namespaces are switched off", "as root: sysctl kernel.unprivileged_userns_clone=1"
	case switchIs("/proc/sys/user/max_user_namespaces", "0"):
		return why + ": no user namespaces are allowed", "as root: sysctl user.max_user_namespaces=10000"
	case errors.Is(f, syscall.ENOSPC):
		return why + ": the limit of user namespaces is reached", "as root: raise sysctl user.max_user_namespaces"
	case errors.Is(f, syscall.ENOSYS), errors.Is(f, syscall.EINVAL):
		return why + ": the kernel is too old, Linux 5.12 is needed", "use a newer kernel"
	case strings.Contains(f.Error(), "proc") && maskedProc():
		return why + ": this container hides parts of /proc, so no fresh one may be mounted",
			"start the container with an unmasked /proc (podman: --security-opt unmask=ALL; docker: --security-opt systempaths=unconfined)"
	case contained():
		return why + ": this is a container that may not make namespaces",
			"start the container with a seccomp profile that lets it (--security-opt seccomp=unconfined), and an unmasked /proc"
	}
	return why, ""
}

// switchIs compares a kernel setting; one that does not exist is no value.
func switchIs(path, value string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.TrimSpace(string(text)) == value
}

// maskedProc reports that something is mounted over parts of /proc.
func maskedProc() bool {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], "/proc/") {
			return true
		}
	}
	return false
}

// contained guesses whether this is a container: for words to people, for nothing else.
func contained() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return false
}
