// The page of annotation. The server gives out one sentence after the other and saves each; the page holds only the
// sentence that is open. Every correction is saved too, as a partial tree.

const NAME = "easyfirst.annotator"; // where the browser keeps the annotator's name

class Annotation {
  constructor(main) {
    Object.assign(this, JSON.parse(main.dataset.annotation)); // relations, annotator, file
    this.place = main.querySelector(".annotating");
    this.visited = []; // the numbers of the sentences before this one
    this.saving = Promise.resolve();
    this.count = make("p", { role: "status" });
    this.bar = make("progress", { "aria-label": "Sentences that are done", max: 1, value: 0 });
    this.name = make("input", { id: "annotator", autocomplete: "off", maxlength: 60, size: 12 });
    this.name.value = rememberedName() ?? this.annotator;
    this.name.addEventListener("change", () => this.rename());
    const facts = make("div", { class: "controls progress" }, this.bar, this.count,
      make("label", { for: "annotator" }, "Your name"), this.name);
    this.message = make("div", { role: "alert", class: "error", hidden: true });
    this.host = make("article", {});
    this.place.replaceChildren(facts, this.message, this.host);
    document.addEventListener("keydown", (event) => this.shortcut(event));
    if (this.name.value.trim()) this.move(() => this.next(null));
    else this.askName();
  }

  // Visitors from other machines say who they are before they get a sentence.
  askName() {
    this.host.replaceChildren(make("p", { class: "tagline" }, "Type your name above and press Enter. It is saved with your sentences."));
    this.name.focus();
  }

  rename() {
    rememberName(this.name.value);
    if (!this.item && this.name.value.trim()) this.move(() => this.next(null));
  }

  // ---- asking the server

  async fetch(path, body) {
    const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    let response;
    try {
      response = await fetch(path, options);
    } catch {
      throw new Error("The server does not answer. Is it still running? What you accepted is saved.");
    }
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.error), { conflict: answer.conflict, status: response.status });
    return answer;
  }

  async parse(known) {
    const width = Math.max(Math.min(this.host.clientWidth, 1400), 240);
    const include = ["alternatives", "html"];
    const body = { conllu: this.item.conllu, constraints: [known], include, width, first: this.item.number };
    const { sentences: [sentence] } = await this.fetch("/parse", body);
    return sentence;
  }

  // Do something, and show what went wrong.
  async run(act) {
    try {
      this.message.hidden = true;
      await act();
    } catch (error) {
      const again = button("Load the sentence again", () => this.move(() => this.open(this.item.number)));
      this.message.replaceChildren(make("p", {}, error.message), ...(error.status === 409 ? [again] : []));
      this.message.hidden = false;
    }
  }

  // Go to another sentence. Keys that are pressed meanwhile do nothing.
  async move(act) {
    if (this.place.hasAttribute("aria-busy")) return;
    this.place.setAttribute("aria-busy", true);
    await this.run(act);
    this.place.removeAttribute("aria-busy");
  }

  // ---- going through the sentences

  async next(after) {
    const { sentence, progress } = await this.fetch("/annotate/next", { annotator: this.name.value, after });
    this.show(progress);
    if (sentence) return this.edit(sentence);
    this.item = null;
    const text = progress.left === 0
      ? `All sentences are done. The treebank is in ${this.file}.`
      : "The other sentences are open at other annotators.";
    return this.host.replaceChildren(make("p", { class: "tagline", tabindex: -1 }, text), button("Previous sentence", () => this.back()));
  }

  async open(number) {
    const path = `/annotate/sentences/${number}?${new URLSearchParams({ annotator: this.name.value })}`;
    const { sentence, progress, open_at } = await this.fetch(path);
    this.show(progress);
    await this.edit(sentence);
    if (open_at) this.editor.say(`${open_at} has this sentence open at the moment.`);
  }

  async edit(item) {
    this.item = item;
    const first = await this.parse(null);
    const sentence = item.constraints ? await this.parse(item.constraints).catch(() => null) : first;
    const host = make("article", { class: item.status === "done" ? "is-done" : null });
    this.host.replaceWith(host);
    this.host = host;
    this.editor = new Walk(host, sentence ?? first, {
      ask: (known) => this.parse(known),
      relations: this.relations,
      tools: [button("Skip", () => this.skip(), { "aria-keyshortcuts": "s" }), button("Previous sentence", () => this.back(), { "aria-keyshortcuts": "p" })],
      changed: (tree, known) => this.item.status !== "done" && this.run(() => this.save("partial", tree, known)),
      accepted: (tree, known) => this.move(() => this.accept(tree, known)),
    });
    this.editor.first = first.words.map(({ head, relation }) => [head, relation]);
    this.editor.go();
    if (!sentence) this.editor.say("The parser cannot complete the tree that was saved, so this is its own.");
    host.scrollIntoView({ block: "nearest" });
  }

  // Save the sentence. Saves wait for one another, since each names the revision that it replaces.
  save(status, tree, known) {
    const item = this.item;
    const checks = this.editor.checks(known);
    const save = async () => {
      const isKnown = (of, id) => status === "done" || id in of; // a head may be known without its relation
      const heads = tree.words.map(({ id, head }) => (isKnown(known.heads, id) ? head : null));
      const relations = tree.words.map(({ id, relation }) => (isKnown(known.relations, id) ? relation : null));
      const columns = { heads, relations };
      const body = { annotator: this.name.value, status, ...columns, checks, revision: item.revision };
      const { revision, progress } = await this.fetch(`/annotate/sentences/${item.number}`, body);
      Object.assign(item, { revision, status });
      this.show(progress);
    };
    this.saving = this.saving.catch(() => {}).then(save);
    return this.saving;
  }

  async accept(tree, known) {
    await this.save("done", tree, known);
    this.visited.push(this.item.number);
    await this.next(this.item.number);
  }

  skip() {
    return this.move(async () => {
      if (!this.item) return;
      await this.keepMarks();
      this.visited.push(this.item.number);
      await this.next(this.item.number);
    });
  }

  back() {
    return this.move(async () => {
      if (this.visited.length === 0) return;
      await this.keepMarks();
      await this.open(this.visited.pop());
    });
  }

  // Save the words that were said to be right before the sentence is left.
  async keepMarks() {
    if (this.item && this.item.status !== "done" && this.editor.marks.size) {
      await this.save("partial", this.editor.sentence, this.editor.withMarks(this.editor.history.now));
    }
  }

  shortcut(event) {
    const isTyping = event.target.closest("input, select, textarea");
    if (isTyping || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    const acts = { s: () => this.skip(), p: () => this.back(), a: () => this.item && this.editor.accept() };
    if (event.key in acts) {
      event.preventDefault();
      acts[event.key]();
    }
  }

  show({ done, partial, left, total, by }) {
    this.bar.max = total;
    this.bar.value = done;
    const names = Object.entries(by).map(([name, n]) => `${name} ${n}`).join(", ");
    const parts = [`${done} done`, partial ? `${partial} begun` : "", `${left} left`].filter(Boolean).join(", ");
    this.count.textContent = parts + (names ? ` (${names})` : "");
  }
}

function rememberedName() {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null; // storage is switched off
  }
}

function rememberName(name) {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    // it has to be typed again
  }
}

for (const main of document.querySelectorAll("[data-annotation]")) new Annotation(main);
