// The edge table: sort by any column, search by cause or effect, open the picture of a row.
const table = byId("edge-table");

if (table) {
  const body = table.tBodies[0], rows = [...body.rows], wanted = byId("search");
  const names = rows.map((row) => data.edges[row.dataset.edge].map((node) => data.names[node].toLowerCase()));
  const heads = [...table.tHead.rows[0].cells];

  const numberOf = (cell) => (cell.dataset.v === "" ? NaN : cell.dataset.v === "inf" ? Infinity : Number(cell.dataset.v));
  const compare = (a, b) => {
    if (a.dataset.v === undefined) return a.textContent.localeCompare(b.textContent);
    const [x, y] = [numberOf(a), numberOf(b)];
    return Number.isNaN(x) - Number.isNaN(y) || (x < y ? -1 : x > y ? 1 : 0);
  };
  // P-values are sorted by the evidence behind them, which does not underflow: the smallest p-value has the most.
  const sort = (column, direction) => {
    const sign = heads[column].textContent === "p-value" ? -direction : direction;
    const blank = (row) => row.cells[column].dataset.v === "";
    const ranked = [...rows].sort((a, b) => blank(a) - blank(b) || sign * compare(a.cells[column], b.cells[column]));
    body.append(...ranked);
    heads.forEach((head, k) => head.setAttribute("aria-sort", k !== column ? "none" : direction > 0 ? "ascending" : "descending"));
  };
  heads.forEach((head, column) => {
    const button = make("button", { type: "button" }, [...head.childNodes]), isNumber = head.classList.contains("number");
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const first = isNumber && head.textContent !== "p-value" ? -1 : 1; // numbers start with the largest
      sort(column, now === "ascending" ? -1 : now === "descending" ? 1 : first);
    });
    head.setAttribute("aria-sort", "none");
  });

  const filter = () => {
    const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, k) => {
      const found = words.every((word) => names[k].some((name) => name.includes(word)));
      row.hidden = !found || hidden.has(Number(row.dataset.edge));
      shown += !row.hidden;
    });
    byId("search-count").textContent = shown === rows.length ? "" : `${shown} of ${count(rows.length, "edge")}`;
  };
  wanted.addEventListener("input", filter);
  listeners.push(filter);

  table.tHead.rows[0].append(make("th", { scope: "col", "aria-label": "Picture" }));
  rows.forEach((row, k) => {
    const number = Number(row.dataset.edge), cell = row.insertCell();
    if (!hasPicture(number)) return;
    const button = make("button", { type: "button", "aria-label": `Picture of ${names[k].join(" → ")}` }, ["picture"]);
    cell.append(button);
    row.addEventListener("click", (event) => { if (!String(getSelection())) openEdge(number, event); });
  });
}
