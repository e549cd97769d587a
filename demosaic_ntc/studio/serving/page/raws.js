// Raws: sliders for how one is developed, the quick preview, and the command that makes the same.

const SLIDERS = ["exposure", "contrast", "saturation", "kelvin", "tint"];
const CHOICES = ["look", "balance"];
const PREVIEW_DELAY = 150; // ms without a change

class Raws {
  constructor(studio) {
    this.studio = studio;
    this.busy = false;
    this.again = false;
    for (const id of [...SLIDERS, ...CHOICES]) byId(id).oninput = () => { this.update(); this.soon(); };
    byId("quality").onchange = () => this.tellCommand();
    byId("copy").onclick = async () => {
      byId("command").select();
      await navigator.clipboard.writeText(byId("command").value);
      studio.panels.say("Copied.");
    };
  }

  get wish() {
    const numbers = SLIDERS.map((id) => [id, Number(byId(id).value)]);
    return Object.fromEntries([...numbers, ...CHOICES.map((id) => [id, byId(id).value]), ["quality", byId("quality").value]]);
  }

  // Sliders as the server has them.
  take(wish) {
    for (const id of [...SLIDERS, ...CHOICES]) byId(id).value = wish[id];
    byId("quality").value = wish.quality;
    this.update();
    this.tellCommand();
  }

  update() {
    for (const id of SLIDERS) {
      const value = Number(byId(id).value);
      const sign = id !== "kelvin" && value > 0 ? "+" : "";
      byId(id).nextElementSibling.textContent = `${sign}${value}${id === "kelvin" ? " K" : ""}`;
    }
    for (const label of document.querySelectorAll("[data-light]")) label.hidden = byId("balance").value !== "light";
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
