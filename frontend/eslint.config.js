import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

const features = "projects|workspaces|conversation|composer|changes|settings|connection|help|costs|search";

export default ts.config(
  { ignores: ["dist", ".fake", "node_modules", "screenshots", "src/host/api.gen.ts"] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: {
      parserOptions: { projectService: true, extraFileExtensions: [".svelte"], parser: ts.parser, svelteConfig },
    },
  },
  {
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "max-lines": ["error", { max: 400 }],
      // The compiler proves names better than this rule.
      "no-undef": "off",
      "svelte/require-each-key": "error",
      "svelte/no-at-html-tags": "error",
      "svelte/prefer-svelte-reactivity": "off",
      "no-restricted-syntax": [
        "error",
        { selector: "AssignmentExpression[left.property.name=/^(inner|outer)HTML$/]", message: "Untrusted text goes through ui/Markdown.svelte." },
        { selector: "MemberExpression[object.name='localStorage']", message: "Preferences live in the core." },
      ],
      // A feature shows the others its index and nothing else.
      "no-restricted-imports": [
        "error",
        { patterns: [{ regex: `^(\\.\\./)+(features/)?(${features})/(?!index$)`, message: "Import the feature's index." }] },
      ],
    },
  },
  { files: ["**/*.svelte"], rules: { "max-lines": ["error", { max: 260 }] } },
  // The one component that turns text into HTML; it sanitises.
  { files: ["src/ui/Markdown.svelte"], rules: { "svelte/no-at-html-tags": "off" } },
);
