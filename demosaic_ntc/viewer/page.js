// What surrounds the viewer: sortable tables and the colour scheme; at the end everything is started.

// ---- Tables -----------------------------------------------------------------------------------------------

// Cells sort by `data-value`; where there is none they stay at the end, whichever way the rest is sorted.
function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const rising = heads[column].getAttribute("aria-sort") !== "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", rising ? "ascending" : "descending");
  const value = (row) => row.cells[column].dataset.value ?? "";
  const compare = (a, b) => {
    if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1);
    const order = a - b || a.localeCompare(b, undefined, { numeric: true });
    return rising ? order : -order;
  };
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b))));
}

for (const table of document.querySelectorAll("table")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = made("button", { type: "button", onclick: () => sortBy(table, column) }, head.textContent);
    head.replaceChildren(button);
  });
}

// ---- Colour scheme ----------------------------------------------------------------------------------------

addTheme(byId("theme"));

{
  const scenes = JSON.parse(byId("scenes").textContent);
  byId("viewer").hidden = !scenes.length;
  if (scenes.length) new Viewer(scenes);
}
