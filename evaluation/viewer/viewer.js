// The comparison viewer; no libraries, and nothing is fetched.
"use strict";

const byId = (id) => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Screen pixels per picture pixel; "fit" shows the whole picture.
const ZOOMS = ["fit", 1, 2, 4, 8];
// Errors are doubled this many times: eight times as bright.
const DOUBLINGS = 3;

class Viewer {
  constructor(scenes) {
    this.scenes = scenes;
    this.stage = byId("stage");
    this.canvas = this.stage.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.split = 0.5;
    this.zoom = "fit";
    this.errors = false;
    this.wanted = {};
    this.addControls();
    addGestures(this);
    addKeys(this);
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.show(0);
  }

  // What is shown ------------------------------------------------------------------------------------------

  show(number) {
    this.number = (number + this.scenes.length) % this.scenes.length;
    this.scene = this.scenes[this.number];
    // The same two versions again, where this picture has them too.
    const names = this.scene.versions.map((version) => version.name);
    const found = (name, otherwise) => (names.includes(name) ? name : names[otherwise]);
    this.wanted.left = found(this.wanted.left, 0);
    this.wanted.right = found(this.wanted.right, Math.min(1, names.length - 1));
    for (const side of ["left", "right"]) {
      byId(side).replaceChildren(...names.map((name) => made("option", { value: name, textContent: name })));
    }
    this.images = new Map();
    this.centre = { x: this.scene.width / 2, y: this.scene.height / 2 };
    this.update();
  }

  version(side) {
    return this.scene.versions.find((version) => version.name === this.wanted[side]);
  }

  // Pictures are decoded when they are first looked at: a report holds hundreds.
  image(version) {
    let image = this.images.get(version.name);
    if (!image) {
      image = made("img", { src: version.source, onload: () => this.draw() });
      this.images.set(version.name, image);
    }
    return image.complete && image.naturalWidth ? image : null;
  }

  get truth() {
    return this.scene.versions.find((version) => version.name === this.scene.truth);
  }

  get scale() {
    if (this.zoom !== "fit") return this.zoom;
    const fit = Math.min(this.canvas.width / this.scene.width, this.canvas.height / this.scene.height);
    return fit > 1 ? Math.floor(fit) : fit;
  }

  // Drawing --------------------------------------------------------------------------------------------------

