export { default as ConversationView } from "./ConversationView.svelte";
export { Desk, provideDesk, useDesk } from "./desk.svelte";
export type { Conversation } from "./store.svelte";
export { default as TodoList } from "./TodoList.svelte";
