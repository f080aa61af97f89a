// What all parts share: the data, the page, and which edges the slider hides.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const root = document.documentElement;
root.classList.add("live");

// The page contains no address, not even that of a namespace, so the namespace is read from an SVG element.
const holder = document.createElement("div");
holder.innerHTML = "<svg></svg>";
const SVG = holder.firstChild.namespaceURI;

function make(tag, attributes = {}, children = []) {
  const [name, namespace] = tag.startsWith("svg:") ? [tag.slice(4), SVG] : [tag, root.namespaceURI];
  const element = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Names in lists and headings are kept apart from the direction of their surroundings.
const nameOf = (node) => make("bdi", {}, [data.names[node]]);
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

const hidden = new Set(); // numbers of the edges that the slider hides
const listeners = []; // called when the hidden edges change
const graph = document.querySelector("svg.graph");

// Enter and Space do what a click does.
function pressable(element, label, action) {
  element.setAttribute("tabindex", "0");
  element.setAttribute("role", "button");
  element.setAttribute("aria-label", label);
  element.addEventListener("click", action);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    action(event);
  });
}

addEventListener("beforeprint", () => {
  for (const details of all("details:not([open])")) {
    details.open = true;
    addEventListener("afterprint", () => { details.open = false; }, { once: true });
  }
});
