// The editor of one sentence. The user fixes arcs, and the parser completes the rest of the tree under these constraints.
//
// To embed it, put an element into the page, and give the editor that and a sentence as POST /parse returns it with "include": ["alternatives", "html"]
// (and "conllu" if you want that), and a function that parses the same words again:
//
//   const editor = new Editor(element, sentence, {
//     ask,        // (constraints) => a promise of the new sentence; it may be rejected with an error that has a
//                 // `message` and, for constraints that cannot hold together, their `conflict` as the server names it
//     changed,    // (sentence, constraints) => after each correction, also after undo and redo
//     accepted,   // (sentence, constraints) => the user accepts the tree; without it there is no such button
//     relations,  // the relations to choose from
//     tools,      // elements to put beside the buttons (optional)
//   });
//
// `editor.sentence` and `editor.known` are its tree and its constraints, `editor.undo()`, `editor.redo()`,
// `editor.accept()` and `editor.nextDoubtful()` do what the buttons do, `editor.redraw()` asks for the same tree again,
// and `editor.focus()` puts the keyboard on its first word. It needs steps.js, constraints.js, picture.js and panel.js
// before it, page.css of render and editor.css. See workbench.js for a page with many of them.

const DOUBT = 0.9; // arcs with less confidence are doubtful
const KEYS = [
  ["← →", "go from word to word"], ["Enter", "choose the word, then its head"], ["Esc", "choose nothing"],
  ["f", "fix the arc as it is"], ["x", "forbid the arc"], ["0", "make the word the root"], ["r", "choose the relation"],
  ["b", "begin a bracket, then Enter on its last word"], ["Backspace", "release the word"], ["n", "next doubtful word"],
  ["a", "accept the tree"], ["u, Ctrl+Z", "undo"], ["y, Ctrl+Y", "redo"],
];

class Editor {
  constructor(host, sentence, { ask, changed = () => {}, accepted = null, relations = [], tools = [] }) {
    Object.assign(this, { host, ask, changed, accepted, relations });
    this.history = new History(sentence.constraints);
    this.known = this.history.now; // the constraints that were asked for last
    this.chosen = null; // the word that waits for its head
    this.bracketStart = null;
    this.nAsked = 0;
    this.undoButton = button("Undo", () => this.undo());
    this.redoButton = button("Redo", () => this.redo());
    this.status = make("p", { class: "status", role: "status" });
    this.place = make("div", { class: "place" });
    this.problem = make("div", { class: "error", role: "alert", hidden: true });
    const keys = make("dl", { class: "keys" });
    for (const [key, what] of KEYS) keys.append(make("div", {}, make("dt", {}, key), make("dd", {}, what)));
    this.bar = make("div", { class: "controls bar" },
      accepted ? button("Accept", () => this.accept(), { class: "accept" }) : null,
      this.undoButton, this.redoButton, button("Next doubtful word", () => this.nextDoubtful()), ...tools);
    this.help = make("details", { class: "help" }, make("summary", {}, "Keys"), keys);
    host.classList.add("editor");
    host.replaceChildren(this.place);
    host.addEventListener("keydown", (event) => this.shortcut(event));
    this.draw(sentence);
    this.hint();
  }

  // ---- what there is

  word(m) {
    return this.sentence.words[m - 1];
  }

  name(m) {
    return `“\u2068${this.word(Number(m)).form}\u2069”`;
  }

  describe(m) {
    const { form, head, relation, arc_confidence } = this.word(m);
    const arc = head === 0 ? "root" : `${relation} of ${this.word(head).form}`;
    const fixed = m in this.known.heads ? "fixed" : "";
    return [`${form} ${m}`, arc, perCent(arc_confidence), fixed].filter(Boolean).join(", ");
  }

  // ---- drawing

  draw(sentence) {
    const old = this.section, hadFocus = this.host.contains(document.activeElement), focused = this.focused;
    const unfolded = new Set([...(old?.querySelectorAll("details[open]") ?? [])].map((details) => details.className));
    this.sentence = sentence;
    this.panel?.remove();
    this.panel = null;
    const parsed = new DOMParser().parseFromString(sentence.html, "text/html");
    this.section = document.adoptNode(parsed.querySelector("section"));
    this.place.replaceChildren(this.section);
    this.section.querySelector(".picture").after(this.status, this.problem, this.bar);
    this.section.append(this.help);
    for (const details of this.section.querySelectorAll(":scope > details")) details.open = unfolded.has(details.className);
    const frame = this.section.querySelector(".picture");
    frame.removeAttribute("tabindex");
    this.picture = new Picture(frame.querySelector("svg"), (m) => this.describe(m), {
      picked: (m, isArc) => this.pick(m, isArc),
      dragged: (m, head) => this.attach(m, head),
      pressed: (key, m) => this.press(key, m),
    });
    if (this.section.dataset.steps) stepThrough(this.section);
    if (hadFocus && focused) this.picture.focus(focused);
    this.undoButton.disabled = !this.history.peek(-1);
    this.redoButton.disabled = !this.history.peek(1);
  }

  say(text) {
    this.status.textContent = text;
  }

  hint() {
    this.say("Click a word, then its head, or drag it to its head.");
  }

  choose(m) {
    this.chosen = m;
    this.bracketStart = null;
    this.picture.mark(m, false);
    this.panel?.remove();
    this.panel = null;
    if (m === null) {
      this.hint();
      return;
    }
    this.focused = m;
    this.panel = drawPanel(this, m);
    this.status.after(this.panel);
    this.say(`${this.name(m)} is chosen: click its head, or take an alternative.`);
  }

  // ---- what the user does

