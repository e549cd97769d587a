// A picture on a canvas: which part of it is seen, how large, and where the divider is.

// One canvas pixel per screen pixel: 1:1 means that and nothing else, whatever the page is zoomed to.
// Whoever extends this has `size`, width and height of the picture, `zooms`, "fit" and levels, and `draw`.
class View {
  constructor(stage, zooms) {
    this.stage = stage;
    this.zooms = zooms;
    this.canvas = stage.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.split = 0.5;
    this.zoom = "fit";
    this.centre = { x: 0, y: 0 };
  }

  watch() {
    new ResizeObserver(() => this.resize()).observe(this.stage);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.stage.clientWidth * ratio);
    this.canvas.height = Math.round(this.stage.clientHeight * ratio);
    this.draw();
  }

  recentre() {
    this.centre = { x: this.size.width / 2, y: this.size.height / 2 };
  }

  get scale() {
    if (this.zoom !== "fit") return this.zoom;
    const fit = Math.min(this.canvas.width / this.size.width, this.canvas.height / this.size.height);
    return fit > 1 ? Math.floor(fit) : fit;
  }

  // The picture's box on the canvas, its corner rounded to whole screen pixels.
  get place() {
    const { canvas, size, scale } = this;
    return {
      x: Math.round(canvas.width / 2 - this.centre.x * scale),
      y: Math.round(canvas.height / 2 - this.centre.y * scale),
      width: Math.round(size.width * scale),
      height: Math.round(size.height * scale),
    };
  }

  get cut() {
    return Math.round(this.canvas.width * this.split);
  }

  update() {
    this.draw();
  }

  // Tests and people who look for reasons find here where everything is.
  tell() {
    const { place } = this;
    this.stage.dataset.corner = `${place.x},${place.y}`;
    this.stage.dataset.scale = this.scale;
  }

  showDivider(divider, text) {
    const percent = Math.round(100 * this.split);
    divider.style.left = `${100 * this.split}%`;
    divider.setAttribute("aria-valuenow", percent);
    divider.setAttribute("aria-valuetext", `${text} ${percent} percent`);
  }

  setSplit(share) {
    this.split = clamp(share, 0, 1);
    this.update();
  }

  move(right, down) {
    const { size, scale } = this;
    this.centre.x = clamp(this.centre.x - right / scale, 0, size.width);
    this.centre.y = clamp(this.centre.y - down / scale, 0, size.height);
    this.draw();
  }

  // What lies under (x, y), counted from the middle of the canvas, stays there.
  setZoom(zoom, x = 0, y = 0) {
    const before = this.scale;
    this.zoom = zoom;
    if (zoom === "fit") {
      this.recentre();
    } else {
      this.centre.x += x / before - x / zoom;
      this.centre.y += y / before - y / zoom;
    }
    this.update();
  }

  step(by, x, y) {
    const levels = this.zooms.filter((zoom) => zoom !== "fit");
    const next = by > 0 ? levels.find((z) => z > this.scale) : levels.findLast((z) => z < this.scale);
    if (next) this.setZoom(next, x, y);
    else if (by < 0) this.setZoom("fit");
  }
}
