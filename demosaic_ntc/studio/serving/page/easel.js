// The picture on the stage: its tiles before and after, the mask, what is being drawn, and the divider.

const EASEL_ZOOMS = ["fit", 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16];
const MASK_COLOUR = "#ff2e63";
const SOURCE_COLOUR = "#2ebd59";
const DOUBT_COLOUR = "#ffb000";

class Easel extends View {
  constructor(changed) {
    super(byId("stage"), EASEL_ZOOMS);
    this.changed = changed;
    this.tiles = new Tiles(() => this.later());
    this.overlay = document.createElement("canvas");
    this.size = { width: 1, height: 1 };
    this.number = null;
    this.dividing = false;
    this.holding = false;
    this.showsMask = true;
    this.showsDoubt = false;
    this.opacity = 0.55;
    this.pending = []; // drawn here and sent, until the server's tiles show them
    this.sketch = null; // what is being drawn now
    this.pointer = null; // where the brush hovers, in picture pixels
    this.watch();
  }

  // Another picture, or another state of this one ------------------------------------------------------------

  shows(number, sheet) {
    return number === this.number && sheet?.width === this.size.width && sheet?.height === this.size.height;
  }

  open(number, sheet) {
    const same = this.shows(number, sheet);
    this.tiles.clear();
    this.number = number;
    this.sheet = sheet;
    this.size = { width: sheet.width, height: sheet.height };
    this.pending = [];
    this.masked = new Versions();
    if (sheet.mask.pixels) this.masked.least = sheet.mask.version || 1;
    this.setTouched(sheet.touched);
    if (!same) this.setZoom("fit");
    this.update();
  }

  close() {
    this.number = null;
    this.tiles.clear();
    this.update();
  }

  setTouched(touched) {
    this.touched = new Versions();
    for (const [column, row, version] of touched) this.touched.touch(column, row, version);
    this.later();
  }

  // The mask has changed within a box: top, bottom, left, right.
  markChanged([top, bottom, left, right], version) {
    const { tile } = this.sheet;
    for (let row = Math.floor(top / tile); row * tile < bottom; row++) {
      for (let column = Math.floor(left / tile); column * tile < right; column++) {
        this.masked.touch(column, row, version);
      }
    }
    this.later();
  }

  // Drawing ------------------------------------------------------------------------------------------------------

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  update() {
    this.changed();
    this.later();
  }

  draw() {
    const { canvas, context, cut } = this;
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (this.number === null || !canvas.width) return;
    this.tell();
    if (this.holding) {
      this.layer(context, "before", 0, canvas.width);
    } else if (this.dividing) {
      this.layer(context, "before", 0, cut);
      this.layer(context, "after", cut, canvas.width);
    } else {
      this.layer(context, "after", 0, canvas.width);
    }
    if (!this.holding && this.showsDoubt) this.tinted("doubt", DOUBT_COLOUR, 0.85);
    if (!this.holding && this.showsMask && this.sheet.mask.allowed) this.tinted("source", SOURCE_COLOUR, this.opacity);
    if (!this.holding && this.showsMask) this.tinted("mask", MASK_COLOUR, this.opacity);
    if (!this.holding) this.cursor();
  }

  // The level whose pixels are the largest that are not larger than the screen's; of raws, masks alone are at full size.
  level(name) {
    const wanted = Math.floor(Math.log2(1 / Math.min(this.scale, 1)) + 1e-6);
    return clamp(wanted, ["mask", "source"].includes(name) ? 0 : this.sheet.first, this.sheet.levels - 1);
  }

  // Every visible tile of a level: its column and row.
  *visible(level) {
    const { place, scale, canvas, sheet } = this;
    const side = sheet.tile * 2 ** level * scale;
    const first = (start) => Math.max(0, Math.floor(-start / side));
    const last = (start, extent, size) => Math.ceil(Math.min(extent - start, size * scale) / side);
    for (let row = first(place.y); row < last(place.y, canvas.height, sheet.height); row++) {
      for (let column = first(place.x); column < last(place.x, canvas.width, sheet.width); column++) {
        yield [column, row];
      }
    }
  }

  version(name, level, column, row) {
    if (name === "mask") return this.masked.of(level, column, row);
    if (name === "source") return this.sheet.mask.allowed;
    return name === "before" ? 0 : this.touched.of(level, column, row);
  }

  // A tile, or null where the layer has nothing to show; what was not repaired is as it was before.
  tile(name, level, column, row) {
    const version = this.version(name, level, column, row);
    const layer = name === "after" && !version ? "before" : name;
    if (!version && ["mask", "source", "doubt"].includes(name)) return null;
    return this.tiles.get(`api/pictures/${this.number}/tiles/${layer}/${level}/${column}/${row}`, version);
  }

