// A person at a page of Carrel: what they do, and what they must never see happen.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Carrel } from "./carrel";
import { watchErrors } from "./browser";

interface HeardEvent {
  event?: string;
  data?: { status?: { activity?: string } };
}

/** The events in one frame: one by itself, or several that waited. */
function events(payload: string): HeardEvent[] {
  const frame = JSON.parse(payload) as HeardEvent & { events?: HeardEvent[] };
  return frame.events ?? [frame];
}

/** What stands in a box that is a plain textarea until its editor is there. */
export function written(box: Locator): Promise<string> {
  return box.evaluate((element) => {
    if (element instanceof HTMLTextAreaElement) return element.value;
    return [...element.querySelectorAll(".cm-line")].map((line) => (line.querySelector(".cm-placeholder") ? "" : (line.textContent ?? ""))).join("\n");
  });
}

export class Person {
  readonly page: Page;
  readonly carrel: Carrel;
  readonly errors: string[];
  /** Every address that the page asked for, and every socket that it opened. */
  readonly requests: string[] = [];
  /** How many turns have ended, as the server told this page. */
  #ended = 0;
  /** Native dialogs and windows: the page has no reason for any. */
  readonly surprises: string[] = [];
  /** Where windows may go that the person asked for. */
  readonly #expected: string[] = [];

  constructor(page: Page, carrel: Carrel) {
    this.page = page;
    this.carrel = carrel;
    this.errors = watchErrors(page);
    page.setDefaultTimeout(30_000);
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("websocket", (socket) => {
      this.requests.push(socket.url());
      let working = false;
      socket.on("framereceived", ({ payload }) => {
        if (typeof payload !== "string") return; // of a stream
        for (const event of events(payload)) {
          if (event.event !== "conversation.changed") continue;
          const works = /^(preparing|streaming|running_tools|interrupting|retrying|recovering)$/.test(event.data?.status?.activity ?? "");
          if (working && !works) this.#ended++;
          working = works;
        }
      });
    });
    page.on("dialog", (dialog) => {
      this.surprises.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("popup", (popup) => this.surprises.push(popup.url()));
  }

  /** What went wrong so far; a link that broke on purpose is no error. */
  complaints(): string[] {
    const host = new URL(this.carrel.link).host;
    const foreign = this.requests.filter((address) => new URL(address.replace(/^blob:/, "")).host !== host).map((address) => `asked ${address}`);
    const surprises = this.surprises.filter((one) => !this.#expected.some((address) => one.startsWith(address)));
    return [...this.errors.filter((error) => !/WebSocket connection to|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED/.test(error)), ...surprises, ...foreign];
  }

  /** Windows that go there are no surprise. */
  expect(address: string): void {
    this.#expected.push(address);
  }

  /** Closes the windows that were opened, and looks at the page again: one behind another hardly draws. */
  async comeBack(): Promise<void> {
    for (const other of this.page.context().pages()) if (other !== this.page) await other.close();
    await this.page.bringToFront();
  }

  /** Opens the address as it was printed. */
  async arrive(): Promise<void> {
    await this.page.goto(this.carrel.link);
    await this.connected();
  }

  async connected(): Promise<void> {
    const narrow = (this.page.viewportSize()?.width ?? 0) <= 760;
    const sign = narrow ? this.page.getByRole("heading").first() : this.page.getByRole("navigation").getByText("Connected", { exact: true });
    await sign.waitFor();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name, exact: typeof name === "string" });
  }

  dialog(title: string | RegExp): Locator {
    return this.page.getByRole("dialog", { name: title });
  }

  /** The workspace's row in the sidebar. */
  row(title: string): Locator {
    return this.page.getByRole("navigation").getByRole("button").filter({ has: this.page.locator(".title").getByText(title, { exact: true }) });
  }

  get log(): Locator {
    return this.page.getByRole("log", { name: "Conversation" });
  }

  get composer(): Locator {
    return this.page.getByRole("textbox", { name: "Message" });
  }

  /** What stands in the composer. */
  async written(): Promise<string> {
    return written(this.composer);
  }

  get waiting(): Locator {
    return this.page.getByRole("region", { name: "Waiting messages" });
  }

  get changes(): Locator {
    return this.page.getByRole("complementary", { name: "Changes" });
  }

  /** A tool call's line, by what it did and to what. */
  tool(words: RegExp): Locator {
    return this.log.getByRole("button", { expanded: false, name: words }).or(this.log.getByRole("button", { expanded: true, name: words }));
  }

  /** Adds a project by typing its path. */
  async addProject(path: string): Promise<void> {
    await this.button("Add a project").first().click();
    const dialog = this.dialog("Add a project");
    await dialog.getByLabel("Folder", { exact: true }).fill(path);
    await dialog.getByRole("button", { name: "Add project" }).click();
    await dialog.waitFor({ state: "detached" });
  }

  /** Fills the dialog of a new workspace, which is open, and creates it. */
  async createWorkspace(title: string): Promise<void> {
    const dialog = this.dialog("New workspace");
    await dialog.getByLabel("What is it for?").fill(title);
    await dialog.getByRole("button", { name: /Create workspace/ }).click();
    await dialog.waitFor({ state: "detached" });
    await this.page.getByRole("heading", { level: 1, name: title }).waitFor();
  }

  /** Another workspace in the project of the one that is open. */
  async newWorkspace(title: string): Promise<void> {
    await this.page.getByRole("navigation").getByRole("button", { name: "New workspace", exact: true }).click();
    await this.createWorkspace(title);
  }

  /** A project and a workspace in it, ready for a message. */
  async settle(path: string, title: string): Promise<void> {
    await this.addProject(path);
    await this.createWorkspace(title);
  }

  async write(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
  }

  /** Waits until no turn runs. */
  async rest(): Promise<void> {
    await this.page.getByRole("status").filter({ hasText: /Asking|Answering|Running|Stopping/ }).waitFor({ state: "detached", timeout: 60_000 });
    // A message that is edited has a button to send it, too, until the edit has gone out.
    await this.log.getByRole("group", { name: "Edit your message" }).waitFor({ state: "detached" });
    await this.button(/^Send/).waitFor();
  }

  /** Sends a message and waits for the end of its turn. */
  async ask(text: string): Promise<void> {
    const before = this.#ended;
    await this.write(text);
    await expect.poll(() => this.#ended, { timeout: 60_000 }).toBeGreaterThan(before);
    await this.rest();
  }

  /** A message that the person sent. */
  message(text: string): Locator {
    return this.log.locator(".user", { hasText: text });
  }

  /** The texts that the person sent, as the conversation shows them. */
  async said(): Promise<string[]> {
    const all = await this.log.locator(".user").allInnerTexts();
    return all.map((text) => text.replace(/^You:\s*/, ""));
  }

  /** Chooses from a workspace's menu. */
  async menu(item: string | RegExp): Promise<void> {
    await this.button("More").click();
    await this.page.getByRole("menuitem", { name: item }).click();
  }
}
