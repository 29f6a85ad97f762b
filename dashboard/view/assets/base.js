// What every view needs: page elements, colours of the theme, the registry, and reading of packed columns.

import { STYLE } from "./style.js";

// One registry for the whole page: views are separate modules, but panels of one group must find each other,
// and a view that Streamlit takes away and brings back must find its camera again.
export const registry = (globalThis.graphViewRegistry ??= { cameras: new Map(), stages: new Set(), mounts: {} });
const views = (globalThis.graphViews ??= {}); // by key: how tests find a node on the screen

export function make(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text; // text, never HTML: names come from data sets
  return element;
}

export function makeButton(className, text, label, action) {
  const button = make("button", className, text);
  button.type = "button";
  button.setAttribute("aria-label", label);
  button.title = label;
  button.addEventListener("click", action);
  return button;
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text; // an aria-live region speaks at every change
}

// Streamlit calls the module's default function on mount and again whenever data or theme changed: the first call
// makes the view, the others update it.
export function mountWith(View) {
  const mounted = new WeakMap();
  return ({ parentElement, data, setTriggerValue }) => {
    let view = mounted.get(parentElement);
    if (!view) {
      view = new View(parentElement.querySelector(".graph-view"));
      mounted.set(parentElement, view);
      registry.mounts[data.key] = (registry.mounts[data.key] ?? 0) + 1;
    }
    view.mounts = registry.mounts[data.key];
    view.send = (id) => setTriggerValue("clicked", id); // a trigger: the same node twice is two clicks
    view.sendPair = (pair) => setTriggerValue("edited", pair);
    view.sendSize = (size) => setTriggerValue("sized", size);
    view.update(data);
    views[data.key] = view;
    for (const each of Object.values(views)) each.level?.();
    // A call that the next one overtook is ended after that: only the latest may take the view away.
    const turn = (view.turn = (view.turn ?? 0) + 1);
    return () => {
      if (view.turn !== turn) return;
      view.destroy();
      mounted.delete(parentElement);
      if (views[data.key] === view) delete views[data.key]; // unless a new view already took the key
    };
  };
}

// ---- packed columns -------------------------------------------------------------------------------------------

export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

export function pairsOf(base64, count) {
  const { buffer } = bytesOf(base64);
  return count > 65536 ? new Uint32Array(buffer) : new Uint16Array(buffer);
}

export async function inflate(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// ---- colours --------------------------------------------------------------------------------------------------

export function readTheme(element) {
  const style = getComputedStyle(element);
  const read = (name, otherwise) => style.getPropertyValue(`--st-${name}`).trim() || otherwise;
  const ground = read("background-color", "#ffffff");
  const text = read("text-color", "#1f2328");
  return {
    ground,
    text,
    accent: read("primary-color", "#0072b2"),
    ...Object.fromEntries(Object.entries(STYLE.shades).map(([name, share]) => [name, mix(text, ground, share)])),
    font: read("font", "sans-serif"),
    dark: brightness(ground) < 0.5,
  };
}

const parsedColours = new Map();

function channels(colour) {
  if (!parsedColours.has(colour)) parsedColours.set(colour, parseColour(colour));
  return parsedColours.get(colour);
}

function parseColour(colour) {
  const hex = /^#([0-9a-f]{6})/i.exec(colour)?.[1];
  if (hex) return [0, 2, 4].map((place) => parseInt(hex.slice(place, place + 2), 16));
  const numbers = colour.match(/[\d.]+/g); // a theme may also be given as rgb(...)
  return numbers?.length >= 3 ? numbers.slice(0, 3).map(Number) : [128, 128, 128];
}

// A faded colour is mixed with the ground, not made transparent: lines below do not show through a faded node.
export function mix(colour, ground, share) {
  const under = channels(ground);
  return `rgb(${channels(colour).map((part, i) => Math.round(part * share + under[i] * (1 - share))).join(",")})`;
}

export function brightness(colour) {
  const [red, green, blue] = channels(colour);
  return (0.3 * red + 0.59 * green + 0.11 * blue) / 255;
}

// ---- files ----------------------------------------------------------------------------------------------------

export function saveAs(name, blob) {
  const link = document.createElement("a");
  link.download = name.replace(/[^\w.-]+/g, "_");
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
