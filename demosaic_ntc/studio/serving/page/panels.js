// The controls around the stage: they show the state, which never lives in them.

const seconds = (left) => (left < 90 ? `${Math.max(1, Math.round(left))} s` : `${Math.round(left / 60)} min`);
const SAID = { repair: "Repairing", save: "Saving", open: "Opening", find: "Looking at", mask: "Reading the mask", develop: "Developing" };
const NUMBERS = ["sensitivity", "grow"]; // sliders that are no raw's
const QUIET_KINDS = ["open", "develop"];

class Panels {
  constructor(studio) {
    this.studio = studio;
    const { easel, tools } = studio;
    for (const button of byId("tools").children) button.onclick = () => tools.choose(button.dataset.tool);
    for (const zoom of ["fit", 1]) {
      const words = zoom === "fit" ? "Fit" : "1:1";
      const button = made("button", { type: "button", textContent: words, onclick: () => easel.setZoom(zoom) });
      button.dataset.zoom = zoom;
      byId("zooms").append(button);
    }
    const on = (id, action) => { byId(id).onclick = action; };
    for (const step of ["undo", "redo", "clear", "invert", "source"]) on(step, () => studio.step(step));
    on("repair", () => studio.repair("new"));
    on("repair-all", () => studio.repair("all"));
    on("divide", () => studio.toggle("dividing"));
    on("doubt", () => studio.toggle("showsDoubt"));
    on("show-mask", () => studio.toggle("showsMask"));
    on("save", () => studio.save());
    on("save-all", () => studio.saveAll());
    on("save-mask", () => studio.saveMask());
    on("help", () => byId("keys-dialog").showModal());
    on("close-keys", () => byId("keys-dialog").close());
    for (const button of document.querySelectorAll("[data-find]")) button.onclick = () => studio.find(button.dataset.find);
    byId("size").oninput = (event) => { tools.share = event.target.value / 100; };
    byId("opacity").oninput = (event) => { easel.opacity = event.target.value / 100; easel.showsMask = true; easel.update(); };
    on("grow-mask", () => studio.step("grow", { pixels: Number(byId("grow").value) }));
    for (const name of NUMBERS) byId(name).oninput = () => this.update();
    byId("pictures").onchange = (event) => studio.show(Number(event.target.value));
    byId("file").onchange = (event) => { studio.upload([...event.target.files]); event.target.value = ""; };
    byId("mask-file").onchange = (event) => { studio.loadMask(event.target.files[0]); event.target.value = ""; };
    byId("format").onchange = () => studio.raws.tellCommand();
    this.addHold(byId("hold"));
    this.addDrop();
    addTheme(byId("theme"));
  }

  addHold(button) {
    const hold = (held) => { this.studio.easel.holding = held; this.studio.easel.update(); };
    button.onpointerdown = () => hold(true);
    for (const end of ["pointerup", "pointerleave", "pointercancel", "blur"]) button.addEventListener(end, () => hold(false));
    button.onkeydown = (event) => { if ([" ", "Enter"].includes(event.key)) { hold(true); event.preventDefault(); } };
    button.onkeyup = () => hold(false);
  }

