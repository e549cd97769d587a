// Every control by a key.

const KEYS = [
  ["B E L R P H", "brush, eraser, line, rectangle, polygon, move"],
  ["[ ] or wheel", "smaller and larger brush"],
  ["Ctrl and wheel, + −", "zoom; 0 fits, 1 2 4 8 enlarge"],
  ["Arrows, Space and drag", "move the picture"],
  ["D", "put the tool down and up in the middle; arrows draw between"],
  ["Enter", "close a polygon; else repair what is new"],
  ["Shift+Enter", "repair everything that is marked"],
  ["Esc", "drop what is being drawn; cancel"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["Shift+Delete", "clear the mask"],
  ["I", "mark what is not"],
  ["M", "show the mask"],
  ["C", "before and after; arrows move the divider when it has the focus"],
  ["V", "hold to see what was there"],
  ["U", "show how far off it may be"],
  ["Ctrl+S", "save"],
  ["Ctrl+O", "open"],
  ["Page Up, Page Down", "the pictures of a folder"],
  ["?", "these keys"],
];

function addStudioKeys(studio) {
  const { easel, tools } = studio;
  byId("keys-list").append(...KEYS.flatMap(([keys, words]) => [made("dt", { textContent: keys }), made("dd", { textContent: words })]));
  const named = { b: "brush", e: "eraser", l: "line", r: "rectangle", p: "polygon", h: "hand" };
  const views = viewKeys(easel);
  const plain = {
    ...Object.fromEntries(Object.entries(views).map(([key, action]) => [key, () => { action(); tools.moved(); }])),
    ...Object.fromEntries(Object.entries(named).map(([key, name]) => [key, () => tools.choose(name)])),
    "[": () => tools.resize(1 / 1.15), "]": () => tools.resize(1.15),
    d: () => tools.press(), i: () => studio.step("invert"), m: () => studio.toggle("showsMask"),
    c: () => studio.toggle("dividing"), u: () => studio.toggle("showsDoubt"),
    Enter: () => (easel.sketch?.tool === "polygon" ? tools.finish() : studio.repair("new")),
    Escape: () => (easel.sketch ? tools.drop() : studio.cancelAll()),
    PageUp: () => studio.showNext(-1), PageDown: () => studio.showNext(1),
    "?": () => byId("keys-dialog").showModal(),
    v: () => { easel.holding = true; easel.update(); },
    " ": () => { tools.spaced = true; easel.update(); },
  };
  const shifted = { Enter: () => studio.repair("all"), Delete: () => studio.step("clear"), "?": plain["?"], "+": plain["+"] };
  const controlled = {
    z: () => studio.step("undo"), Z: () => studio.step("redo"), y: () => studio.step("redo"),
    s: () => studio.save(), o: () => byId("file").click(),
  };
  const isTyped = (element) => element.matches("input, select, textarea, summary, button, label");
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.altKey) return;
    const actions = event.ctrlKey || event.metaKey ? controlled : event.shiftKey ? shifted : plain;
    const action = actions[event.key];
    const own = isTyped(event.target) && [" ", "Enter", "Home", "End", "PageUp", "PageDown"].includes(event.key);
    const moves = event.target.matches("input, select, textarea") && actions !== controlled;
    if (!action || own || moves || (event.target.id === "divider" && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    action();
  });
  document.addEventListener("keyup", (event) => {
    if (event.key === "v") easel.holding = false;
    if (event.key === " ") tools.spaced = false;
    if (["v", " "].includes(event.key)) easel.update();
  });
  addKeys(byId("divider"), dividerKeys(easel));
}
