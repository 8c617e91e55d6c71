// Package wire serves the services and events of package app to any host over one WebSocket.
//
// Text frames hold one JSON object each. The host speaks first:
//
//	{"hello":{"token":"...","role":"browser","version":"...","since":N,"core":"ID","join":["conversation/ID"]}}
//	{"id":1,"call":"projects.add","args":{...}}    {"cancel":1}
//	{"join":["conversation/ID"]}    {"leave":["conversation/ID"]}
//	{"answer":1,"ok":...}    {"answer":1,"error":{"code":"...","message":"..."}}
//
// and the core answers:
//
//	{"welcome":{"core":"ID","version":"...","seq":N,"resumed":true}}
//	{"id":1,"ok":...}    {"id":1,"error":{"code":"...","message":"..."}}
//	{"seq":N,"event":"workspace.changed","data":{...}}
//	{"events":[{"seq":N,"event":"...","data":{...}},...]}    when several wait
//	{"reset":true,"seq":N}
//	{"ask":1,"call":"pickFolder","args":{...}}
//	{"error":{"code":"...","message":"..."}}    before it closes a connection that it refuses
//
// It promises:
//
//   - Events reach a host in the order of their sequence numbers, each once. Growths of one text
//     are merged while they wait, so numbers may be skipped; a host remembers the last it saw.
//   - A host that comes back within the last 4,096 events or 8 MiB, to the same core, with since,
//     core and join in its hello misses nothing (welcome.resumed). Otherwise, and after a reset
//     (it was too slow), it takes its snapshots again.
//   - Events with a topic reach only hosts that joined it.
//   - Replies and control overtake events, and events overtake stream data. A slow host costs the
//     core a bounded amount of memory and nobody else any time.
//   - What hangs on a connection ends with it: calls are cancelled, streams closed.
//   - Slices and maps are never null.
//
// Binary frames carry byte streams, see Stream.
package wire
