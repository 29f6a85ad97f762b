// What `make lint` asks of the page's scripts: names that exist, nothing left over.

const browser = [
  "Blob", "DOMParser", "DecompressionStream", "ResizeObserver", "Response", "URL", "atob", "cancelAnimationFrame",
  "clearTimeout", "document", "getComputedStyle", "matchMedia", "performance", "requestAnimationFrame", "setTimeout",
  "window",
];

export default [
  {
    files: ["**/*.js"],
    languageOptions: {
      ecmaVersion: "latest",
      sourceType: "module",
      globals: Object.fromEntries(browser.map((name) => [name, "readonly"])),
    },
    rules: {
      "eqeqeq": "error",
      "no-dupe-keys": "error",
      "no-undef": "error",
      "no-unreachable": "error",
      "no-unused-vars": ["error", { args: "none" }], // an override keeps the arguments of what it overrides
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
