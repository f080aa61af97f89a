// The panel with the picture of one edge, its strengths and its evidence.
const panel = byId("panel");
let chosen = null, opener = null, moved = false;

const hasPicture = (number) => number < data.pictures.length;

function notes(number, outside, drawn) {
  const picture = data.pictures[number], said = [];
  if (picture.mean) {
    const others = picture.others ? `, ${picture.others === 1 ? "the other cause at its median" : `the other ${picture.others} causes at their medians`}` : "";
    said.push(`Line: the fitted mean. Band: the central ${data.level} of the effect${others}.`);
  }
  said.push(`${count(drawn, "row")} drawn${outside ? `; ${outside} of them ${outside === 1 ? "lies" : "lie"} outside the picture` : ""}.`);
  return said.map((text) => make("p", { class: "note" }, [text]));
}

// Rows as observed also differ in the other causes; on request they are moved to where the band is drawn.
function mover() {
  const box = make("input", { type: "checkbox", id: "moved" });
  box.checked = moved;
  box.addEventListener("change", () => { moved = box.checked; openEdge(chosen); byId("moved").focus(); });
  return make("label", { class: "note" }, [box, " Move the points to where the other causes are at their medians"]);
}

function mark(number) {
  for (const element of all(".chosen")) element.classList.remove("chosen");
  if (number !== null) for (const element of all(`g.edge[data-edge="${number}"], tr[data-edge="${number}"]`)) element.classList.add("chosen");
}

// Opening the panel makes the page narrower; what was clicked stays where it was on the screen.
function keepInPlace(element, change) {
  const before = element && element.getBoundingClientRect().top;
  change();
  if (element && element.isConnected) scrollBy({ top: element.getBoundingClientRect().top - before, behavior: "instant" });
}

function openEdge(number, event) {
  if (!hasPicture(number)) return;
  const target = event && event.currentTarget instanceof Element ? event.currentTarget : null;
  if (target && !panel.contains(target)) opener = target;
  chosen = number;
  const [i, j] = data.edges[number], several = data.pictures[number].others > 0;
  const { svg, outside, drawn } = drawPicture(number, moved && several);
  byId("panel-title").replaceChildren(nameOf(i), " → ", nameOf(j));
  const facts = data.pictures[number].facts.map((text) => make("li", {}, [text]));
  byId("panel-body").replaceChildren(svg, ...(several ? [mover()] : []), make("ul", {}, facts), ...notes(number, outside, drawn));
  keepInPlace(target, () => { panel.hidden = false; root.classList.add("with-panel"); });
  mark(number);
  if (event && event.type === "keydown") panel.focus({ preventScroll: true });
}

function closePanel() {
  if (panel.hidden) return;
  const inside = panel.contains(document.activeElement);
  keepInPlace(opener, () => { panel.hidden = true; root.classList.remove("with-panel"); });
  mark(null);
  chosen = null;
  if (inside && opener) opener.focus({ preventScroll: true });
}

// The next edge that is shown and has a picture, forwards or back.
function step(by) {
  const total = data.pictures.length;
  for (let k = 1; k <= total; k += 1) {
    const number = (((chosen + by * k) % total) + total) % total;
    if (!hidden.has(number)) return openEdge(number);
  }
}

byId("panel-close").addEventListener("click", closePanel);
byId("panel-back").addEventListener("click", () => step(-1));
byId("panel-on").addEventListener("click", () => step(1));
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  closePanel();
  if (graph && lit !== null) light(null);
});
for (const arrow of graph ? all(".edge", graph) : []) {
  const number = Number(arrow.dataset.edge), line = arrow.querySelector(".line");
  arrow.append(make("svg:path", { class: "hit", d: line.getAttribute("d") }));
  pressable(arrow, arrow.querySelector("title").textContent, (event) => openEdge(number, event));
}
for (const figure of all(".pictures figure")) figure.addEventListener("click", (event) => openEdge(Number(figure.dataset.edge), event));
listeners.push(() => { if (chosen !== null && hidden.has(chosen)) closePanel(); });