  addDrop() {
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      this.studio.upload([...event.dataTransfer.files]);
    });
  }

  // Showing ------------------------------------------------------------------------------------------------------

  update() {
    const { easel, tools, picture } = this.studio;
    const sheet = picture?.sheet;
    const press = (element, pressed) => element.setAttribute("aria-pressed", String(pressed));
    for (const button of byId("tools").children) press(button, button.dataset.tool === tools.name);
    for (const button of byId("zooms").children) press(button, button.dataset.zoom === String(easel.zoom));
    press(byId("divide"), easel.dividing);
    press(byId("doubt"), easel.showsDoubt);
    press(byId("show-mask"), easel.showsMask);
    byId("doubt-legend").hidden = !easel.showsDoubt;
    byId("size").value = Math.round(100 * tools.share);
    byId("size-told").textContent = `${(2 * tools.radius).toPrecision(2) * 1} px`;
    byId("opacity-told").textContent = `${Math.round(100 * easel.opacity)} %`;
    for (const each of CONTROLS) if (NUMBERS.includes(each.name)) showNumber(each);
    const divided = Boolean(sheet) && easel.dividing && !easel.holding;
    for (const element of [byId("divider"), ...document.querySelectorAll(".tag")]) element.hidden = !divided;
    easel.showDivider(byId("divider"), "before on the left");
    easel.stage.dataset.tool = tools.isMoving() ? "hand" : tools.name;
    this.updateSheet(picture, sheet);
  }

  updateSheet(picture, sheet) {
    const raw = Boolean(picture?.raw);
    byId("empty").hidden = Boolean(sheet);
    byId("empty").textContent = picture?.failure || (picture ? `Opening ${picture.name} …` : "Drop a picture or a raw here, or press Open.");
    const mask = sheet?.mask ?? { pixels: 0, undo: false, redo: false };
    byId("source").setAttribute("aria-pressed", String(Boolean(mask.allowed)));
    byId("undo").disabled = !mask.undo;
    byId("redo").disabled = !mask.redo;
    const enabled = {
      clear: mask.pixels, invert: sheet, "grow-mask": mask.pixels, source: sheet && !raw && (mask.pixels || mask.allowed), "save-mask": mask.pixels, repair: mask.pixels, "repair-all": mask.pixels,
      save: sheet && (raw || mask.pixels), divide: sheet, hold: sheet, doubt: sheet, "show-mask": sheet,
    };
    for (const [id, wanted] of Object.entries(enabled)) byId(id).disabled = !wanted;
    for (const button of document.querySelectorAll("[data-find]")) {
      button.disabled = !sheet;
      button.hidden = button.dataset.find === "hot" && !raw;
    }
    byId("repair-title").textContent = raw ? "Compare" : "Repair";
    const sides = raw ? { left: "camera", right: "ours" } : { left: "before", right: "after" };
    for (const tag of document.querySelectorAll(".tag")) tag.textContent = sides[tag.dataset.side];
    byId("raw-panel").hidden = !raw;
    for (const id of ["repair", "repair-all", "doubt"]) byId(id).hidden = raw;
    byId("save").textContent = raw ? "Convert" : "Save";
    byId("with-mask-label").hidden = raw || Boolean(picture?.upload);
    byId("place-label").hidden = Boolean(picture?.upload);
    byId("place").options[2].disabled = raw;
    const named = this.studio.pictures.filter((each) => !each.upload && !each.raw);
    byId("save-all").hidden = raw || Boolean(picture?.upload) || named.length < 2;
    byId("save-all").disabled = !mask.pixels;
    const formats = sheet?.formats ?? [];
    if ([...byId("format").options].map((each) => each.value).join() !== formats.join()) {
      const own = picture?.name.toLowerCase().match(/\.(png|tif|jpe?g)f?$/)?.[1].replace("jpeg", "jpg");
      byId("format").replaceChildren(...formats.map((name) => made("option", { value: name, textContent: name.toUpperCase() })));
      if (formats.includes(own)) byId("format").value = own;
    }
    byId("facts").textContent = sheet ? this.facts(picture, sheet, mask) : "";
  }

  facts(picture, sheet, mask) {
    const { scale } = this.studio.easel;
    const zoom = scale >= 1 ? `${+scale.toFixed(1)}:1` : `${Math.round(100 * scale)} %`;
    const share = (100 * mask.pixels) / (sheet.width * sheet.height);
    const marked = mask.pixels ? `, ${mask.pixels.toLocaleString("en")} pixels marked (${share.toPrecision(2) * 1} %)` : "";
    return `${sheet.width} × ${sheet.height}, ${sheet.camera || sheet.depth}, ${zoom}${marked}`;
  }

  updatePictures() {
    const { pictures, number } = this.studio;
    const options = pictures.map((each) => made("option", { value: each.number, textContent: each.name }));
    byId("pictures").replaceChildren(...options);
    byId("pictures").hidden = !pictures.length;
    if (number !== null) byId("pictures").value = number;
  }

  say(words, wrong = false) {
    byId("said").textContent = words;
    byId("said").classList.toggle("wrong", wrong);
  }

  // Tasks --------------------------------------------------------------------------------------------------------

  showTask(task) {
    const id = `task-${task.number}`;
    byId(id)?.remove();
    if (["done", "failed", "cancelled"].includes(task.state)) return;
    const left = task.left === null ? "" : `, about ${seconds(task.left)} left`;
    const name = this.studio.pictures.length > 1 ? ` ${this.studio.nameOf(task.picture)}` : "";
    const words = `${SAID[task.kind] ?? task.kind}${name}${task.state === "waiting" ? " next" : left}`;
    const bar = made("progress", { max: 1, ariaLabel: words });
    if (task.stage) bar.value = task.share;
    const cancel = made("button", { type: "button", textContent: "Cancel", onclick: () => this.studio.cancel(task.number) });
    byId("tasks").append(made("div", { id, className: "task" }, made("span", { textContent: words }), bar, cancel));
  }

  sayOfTask(task) {
    const { result } = task;
    if (task.state === "failed") this.say(task.reason, true);
    else if (task.state === "cancelled") this.say("Cancelled.");
    else if (task.kind === "repair") {
      const proven = result.certified === null ? "" : `, ${Math.round(100 * result.certified)} % of the norms known closely`;
      this.say([`${result.pixels.toLocaleString("en")} pixels repaired${proven}.`, ...task.notices].join(" "));
    } else if (task.kind === "save") {
      const where = result.folder ? ` in ${result.folder}` : "";
      this.say([`Saved ${result.names.join(" and ")}${where}.`, ...task.notices].join(" "));
    } else if (task.kind === "find") this.say(result.pixels ? `${result.pixels.toLocaleString("en")} pixels marked.` : "Nothing was found.");
    else if (task.kind === "mask") this.say("The mask was read.");
    else if (!QUIET_KINDS.includes(task.kind)) this.say("Done.");
  }
}
