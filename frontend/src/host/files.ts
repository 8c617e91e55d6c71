// Pictures go by plain HTTP beside the socket, whose frames are too small for them.
import { CallError, type Uploaded } from "./host";

const lost = "The connection broke before the picture arrived. Attach it again.";

/** Hands a file to the core. */
export async function sendFile(file: Blob, name: string, key: string, signal?: AbortSignal): Promise<Uploaded> {
  let response: Response;
  try {
    response = await fetch(`/upload?name=${encodeURIComponent(name)}`, { method: "POST", headers: { authorization: `Bearer ${key}` }, body: file, ...(signal ? { signal } : {}) });
  } catch {
    throw new CallError("connection_lost", lost);
  }
  // A refusal of the gate is plain text, for nobody to read.
  const answer = (await response.json().catch(() => undefined)) as Uploaded | { code: string; message: string } | undefined;
  if (response.ok && answer && "id" in answer) return answer;
  if (answer && "message" in answer) throw new CallError(answer.code, answer.message);
  throw new CallError("upload", "Carrel did not take the picture. Attach it again.");
}

/** Reads a picture: /blob/… of a message, /upload/… one that waits for its message. */
export async function fetchPicture(kind: "blob" | "upload", path: readonly string[], key: string): Promise<Blob> {
  const response = await fetch(`/${[kind, ...path.map(encodeURIComponent)].join("/")}`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new CallError("not_found", "The picture is not there any more.");
  return response.blob();
}
