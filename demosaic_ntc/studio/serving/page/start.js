// The studio: its pictures, what is told of them, and what a person wants done.

class Studio {
  constructor() {
    this.pictures = [];
    this.number = null;
    this.asked = new Set(); // tasks that this page has asked for
    this.last = Promise.resolve(); // the last step of a mask that was sent
    this.over = new Map(); // tasks that ended before this page knew that they are its own
    this.easel = new Easel(() => this.panels?.update());
    this.tools = new Tools(this.easel, (shape) => this.draw(shape));
    this.panels = new Panels(this);
    this.raws = new Raws(this);
    this.raws.update();
    addGestures(this.easel, this.tools);
    addStudioKeys(this);
    this.server = new Server((event) => this.hear(event), (words, wrong) => this.panels.say(words, wrong));
    this.panels.updatePictures();
    this.panels.update();
  }

  get picture() {
    return this.pictures.find((each) => each.number === this.number) ?? null;
  }

  sheetOf(number) {
    return this.pictures.find((each) => each.number === number)?.sheet;
  }

  nameOf(number) {
    return this.pictures.find((each) => each.number === number)?.name ?? "";
  }

  ask(what, plain = {}, number = this.number) {
    return this.server.post(`api/pictures/${number}/${what}`, plain);
  }

  // Steps reach the server one after the other, as they were made: an eraser never before its brush.
  inTurn(send) {
    this.last = this.last.then(send).catch(() => null);
    return this.last;
  }

  // What is asked for is done with all that was drawn before.
  async begin(what, plain) {
    const { number } = this;
    await this.last;
    const answer = await this.ask(what, plain, number);
    if (answer) this.expect(...(answer.tasks ?? [answer.task]));
    return answer;
  }

  // The stream may have told of a task's end before the answer that names it.
  expect(...numbers) {
    for (const number of numbers) {
      this.asked.add(number);
      if (this.over.has(number)) this.takeEnd(this.over.get(number));
    }
  }

  // What the server tells ------------------------------------------------------------------------------------------

  hear(event) {
    const does = {
      state: () => this.takeState(event), picture: () => this.takePicture(event.picture),
      mask: () => this.takeMask(event), repaired: () => this.takeRepaired(event),
      task: () => this.takeTask(event.task), reload: () => location.reload(),
    };
    does[event.kind]?.();
  }

  takeState({ pictures, tasks }) {
    if (this.pictures.length) this.panels.say(""); // the studio answers again
    this.pictures = pictures;
    byId("tasks").replaceChildren();
    const kept = Number(sessionStorage.getItem("picture"));
    const first = pictures.find((each) => each.number === kept) ?? pictures[0];
    this.panels.updatePictures();
    if (first) this.show(this.picture ? this.number : first.number);
    else this.panels.update();
    for (const task of tasks) this.takeTask(task); // what ended while nothing was heard is told now
  }

  takePicture(picture) {
    const at = this.pictures.findIndex((each) => each.number === picture.number);
    if (at < 0) this.pictures.push(picture);
    else this.pictures[at] = picture;
    this.panels.updatePictures();
    if (picture.number === this.number) this.present();
    else this.panels.update();
  }

  takeMask({ number, box, mask, touched }) {
    const sheet = this.sheetOf(number);
    if (!sheet) return;
    sheet.touched = touched;
    if (number === this.number) this.easel.setTouched(touched);
    this.takeStep(number, { box, mask });
    if (number === this.number && sheet.raw) this.raws.soon();
  }

  // A step of a mask, as it is answered and told to all: the two come in any order, and to any picture.
  takeStep(number, { box, mask }) {
    const sheet = this.sheetOf(number);
    if (!sheet) return;
    if (mask.version >= sheet.mask.version) sheet.mask = mask;
    if (number !== this.number) return;
    this.easel.markChanged(box, mask.version);
    this.panels.update();
  }

  takeRepaired({ number, touched, wish }) {
    const picture = this.pictures.find((each) => each.number === number);
    if (!picture?.sheet) return;
    picture.sheet.touched = touched;
    if (wish) picture.wish = wish;
    if (number === this.number) this.easel.setTouched(touched);
  }

  takeTask(task) {
    this.panels.showTask(task);
    if (!["done", "failed", "cancelled"].includes(task.state)) return;
    if (task.kind === "develop") this.raws.developed();
    this.takeEnd(task);
  }

  takeEnd(task) {
    if (!this.asked.delete(task.number)) {
      this.over.set(task.number, task);
      return;
    }
    this.over.delete(task.number);
    this.panels.sayOfTask(task);
    if (task.state !== "done") return;
    if (task.kind === "repair" && task.picture === this.number) this.easel.showsMask = false;
    if (task.kind === "save" && task.result.upload) {
      this.server.download(`api/pictures/${task.picture}/result`, task.result.names[0]);
    }
    this.easel.update();
  }

