// The page: a form for texts and files, and an editor for each sentence. The server keeps nothing. The page holds every
// sentence as CoNLL-U with its constraints, saves them in the browser after each correction, and draws ten at a time.

const AT_ONCE = 10; // the sentences that are drawn
const LINES = 3000; // of CoNLL-U in one request

class Workbench {
  constructor(main) {
    Object.assign(this, JSON.parse(main.dataset.workbench)); // the model, and the relations of all models
    this.form = main.querySelector("form.input");
    this.results = main.querySelector("#results");
    this.examples = main.querySelector(".examples");
    this.items = []; // {source, conllu, confidence, known, done}, with the confidence before any correction
    this.first = 0; // the place of the first sentence that is drawn
    this.order = "text";
    this.shown = { upos: true, lemma: false };
    this.prepareForm();
    const isOffered = this.offerSaved();
    const linked = linkedText();
    // parsing replaces what is saved, so where something is, the user decides
    if (linked && isOffered) this.fill(linked.text, linked.kind);
    // after the first frame, because the browser complains if something has the focus before the form gets it
    else if (linked) requestAnimationFrame(() => this.open(linked.text, linked.kind));
  }

  // ---- the form

  prepareForm() {
    const { text, kind } = this.form.elements;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start(text.value, kind.value);
    });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
    });
    text.addEventListener("paste", (event) => {
      if (isConllu(event.clipboardData.getData("text"))) kind.value = "conllu";
    });
    const picker = make("input", { type: "file", hidden: true, accept: ".conllu,.conll,.txt,text/plain" });
    picker.addEventListener("change", async () => {
      const content = await picker.files[0].text();
      this.open(content, isConllu(content) ? "conllu" : kind.value === "conllu" ? "text" : kind.value);
      picker.value = "";
    });
    const copy = button("Copy link", () => this.copyLink());
    this.form.querySelector(".controls").append(button("Open a file", () => picker.click()), copy, picker);
    for (const example of this.examples.querySelectorAll("form")) {
      example.addEventListener("submit", (event) => {
        event.preventDefault();
        this.open(example.elements.text.value, "text");
      });
    }
    if (Object.keys(this.models).length > 1) this.form.querySelector(".controls").append(this.modelMenu());
  }

  get relations() {
    return this.models[this.model];
  }

  modelMenu() {
    const menu = make("select", { autocomplete: "off" });
    for (const name of Object.keys(this.models)) menu.append(make("option", { value: name }, name));
    menu.value = this.model;
    menu.addEventListener("change", () => {
      this.model = menu.value;
      if (this.items.length) this.start(this.form.elements.text.value, this.form.elements.kind.value);
    });
    return make("label", {}, "Model ", menu);
  }

  fill(text, kind) {
    this.form.elements.text.value = text;
    if ([...this.form.elements.kind.options].some((option) => option.value === kind)) this.form.elements.kind.value = kind;
  }

  open(text, kind) {
    this.fill(text, kind);
    return this.start(text, this.form.elements.kind.value);
  }

  async copyLink() {
    const { text, kind } = this.form.elements;
    const link = linkTo(text.value, kind.value);
    history.replaceState(null, "", link);
    try {
      await navigator.clipboard.writeText(link);
      this.say("The link was copied. The text is in the link itself.");
    } catch {
      this.say("The address of this page is the link now. The text is in it.");
    }
  }

  // ---- asking the server

  async post(body) {
    const headers = { "Content-Type": "application/json" };
    let response;
    try {
      response = await fetch("/parse", { method: "POST", headers, body: JSON.stringify({ ...body, model: this.model }) });
    } catch {
      throw new Error("The server does not answer. Is it still running?");
    }
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.error), { conflict: answer.conflict });
    return answer;
  }

  requests(text, kind) {
    const lines = text.split("\n").filter((line) => line.trim());
    if (kind === "lines") return [{ sentences: lines }];
    if (kind === "tokens") return [{ tokens: lines.map((line) => line.trim().split(/\s+/)) }];
    if (kind === "conllu") return cutConllu(text, LINES).map((piece) => ({ conllu: piece, constraints: "misc" }));
    return [{ text }];
  }

  // Parse a text, and show its sentences.
  async start(text, kind) {
    this.results.setAttribute("aria-busy", true);
    this.examples.hidden = true;
    const items = [], warnings = new Set();
    try {
      const requests = this.requests(text, kind);
      for (const [n, request] of requests.entries()) {
        if (requests.length > 1) this.say(`Parsing part ${n + 1} of ${requests.length} …`);
        const answer = await this.post({ ...request, include: ["conllu"] });
        answer.warnings.forEach((warning) => warnings.add(warning));
        for (const { conllu, confidence, constraints } of answer.sentences) {
          items.push({ source: conllu, conllu, confidence, known: constraints ?? null, done: false });
        }
      }
      setWorkAside();
      this.items = items;
      this.warnings = [...warnings];
      this.first = 0;
      this.save();
      await this.show();
      this.results.append(this.offer(BEFORE) ?? "");
      this.results.querySelector("#result").focus();
    } catch (error) {
      this.results.replaceChildren(make("p", { class: "error", role: "alert", id: "result", tabindex: -1 }, error.message));
    } finally {
      this.results.removeAttribute("aria-busy");
    }
  }

  // Return a sentence that is drawn, with what the editor needs.
  async draw(item, known, include = ["alternatives", "html", "conllu"]) {
    const show = ["lemma", "upos"].filter((name) => this.shown[name]).join() || "none";
    const width = Math.max(Math.min(this.results.clientWidth, 1400), 240);
    const isFree = !item.known && [known?.heads, known?.relations, known?.forbidden, known?.brackets]
      .every((each) => Object.keys(each ?? {}).length === 0);
    const body = { conllu: item.source, constraints: [isFree ? null : known], include, width, show, first: this.items.indexOf(item) + 1 };
    const { sentences: [sentence] } = await this.post(body);
    return sentence;
  }

  // ---- the sentences

  ordered() {
    const places = this.items.map((item, place) => place);
    if (this.order === "doubt") places.sort((a, b) => (this.items[a].confidence ?? 0) - (this.items[b].confidence ?? 0));
    return places.map((place) => this.items[place]);
  }

  async show() {
    const items = this.ordered().slice(this.first, this.first + AT_ONCE);
    const sentences = await Promise.all(items.map((item) => this.draw(item, item.known)));
    const hosts = items.map(() => make("article"));
    this.count = make("p", { role: "status", id: "result", tabindex: -1 });
    const warnings = this.warnings.map((text) => make("p", { class: "error" }, `Warning: ${text}.`));
    this.results.replaceChildren(this.count, ...warnings, this.toolbar(), ...hosts, this.pager());
    items.forEach((item, i) => this.edit(item, sentences[i], hosts[i]));
    this.tally();
  }

  tally() {
    const n = this.items.length, done = this.items.filter((item) => item.done).length;
    this.say(`${n} ${n === 1 ? "sentence" : "sentences"}, ${done} accepted`);
  }

  say(text) {
    if (!this.count?.isConnected) {
      this.count = make("p", { role: "status", id: "result", tabindex: -1 });
      this.results.prepend(this.count);
    }
    this.count.textContent = text;
  }

  edit(item, sentence, host) {
    host.classList.toggle("is-done", item.done);
    const name = `sentence-${this.items.indexOf(item) + 1}`;
    const fetchAs = async (format) => (await this.draw(item, item.known, [format]))[format];
    item.editor = new Editor(host, sentence, {
      ask: (known) => this.draw(item, known),
      relations: this.relations,
      tools: [downloadMenu(name, fetchAs, (text) => item.editor.say(text))],
      changed: (tree, known) => this.keep(item, tree, known, false),
      accepted: (tree, known) => {
        this.keep(item, tree, known, true);
        this.next(item);
      },
    });
  }

  keep(item, { conllu }, known, done) {
    Object.assign(item, { conllu, known, done }); // not the confidence: the order must not change under the user
    item.editor.host.classList.toggle("is-done", done);
    this.tally();
    this.save();
  }

  // Go on with the next sentence that is not accepted.
  async next(item) {
    item.editor.say("Accepted.");
    const order = this.ordered(), at = order.indexOf(item);
    const next = [...order.slice(at + 1), ...order.slice(0, at)].find((other) => !other.done);
    if (!next) {
      this.say("All sentences are accepted. Download the CoNLL-U to keep them.");
      return;
    }
    if (!next.editor?.host.isConnected) {
      this.first = AT_ONCE * Math.floor(order.indexOf(next) / AT_ONCE);
      await this.show();
    }
    next.editor.host.scrollIntoView({ block: "start" });
    next.editor.focus();
  }

  toolbar() {
    const order = make("select", { "aria-label": "Order of the sentences" });
    for (const [value, text] of [["text", "As in the text"], ["doubt", "Least certain first"]]) {
      order.append(make("option", { value, selected: value === this.order }, text));
    }
    order.addEventListener("change", () => {
      this.order = order.value;
      this.first = 0;
      this.show().then(() => this.results.querySelector(".toolbar select").focus());
    });
    const boxes = [["upos", "Tags"], ["lemma", "Lemmas"]].map(([name, text]) => {
      const box = make("input", { type: "checkbox", checked: this.shown[name], autocomplete: "off" });
      box.addEventListener("change", () => {
        this.shown[name] = box.checked;
        for (const { editor } of this.items) if (editor?.host.isConnected) editor.redraw();
      });
      return make("label", { class: "switch" }, box, ` ${text}`);
    });
    const switches = make("div", { class: "controls" }, ...boxes);
    addSwitches(switches, ["punctuation", "numbers"]);
    const all = button("Download CoNLL-U", () => download("corrected.conllu", this.items.map((item) => item.conllu).join(""), "text/plain"));
    return make("div", { class: "toolbar controls" }, this.items.length > 1 ? order : null, switches, all);
  }

  pager() {
    if (this.items.length <= AT_ONCE) return make("div", {});
    const last = Math.min(this.first + AT_ONCE, this.items.length);
    const go = (steps) => {
      this.first += steps * AT_ONCE;
      this.show().then(() => this.count.focus());
    };
    const back = button("Previous sentences", () => go(-1)), forward = button("Next sentences", () => go(1));
    back.disabled = this.first === 0;
    forward.disabled = last === this.items.length;
    const text = `${this.first + 1} to ${last} of ${this.items.length}`;
    return make("nav", { class: "controls", "aria-label": "Pages of sentences" }, back, text, forward);
  }

  // ---- work that stays in the browser

  save() {
    const { text, kind } = this.form.elements;
    const items = this.items.map(({ source, conllu, confidence, known, done }) => ({ source, conllu, confidence, known, done }));
    const isSaved = saveWork({ items, text: text.value.slice(0, 100_000), kind: kind.value, model: this.model });
    if (!isSaved) this.say("This is too much to be saved in the browser: download the CoNLL-U before you leave.");
  }

  // Offer to continue with what was saved; return whether there is something.
  offerSaved() {
    const offers = [PLACE, BEFORE].map((place) => this.offer(place)).filter((offer) => offer);
    this.results.append(...offers);
    return offers.length > 0;
  }

  // Return an offer to continue with the work at a place, if there is some.
  offer(place) {
    const work = savedWork(place);
    if (!work?.items.length) return null;
    const n = work.items.length, done = work.items.filter((item) => item.done).length;
    const size = `${n} ${n === 1 ? "sentence" : "sentences"}${done ? `, ${done} accepted` : ""}`;
    const offer = make("p", { class: "controls saved" });
    offer.append(
      button(place === PLACE ? `Continue with ${size}` : `Go back to ${size}`, () => this.resume(work, place, offer)),
      button("Forget them", () => {
        forgetWork(place);
        offer.remove();
      }),
    );
    return offer;
  }

  async resume(work, place, offer) {
    if (place === BEFORE) {
      forgetWork(BEFORE);
      setWorkAside();
    }
    Object.assign(this, { items: work.items, warnings: [], first: 0 });
    this.fill(work.text, work.kind);
    this.examples.hidden = true;
    offer.remove();
    this.save();
    await this.show().catch((error) => this.say(error.message));
  }
}

for (const main of document.querySelectorAll("[data-workbench]")) new Workbench(main);