  layer(context, name, from, to) {
    context.save();
    context.beginPath();
    context.rect(from, 0, to - from, this.canvas.height);
    context.clip();
    const level = this.level(name);
    for (const [column, row] of this.visible(level)) this.paint(context, name, level, column, row);
    context.restore();
  }

  // A tile that is not there yet is shown by the part of a coarser one that is.
  paint(context, name, level, column, row) {
    const { place, scale, sheet } = this;
    for (let up = 0; level + up < sheet.levels; up++) {
      const found = this.tile(name, level + up, column >> up, row >> up);
      if (!found) continue;
      const side = sheet.tile / 2 ** up;
      const left = (column % 2 ** up) * side;
      const top = (row % 2 ** up) * side;
      const width = Math.min(side, found.bitmap.width - left);
      const height = Math.min(side, found.bitmap.height - top);
      if (width <= 0 || height <= 0) return;
      const unit = 2 ** (level + up) * scale;
      const at = (start, tile, within) => Math.round(start + (tile * sheet.tile * 2 ** level) * scale + within * unit);
      const x = at(place.x, column, 0);
      const y = at(place.y, row, 0);
      context.imageSmoothingEnabled = unit < 1 || up > 0 || level > 0;
      context.drawImage(found.bitmap, left, top, width, height, x, y,
        at(place.x, column, width) - x, at(place.y, row, height) - y);
      return;
    }
  }

  // A layer of opacities in a colour; the mask with what the server has not shown yet.
  tinted(name, colour, opacity) {
    const { canvas, overlay } = this;
    if (overlay.width !== canvas.width || overlay.height !== canvas.height) {
      Object.assign(overlay, { width: canvas.width, height: canvas.height });
    }
    const context = overlay.getContext("2d");
    context.globalCompositeOperation = "source-over";
    context.clearRect(0, 0, overlay.width, overlay.height);
    this.layer(context, name, 0, overlay.width);
    if (name === "mask") this.drawUnsent(context);
    context.globalCompositeOperation = "source-in";
    context.fillStyle = colour;
    context.fillRect(0, 0, overlay.width, overlay.height);
    this.context.globalAlpha = opacity;
    this.context.drawImage(overlay, 0, 0);
    this.context.globalAlpha = 1;
  }

  drawUnsent(context) {
    this.pending = this.pending.filter((shape) => !this.isShown(shape));
    for (const shape of [...this.pending, ...(this.sketch ? [this.sketch] : [])]) {
      context.globalCompositeOperation = shape.erase ? "destination-out" : "source-over";
      this.drawShape(context, shape);
    }
  }

  // Whether the tiles that are seen have a stroke in them that the server has answered.
  isShown(shape) {
    if (shape.failed) return true;
    if (!shape.version) return false;
    const level = this.level("mask");
    for (const [column, row] of this.visible(level)) {
      if (!this.masked.of(level, column, row)) continue;
      const found = this.tile("mask", level, column, row);
      if (!found || found.version < Math.min(shape.version, this.masked.of(level, column, row))) return false;
    }
    return true;
  }

  toCanvas([x, y]) {
    return [this.place.x + x * this.scale, this.place.y + y * this.scale];
  }

  drawShape(context, shape) {
    const points = shape.points.map((point) => this.toCanvas(point));
    context.fillStyle = context.strokeStyle = "#fff";
    context.beginPath();
    if (shape.tool === "rectangle") {
      const [[x, y], [right, bottom]] = points;
      context.rect(Math.min(x, right), Math.min(y, bottom), Math.abs(right - x), Math.abs(bottom - y));
      context.fill();
      return;
    }
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    if (shape.tool === "polygon") {
      context.closePath();
      context.fill();
      context.lineWidth = 1.5;
    } else {
      if (points.length === 1) context.lineTo(points[0][0] + 0.01, points[0][1]);
      Object.assign(context, { lineCap: "round", lineJoin: "round", lineWidth: Math.max(2 * shape.radius * this.scale, 1) });
    }
    context.stroke();
  }

  // The brush's outline, in two tones so that it is seen on any picture.
  cursor() {
    const { context, pointer } = this;
    if (!pointer || !pointer.radius) return;
    const [x, y] = this.toCanvas([pointer.x, pointer.y]);
    for (const [colour, grown] of [["#000b", 1], ["#fffd", 0]]) {
      context.beginPath();
      context.arc(x, y, Math.max(pointer.radius * this.scale + grown, 2), 0, 2 * Math.PI);
      Object.assign(context, { strokeStyle: colour, lineWidth: 1 });
      context.stroke();
    }
  }

  // Where an event of the screen lies in the picture.
  at(event) {
    const area = this.stage.getBoundingClientRect();
    const ratio = this.canvas.width / area.width;
    const { place, scale } = this;
    return [((event.clientX - area.left) * ratio - place.x) / scale, ((event.clientY - area.top) * ratio - place.y) / scale];
  }

  get middle() {
    return [this.centre.x, this.centre.y];
  }
}