  // What a person wants --------------------------------------------------------------------------------------------

  show(number) {
    if (number !== this.number) this.panels.say("");
    this.number = number;
    sessionStorage.setItem("picture", number);
    this.panels.updatePictures();
    this.present();
  }

  showNext(by) {
    const at = this.pictures.findIndex((each) => each.number === this.number);
    if (at >= 0) this.show(this.pictures.at((at + by) % this.pictures.length).number);
  }

  present() {
    const { picture } = this;
    if (!this.easel.shows(this.number, picture.sheet)) this.tools.drop(); // what the server tells ends no stroke
    if (picture.sheet) {
      this.easel.open(this.number, picture.sheet);
      if (picture.raw) this.raws.take(picture.wish);
      if (picture.sheet.notices.length) this.panels.say(picture.sheet.notices.join(" "));
    } else {
      this.easel.close();
      if (!picture.failure && !picture.opening) this.ask("open");
      if (picture.failure) this.panels.say(picture.failure, true);
    }
    this.panels.update();
  }

  async upload(files) {
    for (const file of files) {
      this.panels.say(`Reading ${file.name} …`);
      const answer = await this.server.send("POST", "api/pictures", file);
      if (!answer) return;
      this.panels.say("");
      // The stream may have told of it already, and of more than this answer knows.
      if (!this.pictures.some((each) => each.number === answer.number)) this.takePicture(answer);
      this.show(answer.number);
    }
  }

  async draw(shape) {
    this.easel.showsMask = true;
    this.easel.pending.push(shape);
    const { tool, erase, radius } = shape;
    const points = shape.points.map((point) => point.map((value) => Math.round(100 * value) / 100));
    const { number } = this;
    const answer = await this.inTurn(() => this.ask("mask", { tool, erase, radius, points }, number));
    if (answer) this.takeStep(number, answer);
    if (answer) shape.version = answer.mask.version;
    else shape.failed = true;
    this.easel.update();
  }

  async step(name, more = {}) {
    const { number } = this;
    if (!this.picture?.sheet) return;
    this.easel.showsMask = true;
    const answer = await this.inTurn(() => {
      const { mask } = this.sheetOf(number);
      return name in mask && !mask[name] ? null : this.ask("mask", { tool: name, ...more }, number);
    });
    if (answer) this.takeStep(number, answer);
    this.easel.update();
  }

  get way() {
    return { quality: byId("quality").value, fill: byId("fill").value, grain: byId("grain").value };
  }

  async repair(what) {
    await this.last;
    if (this.picture?.sheet?.mask.pixels && !this.picture.raw) this.begin("repair", { what, ...this.way });
  }

  toggle(name) {
    if (!this.picture?.sheet) return;
    this.easel[name] = !this.easel[name];
    this.easel.update();
  }

  find(what) {
    return this.begin("find", { what, sensitivity: Number(byId("sensitivity").value) });
  }

  async loadMask(file) {
    if (!file || !this.picture) return;
    const answer = await this.server.send("PUT", `api/pictures/${this.number}/mask`, file);
    if (answer) this.expect(answer.task);
    this.easel.showsMask = true;
  }

  saveMask() {
    this.server.download(`api/pictures/${this.number}/mask.png`, "");
  }

  async save() {
    if (!this.picture?.sheet || byId("save").disabled) return;
    const place = byId("place").value;
    if (place === "original" && !(await this.isSure(`Replace ${this.picture.name} itself? What it shows now is lost.`))) return;
    const shared = { format: byId("format").value, place };
    if (this.picture.raw) this.begin("convert", { ...shared, ...this.raws.wish });
    else this.begin("save", { ...shared, ...this.way, mask: byId("with-mask").checked });
  }

  saveAll() {
    return this.begin("folder", { format: "same", ...this.way });
  }

  isSure(words) {
    const dialog = byId("sure-dialog");
    byId("sure-words").textContent = words;
    dialog.showModal();
    return new Promise((answer) => {
      const close = (sure) => () => { dialog.close(); answer(sure); };
      byId("sure-yes").onclick = close(true);
      byId("sure-no").onclick = dialog.oncancel = close(false);
    });
  }

  cancel(number) {
    return this.server.post(`api/tasks/${number}/cancel`);
  }

  cancelAll() {
    for (const number of this.asked) this.cancel(number);
  }
}

// The secret in the address has done its work: a cookie stands for it now.
history.replaceState(null, "", location.pathname);
const studio = new Studio();
