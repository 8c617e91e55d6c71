# make run and make test are all that most people need; make help lists the rest.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X carrel/app.version=$(VERSION) -X carrel/app.commit=$(COMMIT)
WINDOW  := desktop,production,webkit2_41

# The page is rebuilt when a file that it is made of is newer than the last build.
PAGE := frontend/dist/index.html
PAGE_FILES := $(shell find frontend/src frontend/public frontend/index.html frontend/*.json frontend/*.ts \
	frontend/*.js -type f 2>/dev/null)

DESKTOP := . ./app/desktop/...

# Nothing of yours reaches a test: no data root, no keys, no addresses.
TESTENV := env $(shell env | awk -F= '/^(CARREL|XUM|MUX)_[A-Z_]*=|^[A-Z_]*_(API_KEY|AUTH_TOKEN|BASE_URL)=/ \
	{ print "-u", $$1 }')

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install what building, running and testing need
	@build/setup.sh test

.PHONY: setup-run
setup-run:
	@build/setup.sh run

.PHONY: build
build: setup-run core window ## build bin/carrel and bin/carrel-desktop

# The sandbox's helper is part of carrel: without it commands can be confined in tier C only.
HELPER := sandbox/jail/embed/files/carrel-sandbox

.PHONY: helper
helper: ## build the sandbox's helper, which carrel embeds
	CGO_ENABLED=0 GOOS=linux go build -trimpath -ldflags '-s -w' -o $(HELPER) ./sandbox/jail/main

.PHONY: core
core: $(PAGE) helper
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/carrel .

.PHONY: window
window: $(PAGE) helper
	go build -trimpath -tags $(WINDOW) -ldflags '$(LDFLAGS)' -o bin/carrel-desktop .

$(PAGE): $(PAGE_FILES)
	cd frontend && npm run build
	@touch $@

.PHONY: run
run: build ## build and open the window; without a display serve the same page and print its address
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname -s)" = Darwin ]; then \
		exec bin/carrel-desktop; else exec bin/carrel serve; fi

.PHONY: test
test: setup build ## install what is missing and run every test
	$(TESTENV) go test ./...
	cd frontend && $(TESTENV) npm test
	cd frontend && $(TESTENV) npm run e2e:page
	cd frontend && $(TESTENV) npm run e2e
	$(TESTENV) build/display.sh go test -count=1 -trimpath -tags $(WINDOW),window ./app/desktop/...

.PHONY: lint
lint: setup lint-go lint-page ## look for mistakes without running anything

.PHONY: lint-go
lint-go:
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt-ed: $$bad" >&2; exit 1; }
	@go mod tidy -diff >/dev/null || { echo "go.mod is not what the imports need: run go mod tidy" >&2; exit 1; }
	go vet ./...
	go vet -tags $(WINDOW),window $(DESKTOP)
	GOOS=darwin CGO_ENABLED=0 go vet ./...
	GOOS=darwin CGO_ENABLED=0 go build -o /dev/null .
	go tool staticcheck ./...
	go tool staticcheck -tags $(WINDOW),window $(DESKTOP)
	go tool errcheck -ignoretests ./...
	go tool errcheck -ignoretests -tags $(WINDOW),window $(DESKTOP)
	go tool exhaustive -d ./...
	go tool go-errorlint ./...

.PHONY: lint-page
lint-page:
	cd frontend && npm run check
	cd frontend && npm run lint

.PHONY: check
check: lint test ## what CI runs: lint and every test

.PHONY: bench
bench: setup build ## measure, and print each ratio beside its limit
	go run ./bench

.PHONY: vim
vim: ## hold the composer's Vim mode against Vim, 5,000 sequences; VIM_SEED=N begins elsewhere
	cd frontend && VIM_CASES=$${VIM_CASES:-5000} npx vitest run src/features/composer/editor/oracle

.PHONY: storm
storm: ## let the whole fault storm loose, 1,000 turns; STORM_SEED=N repeats one
	STORM_TURNS=$${STORM_TURNS:-1000} $(TESTENV) go test -count=1 -timeout 30m -v -run TestStorm ./agent/storm

.PHONY: fmt
fmt: ## format the Go files
	gofmt -w $$(git ls-files '*.go')

.PHONY: generate
generate: ## write the page's typed client, docs/settings.md and docs/shortcuts.md again
	go run ./app/wire/gen
	UPDATE=1 go test -count=1 -run TestTheSettingsPage ./app
	cd frontend && npx vitest run src/features/help/docs.test.ts --update

.PHONY: picture
picture: setup core ## take the README's picture again
	cd frontend && npm run picture

.PHONY: screenshots
screenshots: setup build ## take the pictures of the page again
	cd frontend && npm run screenshots
