// Talking to the server that this page came from, and to nobody else.

class Server {
  constructor(hear, say) {
    this.say = say;
    this.stream = new EventSource("api/events");
    this.stream.onmessage = (event) => hear(JSON.parse(event.data));
    this.stream.onerror = () => say("The studio does not answer; look whether it still runs.", true);
  }

  // The answer, or null after saying why there is none.
  async ask(path, options) {
    try {
      const answer = await fetch(path, options);
      const plain = await answer.json();
      if (answer.ok) return plain;
      this.say(plain.error, true);
    } catch {
      this.say("The studio does not answer; look whether it still runs.", true);
    }
    return null;
  }

  post(path, plain = {}) {
    const headers = { "Content-Type": "application/json" };
    return this.ask(path, { method: "POST", headers, body: JSON.stringify(plain) });
  }

  // Files go as they are: no form, no copy in memory.
  send(method, path, file) {
    return this.ask(path, { method, headers: { "X-Name": encodeURIComponent(file.name) }, body: file });
  }

  download(path, name) {
    made("a", { href: path, download: name }).click();
  }
}
