// Keys, mouse, pen and fingers: how a reader moves, zooms and divides a view.

const MOVED_BY_KEY = 40;

// Keys that every view understands.
const viewKeys = (view) => ({
  "+": () => view.step(1), "=": () => view.step(1), "-": () => view.step(-1), "0": () => view.setZoom("fit"),
  "1": () => view.setZoom(1), "2": () => view.setZoom(2), "4": () => view.setZoom(4), "8": () => view.setZoom(8),
  ArrowLeft: () => view.move(MOVED_BY_KEY, 0), ArrowRight: () => view.move(-MOVED_BY_KEY, 0),
  ArrowUp: () => view.move(0, MOVED_BY_KEY), ArrowDown: () => view.move(0, -MOVED_BY_KEY),
});

const dividerKeys = (view) => ({
  ArrowLeft: (step) => view.setSplit(view.split - step), ArrowRight: (step) => view.setSplit(view.split + step),
  Home: () => view.setSplit(0), End: () => view.setSplit(1),
});

// Keys with Ctrl, Alt or Meta are the browser's.
function addKeys(element, keys) {
  element.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    action(event.shiftKey ? 0.1 : 0.01);
    event.preventDefault();
    event.stopPropagation();
  });
}

// Pointer events are the same for mouse, pen and fingers. A `tool` takes a lone pointer if it wants to: it has
// `begin`, `move`, `end` and `drop`, which is told when a second finger makes a pinch of what was a stroke.
function addGestures(viewer, tool = null) {
  const { stage } = viewer;
  const pointers = new Map();
  const ratio = () => viewer.canvas.width / stage.clientWidth;
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  let dividing = false;
  let drawing = false;
  let apart = 0;
  stage.addEventListener("pointerdown", (event) => {
    const moves = event.button === 1 || (tool && event.button === 0 && tool.isMoving(event));
    if (event.button > 0 && !(tool && moves)) return;
    stage.setPointerCapture(event.pointerId);
    if (!pointers.size) {
      dividing = event.target.id === "divider";
      drawing = Boolean(tool) && !dividing && !moves && tool.begin(event);
    } else if (drawing) {
      tool.drop();
      drawing = false;
    }
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pointers.size === 2) apart = spread();
    stage.classList.toggle("moving", !drawing);
  });
  stage.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (tool) tool.hover(event);
    if (!last) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const area = stage.getBoundingClientRect();
    if (pointers.size === 2) {
      const right = (event.clientX - last.x) / 2;
      const down = (event.clientY - last.y) / 2;
      if (tool) viewer.move(right * ratio(), down * ratio());
      // Levels are whole numbers, so a pinch goes from one to the next each time it has grown by half.
      const grown = spread() / apart;
      if (grown > 1.5 || grown < 1 / 1.5) {
        viewer.step(Math.log(grown));
        apart = spread();
      }
    } else if (dividing) {
      viewer.setSplit((event.clientX - area.left) / area.width);
    } else if (drawing) {
      tool.move(event);
    } else {
      viewer.move((event.clientX - last.x) * ratio(), (event.clientY - last.y) * ratio());
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, (event) => {
      if (!pointers.delete(event.pointerId)) return;
      if (drawing && !pointers.size) (end === "pointerup" ? tool.end(event) : tool.drop());
      drawing = drawing && pointers.size > 0;
      stage.classList.toggle("moving", pointers.size > 0 && !drawing);
    });
  }
  // Without Ctrl the wheel is the tool's, or scrolls the page as everywhere; a trackpad's pinch arrives with it.
  stage.addEventListener("wheel", (event) => {
    const zooms = event.ctrlKey || event.metaKey;
    if (!zooms && !(tool && tool.wheel(event))) return;
    event.preventDefault();
    if (!zooms) return;
    const area = stage.getBoundingClientRect();
    const x = (event.clientX - area.left - area.width / 2) * ratio();
    const y = (event.clientY - area.top - area.height / 2) * ratio();
    viewer.step(-event.deltaY, x, y);
  }, { passive: false });
}
