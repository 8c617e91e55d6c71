export { default as ModePicker } from "./ModePicker.svelte";
export { default as SavedRules } from "./SavedRules.svelte";
export { default as RulesList } from "./RulesList.svelte";
export { default as QuestionRow } from "./QuestionRow.svelte";