  pick(m, isArc) {
    this.problem.hidden = true;
    if (this.bracketStart !== null) {
      const first = this.bracketStart;
      this.focused = m;
      this.choose(null);
      this.apply(addBracket(this.known, first, m), `The words ${Math.min(first, m)} to ${Math.max(first, m)} are a bracket.`);
    } else if (this.chosen === null || isArc) {
      this.choose(m);
    } else if (this.chosen === m) {
      this.choose(null);
    } else {
      this.attach(this.chosen, m);
    }
  }

  attach(m, head) {
    this.focused = m;
    const what = head === 0 ? `${this.name(m)} is the root.` : `The head of ${this.name(m)} is ${this.name(head)}.`;
    return this.apply(fixHead(this.known, m, head), what);
  }

  take(m, { head, relation }) {
    this.focused = m;
    const known = fixRelation(fixHead(this.known, m, head), m, relation);
    return this.apply(known, `${this.name(m)} is ${relation}${head ? ` of ${this.name(head)}` : ""}.`);
  }

  fix(m) {
    return this.take(m, this.word(m));
  }

  forbid(m) {
    this.focused = m;
    const { head } = this.word(m);
    const known = forbidArc(this.known, m, head);
    return this.apply(known, `The head of ${this.name(m)} is not ${head ? this.name(head) : "the root"}.`);
  }

  release(m) {
    this.focused = m;
    return this.apply(release(this.known, m), `${this.name(m)} is free.`);
  }

  startBracket(m) {
    this.choose(null);
    this.bracketStart = this.focused = m;
    this.picture.mark(m, true);
    this.picture.focus(m);
    this.say(`The bracket begins at ${this.name(m)}: click its last word.`);
  }

  // Choose the first doubtful word after the one that was chosen last, in the order in which the parser decided.
  nextDoubtful() {
    const isDoubtful = ({ id, arc_confidence }) => arc_confidence !== null && arc_confidence < DOUBT && !(id in this.known.heads);
    const order = this.sentence.words.filter(isDoubtful).sort((a, b) => (a.step ?? Infinity) - (b.step ?? Infinity));
    const after = order.findIndex(({ id }) => id === this.chosen);
    const next = order[(after + 1) % Math.max(order.length, 1)];
    if (!next) {
      this.choose(null);
      this.focus(); // so that the keys work
      this.say("No word is doubtful.");
      return;
    }
    this.choose(next.id);
    this.picture.focus(next.id);
  }

  press(key, m) {
    const acts = {
      f: () => this.fix(m), x: () => this.forbid(m), 0: () => this.attach(m, 0), b: () => this.startBracket(m),
      n: () => this.nextDoubtful(), a: () => this.accept(), u: () => this.undo(), y: () => this.redo(),
      Backspace: () => this.release(m), Delete: () => this.release(m), Escape: () => this.choose(null),
      r: () => {
        this.choose(m);
        this.panel.querySelector(".relation").focus();
      },
    };
    if (!(key in acts)) return false;
    acts[key]();
    return true;
  }

  shortcut(event) {
    const key = event.key.toLowerCase();
    if (key === "escape" && this.panel) {
      this.choose(null);
      this.focus();
    } else if ((event.ctrlKey || event.metaKey) && key === "z" && !event.shiftKey) {
      this.undo();
    } else if ((event.ctrlKey || event.metaKey) && (key === "y" || (key === "z" && event.shiftKey))) {
      this.redo();
    } else {
      return;
    }
    event.preventDefault();
  }

  focus() {
    this.picture.focus(this.focused ?? 1);
  }

  accept() {
    if (this.accepted) this.accepted(this.sentence, this.history.now);
  }

  undo() {
    return this.history.peek(-1) && this.apply(this.history.peek(-1), "Undone.", -1);
  }

  redo() {
    return this.history.peek(1) && this.apply(this.history.peek(1), "Done again.", 1);
  }

  redraw() {
    return this.apply(this.history.now, null, 0);
  }

  // ---- asking the parser

  // Ask for the tree under some constraints. `move` is the way in the history, unless they are new.
  async apply(known, what, move = null) {
    const number = (this.nAsked += 1);
    this.known = known;
    this.problem.hidden = true;
    this.host.setAttribute("aria-busy", true);
    try {
      const sentence = await this.ask(known);
      if (number !== this.nAsked) return; // the user went on meanwhile
      const others = sentence.words.filter((word, i) => word.head !== this.sentence.words[i].head && word.id !== this.focused);
      if (move === null) this.history.push(known);
      else this.history.at += move;
      this.draw(sentence);
      this.choose(null);
      const more = others.length === 0 ? "" : others.length === 1 ? " One other arc changed." : ` ${others.length} other arcs changed.`;
      if (what !== null) {
        this.say(what + more);
        this.changed(sentence, this.history.now);
      }
    } catch (error) {
      if (number !== this.nAsked) return;
      this.known = this.history.now;
      this.complain(error, known);
    } finally {
      if (number === this.nAsked) this.host.removeAttribute("aria-busy");
    }
  }

  // Show why constraints cannot hold, with a button to drop each one of the conflict.
  complain(error, known) {
    const parts = [make("p", {}, error.message.replace(/^(conllu:[0-9]+|sentence [0-9]+): /, ""))];
    if (error.conflict) {
      const items = eachConstraint({ ...FREE, ...error.conflict }, known, (m) => this.name(m));
      parts.push(make("p", {}, "Drop one of them, or leave all as it was:"));
      const drop = (item) => button(`Drop: ${item.text}`, () => this.apply(item.rest, "One constraint was dropped."));
      parts.push(make("div", { class: "controls" }, ...items.map(drop),
        button("Leave it", () => { this.problem.hidden = true; this.choose(null); this.focus(); })));
    }
    this.problem.replaceChildren(...parts);
    this.problem.hidden = false;
    this.choose(null);
    this.say("This was not done.");
  }
}
