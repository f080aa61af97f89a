// The slider for alpha: hides edges with less evidence in graph, matrix and table. It runs in nats on a log scale, from the
// weakest edge to the strongest, so that every part of it does something.
const slider = byId("threshold"), evidence = data.nats.filter((value) => value !== null);
const least = Math.max(0.1, Math.min(...evidence)), most = Math.max(0, ...evidence);

// In matrices one path holds many squares; its edges are listed in the same order.
const cells = all(".matrix .cells").map((path) => ({
  path, squares: path.getAttribute("d").split("z").slice(0, -1), numbers: path.dataset.edges.split(" ").map(Number),
}));

function describe(nats) {
  const digits = nats / Math.LN10, power = Math.floor(-digits), lead = 10 ** (-digits - power);
  const p = power > -4 ? (lead * 10 ** power).toPrecision(2) : `${lead.toFixed(0)}e${power}`;
  return `p ≤ ${p} (${nats.toFixed(nats < 100 ? 1 : 0)} nats)`;
}

function setThreshold() {
  const at = Number(slider.value) / 1000, limit = least * (most / least) ** at;
  hidden.clear();
  // At either end rounding must not decide: the lower end shows all edges, the upper end the strongest.
  if (at > 0) data.nats.forEach((nats, number) => { if (nats !== null && nats < limit - 0.06) hidden.add(number); });
  for (const element of all(".edge[data-edge], .matrix .open[data-edge]")) element.toggleAttribute("hidden", hidden.has(Number(element.dataset.edge)));
  for (const { path, squares, numbers } of cells) {
    path.setAttribute("d", squares.filter((_, k) => !hidden.has(numbers[k])).map((square) => `${square}z`).join(""));
  }
  byId("threshold-text").textContent = at > 0 ? describe(limit) : data.alpha ? `p ≤ ${data.alpha} (alpha)` : "any p-value";
  byId("threshold-count").textContent = `${data.edges.length - hidden.size} of ${count(data.edges.length, "edge")}`;
  for (const listener of listeners) listener();
}

if (evidence.length > 1 && most > least * 1.01) {
  byId("threshold-box").hidden = false;
  slider.addEventListener("input", setThreshold);
  setThreshold();
}

// A click on a mark of the matrix opens the picture of its edge.
for (const { path, squares, numbers } of cells) {
  path.addEventListener("click", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(path.getScreenCTM().inverse());
    const found = squares.findIndex((square) => {
      const [x, y, side] = square.match(/-?[\d.]+/g).map(Number);
      return point.x >= x && point.x <= x + side && point.y >= y && point.y <= y + side;
    });
    if (found >= 0) openEdge(numbers[found], event);
  });
}
for (const square of all(".matrix .open")) square.addEventListener("click", (event) => openEdge(Number(square.dataset.edge), event));
