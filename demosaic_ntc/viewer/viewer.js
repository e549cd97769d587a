// The comparison viewer: two versions of a picture beside each other; nothing is fetched.

// Screen pixels per picture pixel; "fit" shows the whole picture.
const ZOOMS = ["fit", 1, 2, 4, 8];
// Errors are doubled this many times: eight times as bright.
const DOUBLINGS = 3;

class Viewer extends View {
  constructor(scenes) {
    super(byId("stage"), ZOOMS);
    this.scenes = scenes;
    this.errors = false;
    this.wanted = {};
    this.addControls();
    addGestures(this);
    addKeys(byId("divider"), dividerKeys(this));
    addKeys(this.stage, {
      ...viewKeys(this),
      x: () => this.swap(), e: () => this.toggleErrors(),
      "[": () => this.show(this.number - 1), "]": () => this.show(this.number + 1),
    });
    this.watch();
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
    this.recentre();
    this.update();
  }

  get size() {
    return this.scene;
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

  // Drawing --------------------------------------------------------------------------------------------------

  // Both sides are drawn at one corner, rounded to whole screen pixels: they cannot be out of step.
  draw() {
    const { canvas, context, scale, place, cut } = this;
    if (!canvas.width) return;
    context.clearRect(0, 0, canvas.width, canvas.height);
    // From 1:1 on pixels stay squares; only pictures made smaller are smoothed.
    context.imageSmoothingEnabled = scale < 1;
    this.paint(this.version("left"), place, 0, cut);
    this.paint(this.version("right"), place, cut, canvas.width);
    this.tell();
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
    byId("errors").title = this.truth ? "Show errors (e)" : "Errors are shown where there is a truth to compare with";
    this.showDivider(byId("divider"), `${this.wanted.left} on the left`);
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
