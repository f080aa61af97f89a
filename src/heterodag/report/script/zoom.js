// Zoom and pan: buttons, keys, wheel (with Ctrl, or when the graph has the focus), drag and pinch.
const canvas = document.querySelector(".canvas");
let dragged = false; // the click that ends a drag does not count

if (canvas) {
  const [, , width, height] = graph.getAttribute("viewBox").split(" ").map(Number);
  const READABLE = 0.6; // below this scale the labels cannot be read
  let view = { x: 0, y: 0, w: width, h: height };

  const box = () => canvas.getBoundingClientRect();
  const show = (next) => {
    view = next;
    // The middle of the view stays on the graph.
    view.x = Math.min(Math.max(view.x, -view.w / 2), width - view.w / 2);
    view.y = Math.min(Math.max(view.y, -view.h / 2), height - view.h / 2);
    graph.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    canvas.classList.toggle("near", view.w < whole().w * 0.99);
  };
  // The view that holds the whole graph in the proportions of the canvas, never enlarged.
  const whole = () => {
    const { width: w, height: h } = box();
    const scale = Math.min(w / width, h / height, 1) || 1;
    return { x: (width - w / scale) / 2, y: (height - h / scale) / 2, w: w / scale, h: h / scale };
  };
  const zoom = (factor, clientX, clientY) => {
    const { left, top, width: w, height: h } = box();
    const across = clientX === undefined ? 0.5 : (clientX - left) / w, down = clientY === undefined ? 0.5 : (clientY - top) / h;
    const wide = Math.min(Math.max(view.w / factor, w / 4), Math.max(whole().w, w)), high = (wide * h) / w;
    show({ x: view.x + across * (view.w - wide), y: view.y + down * (view.h - high), w: wide, h: high });
  };
  const move = (dx, dy) => show({ ...view, x: view.x - (dx * view.w) / box().width, y: view.y - (dy * view.h) / box().height });
  const fit = () => show(whole());
  const start = () => {
    const w = canvas.clientWidth, natural = 16 + height * Math.min(1, Math.max(w / width, READABLE));
    canvas.style.height = `${Math.round(Math.min(Math.max(natural, 120), Math.max(0.78 * innerHeight, 320)))}px`;
    fit();
    // A graph that would be too small to read is shown at a readable scale, from its first causes on.
    const scale = canvas.clientWidth / view.w;
    if (scale < READABLE) {
      const w = box().width / READABLE, h = box().height / READABLE;
      show({ x: w < width ? 0 : (width - w) / 2, y: h < height ? 0 : (height - h) / 2, w, h });
    }
  };

  canvas.setAttribute("tabindex", "0");
  canvas.setAttribute("role", "group");
  canvas.setAttribute("aria-label", "Graph; plus and minus zoom, arrow keys move, 0 shows all");
  byId("zoom-in").addEventListener("click", () => zoom(1.4));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.4));
  byId("zoom-fit").addEventListener("click", fit);
  canvas.addEventListener("keydown", (event) => {
    if (event.target !== canvas) return;
    const actions = {
      "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: fit,
      ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
    };
    if (!(event.key in actions) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    actions[event.key]();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 200), event.clientX, event.clientY);
  }, { passive: false });

  const fingers = new Map();
  const apart = () => {
    const [a, b] = [...fingers.values()];
    return { size: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size === 1) { dragged = false; from = { x: event.clientX, y: event.clientY }; }
  });
  addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const before = fingers.size === 2 ? apart() : null, here = { x: event.clientX, y: event.clientY };
    if (!dragged && Math.hypot(here.x - from.x, here.y - from.y) < 5) return;
    dragged = true;
    canvas.classList.add("dragged");
    fingers.set(event.pointerId, here);
    if (before) {
      const after = apart();
      move(after.x - before.x, after.y - before.y);
      zoom(after.size / (before.size || 1), after.x, after.y);
    } else if (fingers.size === 1) move(here.x - last.x, here.y - last.y);
  });
  const lift = (event) => { fingers.delete(event.pointerId); canvas.classList.remove("dragged"); };
  addEventListener("pointerup", lift);
  addEventListener("pointercancel", lift);
  canvas.addEventListener("click", (event) => {
    if (dragged) { event.stopPropagation(); dragged = false; }
  }, true);

  let known = 0;
  new ResizeObserver(() => {
    if (canvas.clientWidth !== known) { known = canvas.clientWidth; start(); }
  }).observe(canvas);
  addEventListener("beforeprint", () => graph.setAttribute("viewBox", `0 0 ${width} ${height}`));
  addEventListener("afterprint", () => show(view));
}