  // One canvas pixel per screen pixel: 1:1 means that and nothing else, whatever the page is zoomed to.
  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.stage.clientWidth * ratio);
    this.canvas.height = Math.round(this.stage.clientHeight * ratio);
    this.draw();
  }

  // Both sides are drawn at one corner, rounded to whole screen pixels: they cannot be out of step.
  draw() {
    const { canvas, context, scene, scale } = this;
    if (!canvas.width) return;
    const place = {
      x: Math.round(canvas.width / 2 - this.centre.x * scale),
      y: Math.round(canvas.height / 2 - this.centre.y * scale),
      width: Math.round(scene.width * scale),
      height: Math.round(scene.height * scale),
    };
    const cut = Math.round(canvas.width * this.split);
    context.clearRect(0, 0, canvas.width, canvas.height);
    // From 1:1 on pixels stay squares; only pictures made smaller are smoothed.
    context.imageSmoothingEnabled = scale < 1;
    this.paint(this.version("left"), place, 0, cut);
    this.paint(this.version("right"), place, cut, canvas.width);
    this.stage.dataset.corner = `${place.x},${place.y}`;
    this.stage.dataset.scale = scale;
  }

  paint(version, place, from, to) {
    const { context } = this;
    const image = this.image(version);
    const truth = this.errors && this.truth ? this.image(this.truth) : null;
    if (!image || to <= from) return;
    const box = [place.x, place.y, place.width, place.height];
    context.save();
    for (const part of [[from, 0, to - from, this.canvas.height], box]) {
      context.beginPath();
      context.rect(...part);
      context.clip();
    }
    context.drawImage(image, ...box);
    if (truth) this.showErrors(truth, box);
    context.restore();
  }

  // |version − truth|, made brighter by adding the canvas to itself. Composition needs no access to the pixels,
  // which browsers refuse for picture files opened from a disk.
  showErrors(truth, box) {
    const { context, canvas } = this;
    context.globalCompositeOperation = "difference";
    context.drawImage(truth, ...box);
    context.globalCompositeOperation = "lighter";
    for (let i = 0; i < DOUBLINGS; i++) context.drawImage(canvas, 0, 0);
  }

  // Controls show the state; the state never lives in them.
  update() {
    for (const side of ["left", "right"]) {
      byId(side).value = this.wanted[side];
      this.stage.querySelector(`[data-side=${side}]`).textContent = this.wanted[side];
    }
    for (const button of byId("zooms").children) {
      button.setAttribute("aria-pressed", String(button.dataset.zoom === String(this.zoom)));
    }
    [...byId("pictures").children].forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === this.number));
    });
    byId("errors").setAttribute("aria-pressed", String(this.errors && Boolean(this.truth)));
    byId("errors").disabled = !this.truth;
    const divider = byId("divider");
    const percent = Math.round(100 * this.split);
    divider.style.left = `${100 * this.split}%`;
    divider.setAttribute("aria-valuenow", percent);
    divider.setAttribute("aria-valuetext", `${this.wanted.left} on the left ${percent} percent`);
    byId("caption").textContent = this.caption();
    this.draw();
  }

  caption() {
    const told = (side) => {
      const { name, note } = this.version(side);
      return note ? `${name} ${note}` : name;
    };
    return `${this.scene.name}: ${told("left")} | ${told("right")}`;
  }

  // Changes ----------------------------------------------------------------------------------------------------

  setSplit(share) {
    this.split = clamp(share, 0, 1);
    this.update();
  }

  move(right, down) {
    const { scene, scale } = this;
    this.centre.x = clamp(this.centre.x - right / scale, 0, scene.width);
    this.centre.y = clamp(this.centre.y - down / scale, 0, scene.height);
    this.draw();
  }

  // What lies under (x, y), counted from the middle of the canvas, stays there.
  setZoom(zoom, x = 0, y = 0) {
    const before = this.scale;
    this.zoom = zoom;
    if (zoom === "fit") {
      this.centre = { x: this.scene.width / 2, y: this.scene.height / 2 };
    } else {
      this.centre.x += x / before - x / zoom;
      this.centre.y += y / before - y / zoom;
    }
    this.update();
  }

  step(by, x, y) {
    const levels = ZOOMS.filter((zoom) => zoom !== "fit");
    const next = by > 0 ? levels.find((z) => z > this.scale) : levels.findLast((z) => z < this.scale);
    if (next) this.setZoom(next, x, y);
    else if (by < 0) this.setZoom("fit");
  }

  swap() {
    this.wanted = { left: this.wanted.right, right: this.wanted.left };
    this.update();
  }

  toggleErrors() {
    this.errors = !this.errors;
    this.update();
  }

  // Controls -----------------------------------------------------------------------------------------------------

  addControls() {
    for (const side of ["left", "right"]) {
      byId(side).onchange = (event) => {
        this.wanted[side] = event.target.value;
        this.update();
      };
    }
    byId("swap").onclick = () => this.swap();
    byId("errors").onclick = () => this.toggleErrors();
    for (const zoom of ZOOMS) {
      const button = made("button", { type: "button", textContent: zoom === "fit" ? "Fit" : `${zoom}:1` });
      button.dataset.zoom = zoom;
      button.onclick = () => this.setZoom(zoom);
      byId("zooms").append(button);
    }
    this.scenes.forEach((scene, i) => {
      const frame = made("span", { className: "frame" }, made("img", { src: scene.thumbnail, alt: "" }));
      if (scene.box) {
        const [left, top, width, height] = scene.box.map((share) => `${100 * share}%`);
        const box = made("span", { className: "box" });
        Object.assign(box.style, { left, top, width, height });
        frame.append(box);
      }
      const button = made("button", { type: "button", onclick: () => this.show(i) }, frame, scene.name);
      byId("pictures").append(button);
    });
  }
}
