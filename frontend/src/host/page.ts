// The host of the real page, in a browser and in the desktop window. They differ only in the folder
// dialog and in how a link leaves the app.
import { client, safeAddress, type Host, type PickResult } from "./host";
import { keepDrops } from "./drops";
import { fetchPicture, sendFile } from "./files";
import { readIdentity, rememberKey } from "./key";
import { Wire, type Socket } from "./wire";

/** Connects the page to the core that served it. */
export function connectPage(version: string): Host {
  const identity = readIdentity(location, history, sessionStorage);
  let { key } = identity;
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;
  const wire = new Wire({
    connect: () => {
      const socket = new WebSocket(address);
      socket.binaryType = "arraybuffer";
      return socket as unknown as Socket;
    },
    key,
    version,
  });
  const api = client(wire.call);
  wire.start();
  keepDrops(identity.kind, document);
  const retry = () => {
    if (wire.state().kind === "offline") wire.reconnect();
  };
  addEventListener("online", retry);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) retry();
  });
  return {
    kind: identity.kind,
    older: identity.older,
    api,
    connection: () => wire.state(),
    listen: (listener) => wire.listen(listener),
    join: (topic) => wire.join(topic),
    openStream: (name, args, listener) => wire.streams.open(name, args, listener),
    reconnect: (typed) => {
      if (typed !== undefined) key = rememberKey(typed, sessionStorage);
      wire.reconnect(typed === undefined ? undefined : key);
    },
    upload: (file, name, signal) => sendFile(file, name, key, signal),
    picture: (workspace, blob) => fetchPicture("blob", [workspace, blob], key),
    uploaded: (id) => fetchPicture("upload", [id], key),
    pickFolder: async (): Promise<PickResult> => {
      if (identity.kind !== "desktop") return { kind: "no_dialog" };
      const picked = await api.system.pickFolder();
      return picked.cancelled ? { kind: "cancelled" } : { kind: "picked", path: picked.path };
    },
    openLink: (link) => {
      const safe = safeAddress(link);
      if (safe === undefined) return false;
      // The window has no tabs: its process hands addresses to the person's browser or mail program.
      if (identity.kind === "desktop") void api.system.openURL({ url: safe });
      else window.open(safe, "_blank", "noopener,noreferrer");
      return true;
    },
  };
}
