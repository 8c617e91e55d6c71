package policy

import "slices"

// deniedReads lists what a command has no business with, wherever tools keep it: keys and tokens, the
// stores of browsers, mail and password managers, what was typed, and the folders in which programs
// put sockets that act for the person. Each may be missing; it is denied all the same.
func deniedReads(home string) []string {
	return slices.Concat(
		below(home, keys()...), below(home, clouds()...), below(home, forges()...), below(home, packageLogins()...),
		below(home, databases()...), below(home, assistants()...), below(home, personal()...),
		below(home, histories()...), below(home, socketFolders()...),
	)
}

// allowedReads is what tools need from inside those.
func allowedReads(home string) []string {
	return below(home,
		// git over SSH reads these even when an agent holds the keys.
		".ssh/config", ".ssh/known_hosts", ".ssh/known_hosts2", ".ssh/*.pub",
	)
}

// keys: private keys and the password managers that hold them.
func keys() []string {
	return []string{
		".ssh", ".gnupg/private-keys-v1.d", ".gnupg/secring.gpg", ".gnupg/openpgp-revocs.d", ".gnupg/random_seed",
		".config/op", ".op", ".1password", ".config/1Password", "Library/Group Containers/2BUA8C4S2C.com.1password",
		"Library/Application Support/1Password", ".config/Bitwarden CLI", ".config/Bitwarden",
		"Library/Application Support/Bitwarden", ".password-store", ".local/share/gopass", ".config/gopass",
		".local/share/keyrings", ".local/share/kwalletd", ".config/keepassxc", ".keepass", "Library/Keychains",
		".config/age", ".age", ".config/sops", ".step", ".putty", ".pki", ".yubico", ".config/Yubico",
		".config/keybase", ".local/share/keybase", "Library/Application Support/Keybase",
		".electrum", ".bitcoin", ".ethereum", ".config/solana", ".vault-token", ".minisign",
	}
}

// clouds: the logins of cloud providers and clusters.
func clouds() []string {
	return []string{
		".aws", ".config/gcloud", ".azure", ".config/azure", ".kube", ".config/k9s", ".boto", ".s3cfg", ".oci", ".aliyun",
		".config/doctl", ".config/hcloud", ".config/scw", ".config/linode-cli", ".config/rclone", ".config/fly", ".fly",
		".config/netlify", ".netlify", ".vercel", ".local/share/com.vercel.cli", ".config/heroku", ".local/share/heroku",
		".config/configstore", ".wrangler", ".config/.wrangler", ".cloudflared", ".config/ngrok", ".ngrok2",
		".terraform.d/credentials.tfrc.json", ".terraformrc", ".pulumi/credentials.json", ".config/stripe",
		".supabase", ".railway", ".modal.toml", ".databrickscfg", ".bluemix", ".tsh", ".config/tailscale",
		".config/helm/registry", ".config/argocd", ".config/openstack", ".config/serverless", ".serverlessrc",
	}
}

// forges: git's own logins and those of the places that hold repositories.
func forges() []string {
	return []string{
		".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".git-credential-cache",
		".cache/git/credential", ".config/gh", ".config/hub", ".config/glab-cli", "Library/Application Support/glab-cli",
		".config/tea", ".config/gcm", ".gcm", ".config/jj/secrets.toml", ".arcrc", ".config/sentry", ".sentryclirc",
		".subversion/auth",
	}
}

// packageLogins: what lets someone publish a package or pull a private one.
func packageLogins() []string {
	return []string{
		".npmrc", ".config/pnpm/rc", ".config/pnpm/auth.ini", ".yarnrc.yml", ".pypirc", ".cargo/credentials",
		".cargo/credentials.toml", ".docker/config.json", ".config/containers/auth.json", ".gem/credentials",
		".local/share/gem/credentials", ".bundle/config", ".composer/auth.json", ".config/composer/auth.json",
		".m2/settings-security.xml", ".nuget/NuGet/NuGet.Config", ".config/NuGet", ".hex/hex.config", ".pub-cache/credentials.json",
		".config/dart/pub-credentials.json", ".config/uv/credentials", ".local/share/uv/credentials", ".config/pypoetry/auth.toml",
		"Library/Application Support/pypoetry/auth.toml", ".continuum", ".condarc", ".jfrog", ".kaggle", ".config/kaggle",
		".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".huggingface", ".config/wandb",
	}
}

