// Tiles of a picture's layers: fetched when they are seen, the last ones kept, stale ones shown until new ones are there.

const MOST_TILES = 160; // decoded, about a megabyte each
const AT_ONCE = 6;

class Tiles {
  constructor(redraw) {
    this.redraw = redraw;
    this.known = new Map(); // by address, the one used last at the end
    this.queue = [];
    this.busy = 0;
    this.loading = new Set();
    this.failed = new Map(); // versions that could not be had: asked for again when there is a newer one
  }

  clear() {
    for (const tile of this.known.values()) tile.bitmap.close();
    this.known.clear();
    this.queue = [];
    this.failed.clear();
  }

  // The bitmap of a tile at this version, or at an older one while the newer is on its way; null if there is none.
  get(path, version) {
    const tile = this.known.get(path);
    if (tile) {
      this.known.delete(path);
      this.known.set(path, tile);
    }
    if (!tile || tile.version < version) this.want(path, version);
    return tile || null;
  }

  // What is wanted last is seen now; what was wanted before may have left the screen.
  want(path, version) {
    if (this.loading.has(path) || this.failed.get(path) >= version) return;
    this.queue = this.queue.filter((wanted) => wanted.path !== path).slice(-3 * MOST_TILES / 4);
    this.queue.push({ path, version });
    this.feed();
  }

  feed() {
    while (this.busy < AT_ONCE && this.queue.length) this.load(this.queue.pop());
  }

  async load({ path, version }) {
    this.busy += 1;
    this.loading.add(path);
    try {
      const answer = await fetch(`${path}?v=${version}`);
      if (!answer.ok) throw new Error(answer.status);
      this.keep(path, version, await createImageBitmap(await answer.blob()));
    } catch {
      this.failed.set(path, version);
    } finally {
      this.busy -= 1;
      this.loading.delete(path);
      this.redraw();
      this.feed();
    }
  }

  keep(path, version, bitmap) {
    this.known.get(path)?.bitmap.close();
    this.known.delete(path);
    this.known.set(path, { bitmap, version });
    for (const [oldest, tile] of this.known) {
      if (this.known.size <= MOST_TILES) break;
      tile.bitmap.close();
      this.known.delete(oldest);
    }
  }

  get isIdle() {
    return !this.busy && !this.queue.length;
  }
}

// Since when tiles differ from what was first shown, at every level.
class Versions {
  constructor() {
    this.levels = new Map();
    this.least = 0;
  }

  touch(column, row, version) {
    for (let level = 0; level < 24; level++) {
      const key = `${level}/${column >> level}/${row >> level}`;
      this.levels.set(key, Math.max(version, this.levels.get(key) ?? 0));
    }
  }

  of(level, column, row) {
    return Math.max(this.least, this.levels.get(`${level}/${column}/${row}`) ?? 0);
  }
}
