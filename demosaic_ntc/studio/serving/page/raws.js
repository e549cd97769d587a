// Raws: sliders for how one is developed, the quick preview, and the command that makes the same.

// The controls that the server describes: sliders and choices of the recipe, with ranges and labels.
const CONTROLS = JSON.parse(byId("controls").textContent);
const OF_RAWS = CONTROLS.filter(({ name }) => !document.querySelector(`[data-control="${name}"]`));
const PREVIEW_DELAY = 150; // ms without a change

function makeControl({ name, label, title, value, light, choices, min, max, step }) {
  const input = document.createElement(choices ? "select" : "input");
  if (choices) input.append(...choices.map((word) => new Option(word === "light" ? "a light" : word, word)));
  else Object.assign(input, { type: "range", min, max, step });
  Object.assign(input, { id: name, title, value });
  const named = document.createElement("label");
  named.className = choices ? "pair" : "slider";
  named.append(`${label} `, input, ...(choices ? [] : [document.createElement("output")]));
  if (light) named.dataset.light = "";
  return named;
}

function addControls() {
  for (const control of CONTROLS) {
    const place = document.querySelector(`[data-control="${control.name}"]`);
    if (place) place.replaceWith(makeControl(control));
    else byId("raw-controls").append(makeControl(control));
  }
}

function showNumber({ name, min, unit }) {
  const value = Number(byId(name).value);
  byId(name).nextElementSibling.textContent = `${min < 0 && value > 0 ? "+" : ""}${value}${unit}`;
}

addControls();

class Raws {
  constructor(studio) {
    this.studio = studio;
    this.busy = false;
    this.again = false;
    for (const { name } of OF_RAWS) byId(name).oninput = () => { this.update(); this.soon(); };
    byId("quality").onchange = () => this.tellCommand();
    byId("copy").onclick = async () => {
      byId("command").select();
      await navigator.clipboard.writeText(byId("command").value);
      studio.panels.say("Copied.");
    };
  }

  get wish() {
    const valueOf = ({ name, choices }) => (choices ? byId(name).value : Number(byId(name).value));
    return Object.fromEntries([...OF_RAWS.map((each) => [each.name, valueOf(each)]), ["quality", byId("quality").value]]);
  }

  // Sliders as the server has them.
  take(wish) {
    for (const { name } of OF_RAWS) byId(name).value = wish[name];
    byId("quality").value = wish.quality;
    this.update();
    this.tellCommand();
  }

  update() {
    for (const each of OF_RAWS) if (!each.choices) showNumber(each);
    for (const label of document.querySelectorAll("[data-light]")) label.hidden = byId("wb").value !== "light";
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.develop(), PREVIEW_DELAY);
  }

  // One preview at a time; what was moved meanwhile makes another.
  async develop() {
    if (!this.studio.picture?.sheet?.raw) return;
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    const answer = await this.studio.ask("develop", this.wish);
    if (!answer) this.busy = false;
  }

  developed() {
    if (!this.busy) return;
    this.busy = false;
    this.tellCommand();
    if (this.again) {
      this.again = false;
      this.develop();
    }
  }

  // As the server says it, with the format that is chosen.
  async tellCommand() {
    const { picture } = this.studio;
    if (!picture?.raw || !picture.sheet) return;
    const answer = await this.studio.ask("command", { ...this.wish, format: byId("format").value || "png" });
    if (answer) byId("command").value = answer.command;
  }
}
