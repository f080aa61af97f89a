// The picture of an edge: effect against cause, the fitted mean, and the band of the moving spread.
// `draw_picture` in edge_pictures.py draws the same for readers without a script.
const SCALE = data.scale, [LEFT, TOP, WIDTH, HEIGHT] = data.plot;
const FRAME = { x: LEFT, y: TOP, width: WIDTH, height: HEIGHT };

function curve(xs, ys) {
  return "M" + ys.map((y, k) => `${xs[k]} ${SCALE - y}`).join("L");
}

// The rows that can be drawn, and how many lie outside the picture.
function scatter(cause, effect, values) {
  const set = new Set(effect.set), inside = (value) => value >= 0 && value <= SCALE;
  let dots = "", outside = 0;
  cause.points.forEach((x, k) => {
    if (set.has(k)) return;
    const y = values[k];
    if (inside(x) && inside(y)) dots += `M${x} ${SCALE - y}h0`;
    else outside += 1;
  });
  return { dots, outside, drawn: cause.points.length - set.size };
}

// `moved`: the points as they would be with the other causes at their medians, their noise kept.
function drawPicture(number, moved) {
  const [i, j] = data.edges[number], picture = data.pictures[number];
  const cause = data.variables[i], effect = data.variables[j], values = moved ? picture.moved : effect.points;
  const { dots, outside, drawn } = scatter(cause, effect, values);
  const inner = make("svg:svg", { ...FRAME, viewBox: `0 0 ${SCALE} ${SCALE}`, preserveAspectRatio: "none" });
  const points = make("svg:path", { class: "dots", d: dots });
  if (picture.mean) {
    const [first, last] = picture.from, steps = picture.mean.length - 1;
    const xs = picture.mean.map((_, k) => Math.round(first + ((last - first) * k) / steps));
    const back = curve([...xs].reverse(), [...picture.lower].reverse()).slice(1);
    inner.append(make("svg:path", { class: "band", d: `${curve(xs, picture.upper)}L${back}z` }), points,
      make("svg:path", { class: "mean", d: curve(xs, picture.mean) }));
  } else inner.append(points);
  const text = (attributes, content) => make("svg:text", attributes, [content]);
  const svg = make("svg:svg", { class: "picture", viewBox: `0 0 ${data.size.join(" ")}`, role: "img",
    "aria-label": `${data.names[j]} against ${data.names[i]}` }, [make("svg:rect", { class: "field", ...FRAME })]);
  for (const [at, label] of cause.ticks) svg.append(text({ class: "x", x: LEFT + (WIDTH * at) / SCALE, y: TOP + HEIGHT + 16 }, label));
  for (const [at, label] of effect.ticks) svg.append(text({ class: "y", x: LEFT - 6, y: TOP + HEIGHT * (1 - at / SCALE) + 4 }, label));
  svg.append(text({ class: "axis", x: LEFT + WIDTH / 2, y: data.size[1] - 6 }, cause.across),
    text({ class: "axis", transform: `translate(13 ${TOP + HEIGHT / 2}) rotate(-90)` }, effect.upward), inner);
  return { svg, outside, drawn };
}
