// Keys, mouse, pen and fingers: how a reader tells the viewer what to do.

function addKeys(viewer) {
  const distance = 40;
  const keys = {
    "+": () => viewer.step(1), "=": () => viewer.step(1), "-": () => viewer.step(-1), "0": () => viewer.setZoom("fit"),
    "1": () => viewer.setZoom(1), "2": () => viewer.setZoom(2), "4": () => viewer.setZoom(4), "8": () => viewer.setZoom(8),
    ArrowLeft: () => viewer.move(distance, 0), ArrowRight: () => viewer.move(-distance, 0),
    ArrowUp: () => viewer.move(0, distance), ArrowDown: () => viewer.move(0, -distance),
    x: () => viewer.swap(), e: () => viewer.toggleErrors(),
    "[": () => viewer.show(viewer.number - 1), "]": () => viewer.show(viewer.number + 1),
  };
  const slides = {
    ArrowLeft: (step) => viewer.setSplit(viewer.split - step), ArrowRight: (step) => viewer.setSplit(viewer.split + step),
    Home: () => viewer.setSplit(0), End: () => viewer.setSplit(1),
  };
  const pressed = (event, action) => {
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    action(event.shiftKey ? 0.1 : 0.01);
    event.preventDefault();
    event.stopPropagation();
  };
  byId("divider").addEventListener("keydown", (event) => pressed(event, slides[event.key]));
  viewer.stage.addEventListener("keydown", (event) => pressed(event, keys[event.key]));
}

// Pointer events are the same for mouse, pen and fingers.
function addGestures(viewer) {
  const { stage } = viewer;
  const pointers = new Map();
  const ratio = () => viewer.canvas.width / stage.clientWidth;
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  let dividing = false;
  let apart = 0;
  stage.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    stage.setPointerCapture(event.pointerId);
    if (!pointers.size) dividing = event.target.id === "divider";
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pointers.size === 2) apart = spread();
    stage.classList.add("moving");
  });
  stage.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const area = stage.getBoundingClientRect();
    if (pointers.size === 2) {
      // Levels are whole numbers, so a pinch goes from one to the next each time it has grown by half.
      const grown = spread() / apart;
      if (grown > 1.5 || grown < 1 / 1.5) {
        viewer.step(Math.log(grown));
        apart = spread();
      }
    } else if (dividing) {
      viewer.setSplit((event.clientX - area.left) / area.width);
    } else {
      viewer.move((event.clientX - last.x) * ratio(), (event.clientY - last.y) * ratio());
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      stage.classList.toggle("moving", pointers.size > 0);
    });
  }
  // Without Ctrl the wheel scrolls the page, as everywhere; a trackpad's pinch arrives with it.
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const area = stage.getBoundingClientRect();
    const x = (event.clientX - area.left - area.width / 2) * ratio();
    const y = (event.clientY - area.top - area.height / 2) * ratio();
    viewer.step(-event.deltaY, x, y);
  }, { passive: false });
}
