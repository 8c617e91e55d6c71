// A model server that says what a journey wants, when it wants it, in the Anthropic Messages format.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What Carrel asked. */
export interface Asked {
  /** The text of the newest message of the person. */
  prompt: string;
  /** The text of every tool result that came with this request's last message. */
  results: string[];
  /** The whole request. */
  body: Record<string, unknown>;
}

/** Says one answer; it ends when the function returns. */
export type Answer = (say: Say, asked: Asked) => void | Promise<void>;

interface Block {
  type: string;
  text?: string;
  content?: string | Block[];
}

export class FakeModel {
  readonly asked: Asked[] = [];
  /** The models that it lists. */
  listed: string[] = [];
  #server: Server;
  #answers: Answer[] = [];

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<FakeModel> {
    const model = new FakeModel();
    await new Promise<void>((done) => model.#server.listen(0, "127.0.0.1", done));
    return model;
  }

  /** The entry for providers.jsonc. */
  get providers(): object {
    const { port } = this.#server.address() as AddressInfo;
    return { anthropic: { apiKey: "sk-fake", baseUrl: `http://127.0.0.1:${port}` } };
  }

  /** The next answers, one for each request. Without one the model says "Done." */
  answers(...answers: Answer[]): void {
    this.#answers.push(...answers);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(() => done()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const piece of request) body += String(piece);
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: this.listed.map((id) => ({ id, type: "model", display_name: id })), has_more: false }));
      return;
    }
    const asked = read(body);
    this.asked.push(asked);
    const answer = this.#answers.shift() ?? ((say: Say) => say.text("Done."));
    const say = new Say(response);
    await answer(say, asked);
    say.end();
  }
}

/** The mouth of the model. */
export class Say {
  #response: ServerResponse;
  #index = -1;
  #open = "";
  #calls = 0;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Refuses the request, before anything was said. */
  refuse(status: number, type: string, message: string, headers: Record<string, string> = {}): void {
    this.#response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify({ type: "error", error: { type, message } }));
  }

  #begin(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, { "content-type": "text/event-stream" });
    this.#event("message_start", { message: { id: "msg_1", type: "message", role: "assistant", model: "fake", content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1200, output_tokens: 1 } } });
  }

  /** More text; it joins what was said before. */
  text(piece: string): void {
    this.#block("text", { type: "text", text: "" });
    this.#event("content_block_delta", { index: this.#index, delta: { type: "text_delta", text: piece } });
  }

  thought(text: string): void {
    this.#block("thinking", { type: "thinking", thinking: "", signature: "" });
    this.#event("content_block_delta", { index: this.#index, delta: { type: "thinking_delta", thinking: text } });
    this.#event("content_block_delta", { index: this.#index, delta: { type: "signature_delta", signature: "c2lnbmVk" } });
  }

  call(name: string, input: object): void {
    this.#calls++;
    this.#block(`call ${this.#calls}`, { type: "tool_use", id: `toolu_${Date.now()}_${this.#calls}`, name, input: {} });
    this.#event("content_block_delta", { index: this.#index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } });
  }

  end(): void {
    if (this.#response.writableEnded) return;
    this.#begin();
    this.#stop();
    this.#event("message_delta", { delta: { stop_reason: this.#calls > 0 ? "tool_use" : "end_turn", stop_sequence: null }, usage: { output_tokens: 340 } });
    this.#event("message_stop", {});
    this.#response.end();
  }

  #block(key: string, start: object): void {
    if (this.#open === key) return;
    this.#begin();
    this.#stop();
    this.#open = key;
    this.#index++;
    this.#event("content_block_start", { index: this.#index, content_block: start });
  }

  #stop(): void {
    if (this.#open) this.#event("content_block_stop", { index: this.#index });
    this.#open = "";
  }

  #event(type: string, data: object): void {
    this.#response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  }
}

/** A door that a journey opens when it has seen enough. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((done) => (open = done));
  return { opened, open };
}

function read(body: string): Asked {
  const parsed = JSON.parse(body) as Record<string, unknown>;
  const { messages } = parsed as { messages: { role: string; content: string | Block[] }[] };
  const blocks = (content: string | Block[] | undefined): Block[] => (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []));
  const text = (list: Block[]) => list.filter((block) => block.type === "text").map((block) => block.text ?? "").join("\n");
  const people = messages.filter((message) => message.role === "user").map((message) => text(blocks(message.content)));
  const last = blocks(messages[messages.length - 1]?.content);
  return {
    body: parsed,
    prompt: people.findLast((said) => said !== "") ?? "",
    results: last.filter((block) => block.type === "tool_result").map((block) => text(blocks(block.content))),
  };
}
