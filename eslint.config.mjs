import { existsSync } from "node:fs";
import next from "@next/eslint-plugin-next";
import { defineConfig, globalIgnores } from "eslint/config";
import hooks from "eslint-plugin-react-hooks";
import ts from "typescript-eslint";

/** Read where its own packages are there; without them nothing is known of what it calls. */
const engine = existsSync(new URL("packages/engine-restate/node_modules", import.meta.url))
  ? []
  : ["packages/engine-restate/**"];

export default defineConfig(
  globalIgnores([
    ...engine,
    ".next*/**",
    "dist/**",
    "node_modules/**",
    "next-env.d.ts",
    "db/migrations/**",
    "data/**",
    "test-results/**",
    "playwright-report/**",
  ]),
  // A rule that is switched off where it finds nothing hides what it finds later.
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [ts.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      // An async click handler is fine; an async function where a plain one is awaited for is not.
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", caughtErrors: "none", ignoreRestSiblings: true },
      ],
      // Interfaces and engines are async by contract, also where one implementation has nothing to wait for.
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      // `import { type X }` still loads the file, with all that it brings along; `import type { X }` does not.
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],
      // Stores and views here are plain objects made of closures: their methods have no `this` to lose.
      "@typescript-eslint/unbound-method": "off",
      // What must be there is asked for by `must` or `present` (server/domain/base/must.ts), which say where it was missing.
      "@typescript-eslint/no-non-null-assertion": "error",
      "no-eval": "error",
      "no-new-func": "error",
    },
  },
  {
    // What only tests and measurements use may take for granted what it has just made.
    files: [
      "**/*.test.ts",
      "**/*.test.tsx",
      "e2e/**/*.ts",
      "bench/**/*.ts",
      "bench/**/*.tsx",
      "**/testing/**",
      "**/testing*.{ts,tsx}",
      "server/conformance/**",
      "server/runner/durable-conformance.ts",
    ],
    rules: { "@typescript-eslint/no-non-null-assertion": "off" },
  },
  {
    // Tests read answers as JSON and say what they expect of them.
    files: ["**/*.test.ts", "**/*.test.tsx"],
    rules: {
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  {
    files: ["app/**/*.{ts,tsx}", "components/**/*.{ts,tsx}"],
    extends: [hooks.configs.flat["recommended-latest"], next.configs["core-web-vitals"]],
  },
  {
    // What the compiler skips, it skips without a word: then each change draws anew what it has nothing to do with. There
    // is no exception; one that must be is named here, by its file and with its reason.
    files: ["app/**/*.{ts,tsx}", "components/**/*.{ts,tsx}"],
    ignores: ["**/*.test.{ts,tsx}", "**/testing/**", "**/testing*.{ts,tsx}"],
    rules: {
      "react-hooks/todo": "error",
      "react-hooks/invariant": "error",
      // Where one of these is switched off, the compiler skips the whole function; its own rules do not tell.
      "no-warning-comments": [
        "error",
        { terms: ["react-hooks/exhaustive-deps", "react-hooks/rules-of-hooks"], location: "anywhere" },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "ExpressionStatement[directive='use no memo']",
          message: "Write it so that the compiler reads it.",
        },
      ],
    },
  },
  {
    files: ["scripts/**/*.mjs", "*.mjs"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    rules: {
      "no-unused-vars": "off",
      "no-var": "error",
      "prefer-const": "error",
      "no-eval": "error",
      "no-new-func": "error",
    },
  },
);