// databases: logins that programs read from home.
func databases() []string {
	return []string{
		".pgpass", ".my.cnf", ".mylogin.cnf", ".mongorc.js", ".mongodb", ".snowflake", ".snowsql", ".dbeaver4",
		".local/share/DBeaverData", ".config/dbt", ".dbt/profiles.yml", ".cassandra/credentials", ".rediscli_auth",
	}
}

// assistants: the logins and conversations of Carrel's like.
func assistants() []string {
	return []string{
		".mux", ".xum", ".claude.json", ".claude/.credentials.json", ".claude/projects", ".claude/history.jsonl",
		".codex/auth.json", ".codex/sessions", ".codex/history.jsonl", ".gemini/oauth_creds.json", ".gemini/google_accounts.json",
		".gemini/tmp", ".config/github-copilot", ".copilot", ".config/anthropic", ".config/openai", ".openai",
		".local/share/opencode", ".local/share/crush", ".config/goose/secrets.yaml", ".aider.conf.yml", ".continue/config.json",
		".continue/config.yaml", ".cursor/mcp.json", ".config/coderv2", "Library/Application Support/coderv2", ".config/io.datasette.llm",
	}
}

// personal: browsers, mail, messengers.
func personal() []string {
	return []string{
		".mozilla", ".config/mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
		".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".librewolf", ".zen", ".thunderbird",
		".cache/mozilla", ".cache/google-chrome", ".cache/chromium", "snap/firefox", "snap/chromium", "snap/thunderbird",
		".var/app", ".config/Slack", ".config/discord", ".config/Signal", ".local/share/TelegramDesktop", ".config/Element",
		".config/evolution", ".local/share/evolution", "Library/Cookies", "Library/Safari", "Library/Mail", "Library/Messages",
		"Library/Accounts", "Library/Calendars", "Library/Reminders", "Library/HomeKit", "Library/IdentityServices",
		"Library/Application Support/AddressBook", "Library/Application Support/Google/Chrome",
		"Library/Application Support/Chromium", "Library/Application Support/BraveSoftware",
		"Library/Application Support/Microsoft Edge", "Library/Application Support/Firefox",
		"Library/Application Support/Arc", "Library/Application Support/Vivaldi", "Library/Application Support/Slack",
		"Library/Application Support/discord", "Library/Application Support/Signal", "Library/Thunderbird",
		"Library/Containers/com.apple.Safari", "Library/Containers/com.apple.mail", "Library/Group Containers/group.com.apple.notes",
		"Library/Application Support/com.apple.TCC",
	}
}

// histories: what was typed, secrets included.
func histories() []string {
	return []string{
		".bash_history", ".zsh_history", ".zsh_sessions", ".histfile", ".local/share/fish/fish_history", ".sh_history",
		".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history",
		".mongosh", ".dbshell", ".irb_history", ".lesshst", ".viminfo", ".local/state/nvim/shada", ".local/share/atuin",
	}
}

// socketFolders: a program outside may open a socket here at any time, and who reaches it acts as the
// person.
func socketFolders() []string {
	return []string{
		".colima", ".config/colima", ".lima", ".rd", ".orbstack", ".docker/run", ".docker/desktop", ".local/share/containers/podman/machine",
		".gnupg/S.gpg-agent", ".gnupg/S.gpg-agent.ssh", ".gnupg/S.gpg-agent.extra", ".gnupg/S.gpg-agent.browser", ".gnupg/S.keyboxd",
		".gnupg/S.dirmngr", ".gnupg/S.scdaemon", ".tmux", ".screen", ".emacs.d/server", ".dbus", ".ICEauthority", ".Xauthority",
		".local/share/waydroid", ".config/Code/User/globalStorage", ".vscode-server/data", ".config/ibus/bus", ".cache/nvim/server",
		".minikube", ".multipass", "Library/Containers/com.docker.docker", "Library/Group Containers/group.com.docker",
	}
}

// SystemSecrets are files that the permissions of a system hide from everybody but root. A plan denies
// them where the caller is root.
func SystemSecrets() []string {
	return []string{
		"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/krb5.keytab", "/etc/sudoers", "/etc/sudoers.d",
		"/etc/ssl/private", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key",
		"/etc/wireguard", "/etc/NetworkManager/system-connections", "/etc/rancher", "/etc/kubernetes",
		"/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/sss", "/var/spool/cron", "/var/mail",
	}
}
