// Click a variable: its ancestors and descendants light up, the rest fades.
let lit = null;

// All variables that can be reached from one, along the arrows (from = 0) or against them (from = 1).
function reached(start, from) {
  const found = new Set(), queue = [start];
  while (queue.length) {
    const node = queue.pop();
    data.edges.forEach((edge, number) => {
      const next = edge[1 - from];
      if (edge[from] !== node || hidden.has(number) || found.has(next)) return;
      found.add(next);
      queue.push(next);
    });
  }
  return found;
}

function named(nodes, className, noun) {
  const line = make("span", { class: className }, [make("b", {}, [count(nodes.size, noun)])]);
  [...nodes].forEach((node, k) => line.append(k ? ", " : ": ", nameOf(node)));
  return line;
}

function light(node) {
  lit = node;
  const line = byId("lit");
  graph.classList.toggle("lighted", node !== null);
  line.hidden = node === null;
  const above = node === null ? new Set() : reached(node, 1), below = node === null ? new Set() : reached(node, 0);
  const within = (set, edge) => edge.every((end) => end === node || set.has(end));
  for (const box of all(".node", graph)) {
    const own = Number(box.dataset.node);
    box.classList.toggle("self", own === node);
    box.classList.toggle("above", above.has(own));
    box.classList.toggle("below", below.has(own));
    box.setAttribute("aria-pressed", String(own === node));
  }
  for (const arrow of all(".edge", graph)) {
    const edge = data.edges[arrow.dataset.edge];
    arrow.classList.toggle("above", node !== null && within(above, edge));
    arrow.classList.toggle("below", node !== null && within(below, edge));
  }
  if (node === null) return;
  line.replaceChildren(nameOf(node), ": ", named(above, "above", "ancestor"), "; ", named(below, "below", "descendant"), ".");
}

if (graph) {
  graph.setAttribute("role", "group");
  for (const box of all(".node", graph)) {
    const node = Number(box.dataset.node), text = box.querySelector("text"), room = box.querySelector("rect").width.baseVal.value - 8;
    pressable(box, `${data.names[node]}: ancestors and descendants`, () => light(lit === node ? null : node));
    // Boxes are made for a wide font; should a name still not fit, it is squeezed.
    if (text.getComputedTextLength() > room) {
      text.setAttribute("textLength", room);
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }
  listeners.push(() => { if (lit !== null) light(lit); });
}
