// What pointers and keys draw with.

const LARGEST_RADIUS = 500;

class Tools {
  constructor(easel, commit) {
    this.easel = easel;
    this.commit = commit; // sends a finished shape
    this.name = "brush";
    this.radius = 12;
    this.spaced = false; // Space is held: the picture is moved
    this.down = false; // put down by a key
  }

  get isErasing() {
    return this.name === "eraser";
  }

  get hasRadius() {
    return ["brush", "eraser", "line"].includes(this.name);
  }

  choose(name) {
    this.drop();
    this.name = name;
    this.showPointer();
    this.easel.update();
  }

  resize(factor) {
    this.setRadius(this.radius * factor);
  }

  setRadius(radius) {
    this.radius = clamp(radius, 0.5, LARGEST_RADIUS);
    if (this.easel.pointer) this.easel.pointer.radius = this.hasRadius ? this.radius : 0;
    this.easel.update();
  }

  // The slider goes from half a pixel to the largest in equal ratios.
  get share() {
    return Math.log(this.radius / 0.5) / Math.log(LARGEST_RADIUS / 0.5);
  }

  set share(value) {
    this.setRadius(0.5 * (LARGEST_RADIUS / 0.5) ** value);
  }

  // Pointers -----------------------------------------------------------------------------------------------------

  isMoving() {
    return this.name === "hand" || this.spaced || this.easel.number === null;
  }

  begin(event) {
    this.place(this.easel.at(event), event.buttons === 32);
    return true;
  }

  move(event) {
    for (const each of event.getCoalescedEvents?.() ?? [event]) this.extend(this.easel.at(each));
    if (!event.getCoalescedEvents?.().length) this.extend(this.easel.at(event));
  }

  end() {
    if (this.name !== "polygon") this.finish();
  }

  hover(event) {
    if (event.pointerType === "touch" || this.easel.number === null) return;
    const [x, y] = this.easel.at(event);
    this.easel.pointer = { x, y, radius: this.hasRadius && !this.isMoving() ? this.radius : 0 };
    if (this.easel.sketch?.tool === "polygon") this.hint([x, y]);
    this.easel.later();
  }

  wheel(event) {
    if (this.easel.number === null) return false;
    if (this.hasRadius && !this.isMoving()) this.resize(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    else this.easel.step(-event.deltaY, ...this.fromMiddle(event));
    return true;
  }

  fromMiddle(event) {
    const [x, y] = this.easel.at(event);
    return [(x - this.easel.centre.x) * this.easel.scale, (y - this.easel.centre.y) * this.easel.scale];
  }

  // Shapes -------------------------------------------------------------------------------------------------------

  // A pen turned round erases, whatever the tool.
  place(point, turned = false) {
    const { easel } = this;
    const erase = this.isErasing || turned;
    if (this.name === "polygon" && easel.sketch) {
      const [first] = easel.sketch.points;
      const close = Math.hypot(first[0] - point[0], first[1] - point[1]) * easel.scale < 12;
      if (close && this.corners >= 3) return this.finish();
      easel.sketch.points.splice(this.corners, 1, point);
      this.corners += 1;
    } else {
      const tool = ["rectangle", "polygon"].includes(this.name) ? this.name : "brush";
      const points = tool === "rectangle" || this.name === "line" ? [point, point] : [point];
      easel.sketch = { tool, erase, radius: this.radius, points };
      this.corners = 1;
    }
    return easel.later();
  }

  extend(point) {
    const { sketch, scale } = this.easel;
    if (!sketch) return;
    if (sketch.tool === "rectangle" || this.name === "line") {
      sketch.points[1] = point;
    } else if (sketch.tool === "polygon") {
      this.hint(point);
    } else {
      // Points closer than an eighth of the brush add nothing that is seen.
      const [x, y] = sketch.points.at(-1);
      const near = Math.max(sketch.radius / 8, 0.5 / scale);
      if (Math.hypot(point[0] - x, point[1] - y) >= near) sketch.points.push(point);
    }
    this.easel.later();
  }

  // The side of a polygon that follows the pointer.
  hint(point) {
    this.easel.sketch.points.splice(this.corners, 1, point);
  }

  finish() {
    const { sketch } = this.easel;
    this.easel.sketch = null;
    this.down = false;
    if (sketch?.tool === "polygon") sketch.points.length = Math.min(sketch.points.length, this.corners);
    if (sketch && (sketch.tool !== "polygon" || sketch.points.length >= 3)) this.commit(sketch);
    this.easel.update();
  }

  drop() {
    this.easel.sketch = null;
    this.down = false;
    this.easel.later();
  }

  // The keyboard: the tool is put down in the middle of the stage, and the picture moved beneath it ---------------

  press() {
    if (this.easel.number === null || this.name === "hand") return;
    const point = this.easel.middle;
    if (this.name === "polygon") this.place(point);
    else if (this.down) this.finish();
    else {
      this.place(point);
      this.down = true;
    }
    this.showPointer();
  }

  moved() {
    if (this.down) this.extend(this.easel.middle);
    this.showPointer();
  }

  showPointer() {
    const [x, y] = this.easel.middle;
    this.easel.pointer = { x, y, radius: this.hasRadius ? this.radius : 3 / this.easel.scale };
    this.easel.later();
  }
}
