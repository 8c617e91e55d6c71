package plan

import (
	"slices"
	"strings"
	"testing"
)

const mountinfo = `21 1 0:20 / / rw - ext4 /dev/sda rw
22 21 8:1 / /home rw - btrfs /dev/sdb rw
23 21 8:1 / /mnt/pool rw - btrfs /dev/sdb rw
24 21 8:1 /ada/.config /srv/with\040space rw - btrfs /dev/sdb rw
25 21 8:1 /ada/.aws/sso /srv/sso rw - btrfs /dev/sdb rw
26 21 8:1 /ada/work /srv/work rw - btrfs /dev/sdb rw
27 21 0:30 / /home/other rw - tmpfs x rw
bad line
28 21 8:1 relative /x rw
`

func TestMountPointsAreRead(t *testing.T) {
	list := ParseMountInfo([]byte(mountinfo))
	if len(list) != 7 || list[3] != (MountPoint{Device: "8:1", Root: "/ada/.config", Target: "/srv/with space"}) {
		t.Errorf("%+v", list)
	}
}

// What is denied does not show where the same file system is mounted once more, nor in a snapshot.
func TestDeniedFilesDoNotShowThroughOtherMounts(t *testing.T) {
	m := strong()
	m.Mounts = ParseMountInfo([]byte(mountinfo))
	host := tree("/home/ada/p/x", "/home/ada/.ssh/id", "/mnt/pool/ada/.ssh/id", "/mnt/pool/ada/notes", "/mnt/pool/eve/x", "/srv/with space/gh/hosts.yml", "/srv/with space/tool/x",
		"/srv/sso/token", "/srv/work/x", "/home/ada/work/x", "/home/.snapshots/1/ada/.ssh/id", "/.zfs/snapshot/x")
	for _, tier := range []Tier{TierA, TierC} {
		plan, err := Make(ada(), m, host.tree(), Command{Tier: tier})
		if err != nil {
			t.Fatal(err)
		}
		sees := execute(plan, host).sees
		if tier == TierC {
			sees = func(name string) seen {
				for _, a := range plan.Access {
					if a.Rights&Read != 0 && within(name, a.Path) {
						return readable
					}
				}
				return gone
			}
		}
		for name, want := range map[string]seen{
			"/mnt/pool/ada/.ssh/id": gone, "/mnt/pool/ada/notes": gone, "/srv/with space/gh/hosts.yml": gone, "/srv/sso/token": gone,
			"/home/.snapshots/1/ada/.ssh/id": gone, "/.zfs/snapshot/x": gone, "/srv/work/x": readable, "/srv/with space/tool/x": readable, "/mnt/pool/eve/x": readable,
		} {
			if got := sees(name); got != want {
				t.Errorf("tier %s: %s: %s, want %s", tier, name, got, want)
			}
		}
	}
}

// A project that is reached through the other mount stays where it is.
func TestProjectOnAnotherMountOfHomeIsVisible(t *testing.T) {
	m := strong()
	m.Mounts = ParseMountInfo([]byte(mountinfo))
	p := ada()
	p.Project = "/mnt/pool/ada/p"
	plan, v := planOf(t, p, m, tree("/mnt/pool/ada/p/x", "/mnt/pool/ada/.ssh/id", "/mnt/pool/ada/.npmrc", "/home/ada/"), Command{})
	if !slices.Equal(plan.Write, []string{"/mnt/pool/ada/p"}) || v.sees("/mnt/pool/ada/p/x") != changed {
		t.Errorf("writable %v", plan.Write)
	}
	for _, name := range []string{"/mnt/pool/ada/.ssh/id", "/mnt/pool/ada/.npmrc"} {
		if got := v.sees(name); got != gone {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func FuzzParseMountInfo(f *testing.F) {
	f.Add(mountinfo)
	f.Add(`1 1 8:1 /\134 /a\000`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range ParseMountInfo([]byte(text)) {
			if !strings.HasPrefix(m.Target, "/") || !strings.HasPrefix(m.Root, "/") {
				t.Errorf("%+v", m)
			}
			whole, parts := aliases([]MountPoint{m, {Device: m.Device, Root: "/", Target: "/x"}}, "/home/ada")
			for _, a := range append(whole, parts...) {
				if !strings.HasPrefix(a, "/") {
					t.Errorf("alias %q", a)
				}
			}
		}
	})
}
