export { default as ModePicker } from "./ModePicker.svelte";
export { default as QuestionRow } from "./QuestionRow.svelte";
